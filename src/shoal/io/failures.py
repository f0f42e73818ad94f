"""Errors of the operating system while something is written, said in one line.

Polars reports them with the number in the text only.
"""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from shoal.errors import DataError, TargetError, is_panic

_NUMBER: Final = re.compile(r"\(os error (\d+)\)")
_NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_NO_RIGHT: Final = frozenset({errno.EACCES, errno.EPERM})
_SAID: Final = {
    **dict.fromkeys(_NO_ROOM, "there is no room left on the disk"),
    **dict.fromkeys(_NO_RIGHT, "there is no right to write there"),
    errno.EROFS: "the disk is read-only",
    **dict.fromkeys((errno.ENOTDIR, errno.EEXIST), "a part of the path is a file, not a folder"),
    errno.ENAMETOOLONG: "the name is too long",
    errno.ELOOP: "the path goes round in circles of links",
}


def reported_errors() -> tuple[type[Exception], ...]:
    """What may be the operating system's; errors of Polars only where it is loaded, since else it raised none."""
    polars = sys.modules.get("polars.exceptions")
    return (OSError,) if polars is None else (OSError, polars.PolarsError)


def number_of(error: BaseException) -> int | None:
    """The operating system's number of an error, where it has one."""
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno
    found = _NUMBER.search(str(error)) if isinstance(error, reported_errors()) else None
    return int(found[1]) if found else None


def no_room(error: BaseException) -> bool:
    return number_of(error) in _NO_ROOM


@contextmanager
def writing(label: str) -> Iterator[None]:
    """Errors of the operating system become a TargetError; others pass as they are."""
    try:
        yield
    except reported_errors() as error:
        number = number_of(error)
        if number is None:
            raise
        said = _SAID.get(number, f"can't be written ({os.strerror(number)})")
        raise TargetError(f"{label}: {said}") from None


@contextmanager
def no_panic(label: str) -> Iterator[None]:
    """A library that breaks down on a table becomes a DataError; what it says may hold values, and is not shown."""
    try:
        yield
    except BaseException as error:
        if not is_panic(error):
            raise
        raise broke_down(label) from None


def broke_down(label: str) -> DataError:
    return DataError(f"{label}: the library that reads tables broke down on it; the file is probably damaged")
