"""What is due as a calendar that other programs read (iCalendar, RFC 5545)."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Iterable
from typing import Final

from shoal.govern.registry import DueRow

_LINE: Final = 75
"""Bytes of a line; longer ones are folded."""


def calendar_text(rows: Iterable[DueRow], at: datetime.datetime) -> str:
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Shoal//due//EN"]
    for row in rows:
        told = f"{row.kind} {row.identifier}: {row.what}"
        name = hashlib.sha256(f"{told} {row.on}".encode()).hexdigest()[:32]
        lines += [
            "BEGIN:VEVENT",
            f"UID:{name}@shoal",
            f"DTSTAMP:{at:%Y%m%dT%H%M%SZ}",
            f"DTSTART;VALUE=DATE:{row.on:%Y%m%d}",
            f"SUMMARY:{_escaped(told)}",
            "END:VEVENT",
        ]
    return "".join(f"{_folded(line)}\r\n" for line in [*lines, "END:VCALENDAR"])


def _escaped(text: str) -> str:
    r"""
    >>> print(_escaped("step 3, by noon; at once"))
    step 3\, by noon\; at once
    >>> print(_escaped("in two\r\nlines\a"))
    in two\nlines
    """
    text = "\n".join("".join(char for char in line if char.isprintable()) for line in text.splitlines())
    for sign in ("\\", ";", ","):
        text = text.replace(sign, f"\\{sign}")
    return text.replace("\n", "\\n")


def _folded(line: str) -> str:
    """
    >>> [len(part) for part in _folded("x" * 100).split("\\r\\n")]
    [75, 26]
    """
    parts: list[str] = []
    rest = line.encode()
    while rest:
        end = _LINE if not parts else _LINE - 1
        while end < len(rest) and rest[end] & 0xC0 == 0x80:
            end -= 1
        parts.append(rest[:end].decode())
        rest = rest[end:]
    return "\r\n ".join(parts)
