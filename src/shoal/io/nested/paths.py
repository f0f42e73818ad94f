"""Paths of values in documents: ``visits[].doctor.name``; ``address[0].city`` where an array has its own places.

An array whose path ends in ``[]`` is a table of its own, a row for each element. One whose elements are of several
kinds, ``entry[Patient]``, is a table for each kind. One that is written with numbers is a part of its parent's row, a
column for each place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

ROOT: Final = ""
"""The path of the table that has one row for each document."""
_KEY: Final = r"[^.\[\]]+"
_PATH: Final = re.compile(rf"{_KEY}(?:\[\w*\])*(?:\.{_KEY}(?:\[\w*\])*)*")
_ELEMENTS: Final = re.compile(r"\[(?!\d+\])\w*\]")
_PLACE: Final = re.compile(r"\[\d+\]")
_KIND: Final = re.compile(r"[^\W\d]\w{0,62}")
_NO_NAME: Final = re.compile(r"\W+")
_LONGEST_NAME: Final = 63


def is_path(text: str) -> bool:
    """
    >>> [is_path(one) for one in ("name", "visits[].doctor.name", "address[0].line[]", "visits.[]", "a..b")]
    [True, True, True, False, False]
    """
    return _PATH.fullmatch(text) is not None


def is_key(text: str) -> bool:
    """Whether a key of an object can stand in a path."""
    return re.fullmatch(_KEY, text) is not None and not text.startswith("#")


def is_kind(text: object) -> bool:
    return isinstance(text, str) and _KIND.fullmatch(text) is not None


def table_of(path: str) -> str:
    """The path of the array in whose table a value stands.

    >>> [table_of(one) for one in ("name", "visits[].doctor.name", "tags[]", "entry[Patient].name[0].text")]
    ['', 'visits[]', 'tags[]', 'entry[Patient]']
    """
    return tables_above(path)[-1]


def parent_of(array: str) -> str:
    """
    >>> [parent_of(one) for one in ("visits[]", "visits[].drugs[]", "rows[][]")]
    ['', 'visits[]', 'rows[]']
    """
    return table_of(array[: array.rindex("[")])


def tables_above(path: str) -> tuple[str, ...]:
    """The tables on the way to a path, from that of the documents on.

    >>> tables_above("visits[].drugs[].code")
    ('', 'visits[]', 'visits[].drugs[]')
    """
    return (ROOT, *_tables(path))


def prefixes_of(path: str) -> tuple[str, ...]:
    """The objects and arrays that a value stands in.

    >>> prefixes_of("visits[].doctor.name")
    ('visits', 'visits[]', 'visits[].doctor')
    """
    ends = [found.start() for found in re.finditer(r"[.\[]", path)]
    return tuple(dict.fromkeys(path[:end] for end in ends if end))


def placed_arrays(paths: Iterable[str]) -> frozenset[str]:
    """The arrays that are written with the places of their elements.

    >>> sorted(placed_arrays(["address[0].line[1]", "visits[].date"]))
    ['address', 'address[0].line']
    """
    return frozenset(path[: found.start()] for path in paths for found in _PLACE.finditer(path))


def array_of(table: str) -> str:
    """The array that a table is of, whatever kind of its elements.

    >>> array_of("visits[]"), array_of("entry[Patient]")
    ('visits', 'entry')
    """
    return table[: table.rindex("[")]


def steps_below(table: str, path: str) -> tuple[str | int, ...]:
    """Keys and places from a row of a table down to a value in it.

    >>> steps_below("visits[]", "visits[].doctor.name"), steps_below("", "address[0].city"), steps_below("a[]", "a[]")
    (('doctor', 'name'), ('address', 0, 'city'), ())
    """
    rest = path.removeprefix(table)
    return tuple(int(one[1:-1]) if one.startswith("[") else one for one in re.findall(rf"{_KEY}|\[\d+\]", rest))


def table_name(table: str) -> str:
    """
    >>> [table_name(one) for one in ("", "visits[]", "visits[].drugs[]", "entry[Patient]")]
    ['documents', 'visits', 'visits-drugs', 'entry-Patient']
    """
    return _NO_NAME.sub("-", table).strip("-")[:_LONGEST_NAME] or "documents"


def key_of(table: str) -> str:
    """The column that numbers the rows of a table.

    >>> key_of(""), key_of("visits[]"), key_of("entry[Patient]")
    ('#document', '#visits', '#entry')
    """
    return f"#{array_of(table) if table else 'document'}"


def _tables(path: str) -> tuple[str, ...]:
    return tuple(path[: found.end()] for found in _ELEMENTS.finditer(path))
