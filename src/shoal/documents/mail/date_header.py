"""The date of a mail (RFC 5322, section 3.3), cleaned so that it stays one: programs sort mails by it.

A date that was moved is written anew, with the day of the week that it falls on. Of one that was taken out the year
stays, as its first day: a label there would be no date at all.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime

_NO_PART_OF_A_DATE = re.compile(r"[^\w\s,:+()-]")
_WEEKDAY = re.compile(r"^\s*[A-Za-z]{3,9}\s*,")


def date_header(original: str, cleaned: str) -> str:
    """What stands in the header, where ``cleaned`` is what a scrubber made of it.

    >>> date_header("Tue, 17 Nov 2026 10:15:00 +0530", "Tue, [DATE] 10:15:00 +0530")
    'Thu, 01 Jan 2026 00:00:00 +0000'
    >>> date_header("Tue, 17 Nov 2026 10:15:00 +0530", "Tue, 03 Dec 2026° 10:15:00 +0530")
    'Thu, 03 Dec 2026 10:15:00 +0530'
    """
    if cleaned == original:
        return original
    moved = _read(_WEEKDAY.sub("", _NO_PART_OF_A_DATE.sub("", cleaned))) if "[" not in cleaned else None
    if moved is not None:
        return format_datetime(moved)
    known = _read(original)
    return cleaned if known is None else format_datetime(datetime(known.year, 1, 1, tzinfo=UTC))


def _read(text: str) -> datetime | None:
    try:
        return parsedate_to_datetime(text)
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
