"""One server: its tables, the statements that make views whole or not at all, and what of them stands there.

Whether a view is what the policy says is never taken from a note that was left beside it: the wanted view is made once
more where nobody can read it, both are compared as the server tells them, and the second one goes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from sqlalchemy import Connection, create_engine
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from shoal.crypto import Key
from shoal.errors import SourceError, TargetError
from shoal.live.served_tables import ServedTable, ServedView
from shoal.live.sql.words import SqlWords
from shoal.live.view_compiler import Pads

if TYPE_CHECKING:
    from sqlalchemy import URL

KEYS: Final = "shoal_keys"
"""The schema that no role can use."""
PREFIX: Final = "shoal_"
_BLOCK: Final = 64
"""Bytes of a block of SHA-256."""


@dataclass(frozen=True)
class LiveDesign:
    """All that is to stand on the server."""

    name: str
    views: tuple[ServedView, ...]
    grantees: Mapping[str, str]
    """The purpose, by role."""
    keys: Mapping[str, Key]
    """By domain."""

    @property
    def mark(self) -> str:
        """By which what was made for a live file is known again."""
        return f"Shoal live: {self.name}"


@dataclass(frozen=True)
class Difference:
    """Between what is to stand on the server and what does."""

    what: str
    """missing, changed or extra."""
    role: str
    table: str = ""

    def __str__(self) -> str:
        return f"{self.role}.{self.table}: {self.what}" if self.table else f"{self.role}: {self.what}"


def pads_of(key: Key) -> tuple[bytes, bytes]:
    """The two blocks that HMAC begins its digests with (RFC 2104)."""
    block = key.material.ljust(_BLOCK, b"\x00")
    return bytes(byte ^ 0x36 for byte in block), bytes(byte ^ 0x5C for byte in block)


def schema_of(role: str) -> str:
    """Where a role's views are."""
    return PREFIX + role.partition("@")[0].lower()


class LiveServer(ABC):
    words: ClassVar[SqlWords]
    driver: ClassVar[str]

    def __init__(self, url: URL, label: str, db_schema: str | None) -> None:
        self.url = url.set(drivername=self.driver)
        self.label = label
        self.db_schema = db_schema

    @abstractmethod
    def pads(self, domain: str) -> Pads:
        """Where a view finds the key of a domain."""

    @abstractmethod
    def tables(self, connection: Connection) -> dict[str, ServedTable]: ...

    @abstractmethod
    def view(self, view: ServedView, place: str) -> str:
        """The statement that makes it; ``place`` is its quoted name."""

    @abstractmethod
    def statements(self, connection: Connection, design: LiveDesign, extra: Sequence[Difference]) -> Iterator[str]:
        """What is to be done, in order; all but the keys, which are never part of a text."""

    @abstractmethod
    def removal(self, connection: Connection, design: LiveDesign) -> Iterator[str]:
        """The inverse, for what stands there."""

    @abstractmethod
    def undoing(self, design: LiveDesign) -> Iterator[str]:
        """The inverse of ``statements``, for what will stand there then."""

    def script(self, title: str, statements: Iterable[str]) -> str:
        """A text that a person can read and give to the server's own client."""
        return title + "".join(f"{statement};\n" for statement in statements)

    @abstractmethod
    def apply(self, connection: Connection, design: LiveDesign, extra: Sequence[Difference]) -> None: ...

    @abstractmethod
    def remove(self, connection: Connection, design: LiveDesign) -> bool:
        """Whether there was anything."""

    @abstractmethod
    def differences(self, connection: Connection, design: LiveDesign) -> list[Difference]: ...

    @abstractmethod
    def ways_around(self, connection: Connection, design: LiveDesign, tables: Sequence[str]) -> list[str]:
        """What lets a role read more than its views, in words."""

    def explain(self, error: BaseException) -> str:
        """Never what the server says: that quotes names and values."""
        code = getattr(error, "sqlstate", None) or (error.args[0] if error.args else "")
        return _STATES.get(str(code)) or f"the server answers with an error ({str(code)[:5] or 'no connection'})"

    @contextmanager
    def connected(self, *, write: bool = False) -> Iterator[Connection]:
        """In a transaction, which is committed where something is to be written and nothing went wrong."""
        try:
            with create_engine(self.url, poolclass=NullPool, hide_parameters=True).connect() as connection:
                yield connection
                if write:
                    connection.commit()
                else:
                    connection.rollback()
        except SQLAlchemyError as error:
            cause = error.orig if isinstance(error, DBAPIError) and error.orig else error
            failure = TargetError if write else SourceError
            raise failure(f"{self.label}: {self.explain(cause)}") from None


def key_differences(design: LiveDesign, told: Iterable[tuple[object, ...]]) -> Iterator[Difference]:
    """Between the keys of the design and those on the server."""
    stored = {str(domain): tuple(pads) for domain, *pads in told}
    for domain, key in design.keys.items():
        if domain not in stored:
            yield Difference("missing", "keys", domain)
        elif stored[domain] != pads_of(key):
            yield Difference("changed", "keys", domain)
    yield from (Difference("extra", "keys", domain) for domain in stored.keys() - design.keys.keys())


def rows(connection: Connection, statement: str, *parameters: object) -> list[tuple[object, ...]]:
    """Names and values go apart from the statement."""
    return [tuple(row) for row in connection.exec_driver_sql(statement, parameters or None).fetchall()]


def run(connection: Connection, statement: str) -> None:
    """A statement without parameters; a driver would take its percent signs for some."""
    connection.exec_driver_sql(statement.replace("%", "%%"), ())


_STATES: Final = {
    "28P01": "the server refuses the user or the password",
    "28000": "the server refuses this user",
    "3D000": "there is no such database",
    "42501": "this user has no right to do that; the owner of the tables applies the views",
    "2BP01": "something else in the database depends on a view that has to go",
    "42704": "there is no such role",
    "1044": "this user has no right to do that; apply takes the rights to create and to grant",
    "1045": "the server refuses the user or the password",
    "1049": "there is no such database",
    "1142": "this user has no right to do that",
    "1227": "this user has no right to do that",
    "1410": "there is no such role, or this user may not grant",
    "2003": "nothing answers at that host and port",
}
