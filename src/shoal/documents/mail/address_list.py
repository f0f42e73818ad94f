"""The people in a header of a mail (RFC 5322, section 3.4), read the same way under every version of Python.

The standard library's reader became stricter in security releases, so it differs from machine to machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_ENTRY: Final = re.compile(
    r"""\s*(?:(?P<at>[^\s"<>(),;:]+@[^\s"<>(),;:]+)            # asha@clinic.in
        | (?:"(?P<quoted>(?:[^"\\]|\\.)*)" | (?P<plain>[^"<>()@]*?))   # "Rao, A" or Asha Rao
          \s*(?:<(?P<inside>[^<>]*)>)?)                        # … <asha@clinic.in>
        \s*(?:\((?P<comment>[^()]*)\))?\s*""",
    re.VERBOSE,
)
_GROUP: Final = re.compile(r'\s*[^"<>(),;:@]*:(?P<members>.*);\s*', re.DOTALL)
_PIECE: Final = re.compile(r'(?:"(?:[^"\\]|\\.)*"|<[^<>]*>|\([^()]*\)|[^,])+')


class NamedAddress(NamedTuple):
    """One of them; what can't be told apart is a name as a whole."""

    name: str
    address: str


def address_list(value: str) -> Iterator[NamedAddress]:
    """
    >>> list(address_list('"Rao, A" <a@clinic.in>, b@clinic.in (Bela)'))
    [NamedAddress(name='Rao, A', address='a@clinic.in'), NamedAddress(name='Bela', address='b@clinic.in')]
    """
    group = _GROUP.fullmatch(value)
    for piece in _PIECE.findall(group["members"] if group else value):
        entry = _ENTRY.fullmatch(piece)
        if entry is None:
            yield NamedAddress(piece.strip(), "")
            continue
        name = re.sub(r"\\(.)", r"\1", entry["quoted"]) if entry["quoted"] else entry["plain"] or ""
        names = (part.strip() for part in (name, entry["comment"] or ""))
        found = NamedAddress(" ".join(filter(None, names)), (entry["at"] or entry["inside"] or "").strip())
        if any(found):
            yield found
