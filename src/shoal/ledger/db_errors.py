"""What a database says when something goes wrong, in our words. Its own may hold values, so they are only looked at."""

from __future__ import annotations

from typing import Final

from shoal.errors import AccessError, IntegrityError, ShoalError, SourceError, TargetError

_KNOWN: Final[tuple[tuple[tuple[str, ...], type[ShoalError], str], ...]] = (
    (("authentication", "no password", "role "), AccessError, "the server doesn't let this user in"),
    (("is full", "no space", "too large"), TargetError, "there is no room left on the disk"),
    (
        ("connection", "could not translate", "resolve host", "timeout", "starting up"),
        SourceError,
        "the server can't be reached",
    ),
    (
        ("readonly", "read-only", "permission", "unable to open"),
        SourceError,
        "there is no right to read or write the {kind}",
    ),
    (
        ("malformed", "not a database", "corrupt", "no such table", "no such column", "does not exist"),
        IntegrityError,
        "is damaged, or is not a {kind}",
    ),
    (
        ("constraint", "decode", "too big", "i/o error", "invalid page", "checksum", "datatype"),
        IntegrityError,
        "is damaged: its entries contradict each other or can't be read",
    ),
    (("locked",), SourceError, "another program keeps the {kind} locked"),
)
"""Signs in what a database says, the first that fits; what it means."""


def database_error(label: str, said: str, kind: str) -> ShoalError:
    """The error for what was said (in small letters) by the database that is called ``label`` and holds a ``kind``."""
    for signs, error, meaning in _KNOWN:
        if any(sign in said for sign in signs):
            return error(f"{label}: {meaning.format(kind=kind)}")
    return SourceError(f"{label}: the database answers with an error")
