"""Who may do what on MariaDB, as its own tables of rights say."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection

from shoal.live.servers.base import KEYS, rows

_EVERYBODY: Final = "PUBLIC"


@dataclass(frozen=True, order=True)
class Grantee:
    """A user of a host, or a role, which has no host."""

    user: str
    host: str

    @classmethod
    def of(cls, role: str) -> Grantee:
        user, _, host = role.partition("@")
        return cls(user, host)

    @property
    def sql(self) -> str:
        """No role's name has a sign that would have to be escaped."""
        return f"'{self.user}'@'{self.host}'" if self.host else f"'{self.user}'"


def grants_on(connection: Connection, schema: str) -> list[Grantee]:
    """Who has rights on a database, written as a pattern or as it is."""
    found = rows(connection, "SELECT User, Host, Db FROM mysql.db")
    return sorted({Grantee(str(u), str(h)) for u, h, db in found if str(db) == schema.replace("_", r"\_")})


@dataclass(frozen=True)
class RightsOfRole:
    """Those of a grantee, of the roles that it may take, and of everybody."""

    connection: Connection
    grantee: Grantee
    base: str
    own: Sequence[str]

    def beyond_views(self) -> Iterator[str]:
        """In words; an empty text where there is no such grantee."""
        who = self._all()
        known = rows(self.connection, "SELECT User, Host, JSON_VALUE(Priv, '$.access') FROM mysql.global_priv")
        rights = {Grantee(str(user), str(host)): int(str(access or 0)) for user, host, access in known}
        if self.grantee not in rights:
            yield ""
            return
        if any(rights.get(one, 0) for one in who):
            yield "has rights over the whole server"
        databases = self._databases(who)
        closed = {self.base, "mysql", KEYS, "sys"}
        for pattern in databases:
            for name in closed:
                if _matches(pattern, name):
                    yield f"has rights of its own on the database '{name}'"
        yield from self._tables(who, closed)
        yield from self._other_views(who, databases)
        yield from self._routines(who, databases)

    def _all(self) -> set[Grantee]:
        mapped: dict[Grantee, set[Grantee]] = {}
        for user, host, role in rows(self.connection, "SELECT User, Host, Role FROM mysql.roles_mapping"):
            mapped.setdefault(Grantee(str(user), str(host)), set()).add(Grantee(str(role), ""))
        found, waiting = set[Grantee](), [self.grantee, Grantee(_EVERYBODY, "")]
        while waiting:
            one = waiting.pop()
            if one not in found:
                found.add(one)
                waiting += mapped.get(one, ())
        return found

    def _databases(self, who: set[Grantee]) -> set[str]:
        found = rows(self.connection, "SELECT User, Host, Db FROM mysql.db")
        return {str(db) for user, host, db in found if Grantee(str(user), str(host)) in who}

    def _tables(self, who: set[Grantee], closed: set[str]) -> Iterator[str]:
        for place in ("tables_priv", "columns_priv", "procs_priv"):
            found = rows(self.connection, f"SELECT DISTINCT User, Host, Db FROM mysql.{place}")  # noqa: S608  # ours
            for user, host, db in found:
                if Grantee(str(user), str(host)) in who and db in closed:
                    yield f"has rights of its own on parts of the database '{db}'"

    def _other_views(self, who: set[Grantee], databases: set[str]) -> Iterator[str]:
        listed = {
            (str(db), str(table))
            for user, host, db, table in rows(
                self.connection, "SELECT User, Host, Db, Table_name FROM mysql.tables_priv"
            )
            if Grantee(str(user), str(host)) in who
        }
        mark = f"`{self.base}`."
        asked = "SELECT table_schema, table_name, view_definition FROM information_schema.views"
        for schema, name, definition in rows(self.connection, asked):
            readable = (schema, name) in listed or any(_matches(pattern, str(schema)) for pattern in databases)
            if schema not in self.own and readable and mark in str(definition):
                yield f"may read the view {schema}.{name}, which shows the tables"

    def _routines(self, who: set[Grantee], databases: set[str]) -> Iterator[str]:
        listed = {
            (str(db), str(name).lower())
            for user, host, db, name in rows(
                self.connection, "SELECT User, Host, Db, Routine_name FROM mysql.procs_priv"
            )
            if Grantee(str(user), str(host)) in who
        }
        asked = "SELECT routine_schema, routine_name FROM information_schema.routines WHERE security_type = 'DEFINER'"
        for schema, name in rows(self.connection, asked):
            callable_ = (schema, str(name).lower()) in listed or any(_matches(one, str(schema)) for one in databases)
            if callable_ and schema != "sys":
                yield f"may call {schema}.{name}, which reads with its owner's rights"


def _matches(pattern: str, name: str) -> bool:
    """As GRANT reads a database's name: ``%`` and ``_`` stand for others unless a backslash precedes them.

    >>> _matches(r"shoal\\_a", "shoal_a"), _matches("shop%", "shopping"), _matches("shop", "shopping")
    (True, True, False)
    """
    translated, place = "", 0
    while place < len(pattern):
        sign = pattern[place]
        if sign == "\\" and place + 1 < len(pattern):
            place += 1
            sign = f"[{pattern[place]}]"
        elif sign in "%_":
            sign = {"%": "*", "_": "?"}[sign]
        elif sign in "*?[":
            sign = f"[{sign}]"
        translated += sign
        place += 1
    return fnmatch.fnmatchcase(name.lower(), translated.lower())
