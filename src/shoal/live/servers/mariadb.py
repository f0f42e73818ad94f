"""MariaDB: a database of views for each role.

Here every CREATE and GRANT stands for itself. A role's right to its views is taken away first and given back last, by
one statement: a run that is killed in between leaves a role that sees nothing, and the next one makes it whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from sqlalchemy import Connection

from shoal.errors import TargetError
from shoal.live.served_tables import (
    ServedColumn,
    ServedTable,
    ServedView,
    day_or_other,
    decimal_column,
    text_column,
    whole_column,
)
from shoal.live.servers.base import (
    KEYS,
    PREFIX,
    Difference,
    LiveDesign,
    LiveServer,
    key_differences,
    pads_of,
    rows,
    run,
    schema_of,
)
from shoal.live.servers.mariadb_rights import Grantee, RightsOfRole, grants_on
from shoal.live.sql.mariadb import MariaDBWords
from shoal.live.view_compiler import Pads

_WHOLE: Final = re.compile(r"(tiny|small|medium|big)?int\(\d+\)( unsigned)?")
_TEXT: Final = re.compile(r"varchar\(\d+\)|(tiny|medium|long)?text")
_FLOAT_SCALE: Final = 6
_MOST_DIGITS: Final = 15
_LOCK: Final = "shoal_live"
_PATIENCE: Final = 600
_MODE: Final = "SET SESSION sql_mode = 'STRICT_ALL_TABLES', character_set_client = utf8mb4"
_SCRATCH: Final = "shoal_scratch"


class MariaDBServer(LiveServer):
    words = MariaDBWords()
    driver = "mysql+pymysql"

    def pads(self, domain: str) -> Pads:
        alias = self.words.name(f"k_{domain}")
        return Pads(f"{alias}.inner_pad", f"{alias}.outer_pad")

    @property
    def base(self) -> str:
        return self.db_schema or str(self.url.database)

    def tables(self, connection: Connection) -> dict[str, ServedTable]:
        found: dict[str, dict[str, ServedColumn]] = {}
        for table, name, declared, letters in rows(connection, _COLUMNS, self.base):
            found.setdefault(str(table), {})[str(name)] = _served(str(name), str(declared), letters)
        return {name: ServedTable(name, columns) for name, columns in found.items()}

    def view(self, view: ServedView, place: str) -> str:
        """A reader's condition may be looked at before ours: a row that isn't to be seen shows nothing even then."""
        rule = " AND ".join(view.conditions)
        seen = {name: f"CASE WHEN {rule} THEN {x} END" if rule else x for name, x in view.columns.items()}
        cells = ",\n".join(f"  {x} AS {self.words.name(name)}" for name, x in seen.items())
        domains = dict.fromkeys(
            found for x in view.columns.values() for found in re.findall(r"`k_([a-z0-9_-]+)`\.inner_pad", x)
        )
        keys = "".join(
            f"\nJOIN {self.words.name(KEYS, 'keys')} AS {self.words.name(f'k_{one}')}"
            f" ON {self.words.name(f'k_{one}', 'domain')} = {self.words.text(one)}"
            for one in domains
        )
        where = f"\nWHERE {rule}" if rule else ""
        head = f"CREATE OR REPLACE ALGORITHM = MERGE SQL SECURITY DEFINER VIEW {place} AS"
        return f"{head}\nSELECT\n{cells}\nFROM {self.words.name(self.base, view.table)} AS t{keys}{where}"

    def statements(self, connection: Connection, design: LiveDesign, extra: Sequence[Difference]) -> Iterator[str]:
        yield from self._building(connection, design, extra)
        yield from self._opening(design)

    def _building(self, connection: Connection, design: LiveDesign, extra: Sequence[Difference]) -> Iterator[str]:
        quote = self.words.name
        yield _MODE
        yield self._own_database(KEYS, design)
        yield (
            f"CREATE TABLE IF NOT EXISTS {quote(KEYS, 'keys')} (domain VARCHAR(63) CHARACTER SET utf8mb4 COLLATE "
            "utf8mb4_nopad_bin PRIMARY KEY, inner_pad VARBINARY(64) NOT NULL, outer_pad VARBINARY(64) NOT NULL)"
        )
        for schema in self._forgotten(connection, design):
            yield from self._closed(connection, schema)
            yield f"DROP DATABASE {quote(schema)}"
        for role in design.grantees:
            schema = schema_of(role)
            yield self._own_database(schema, design)
            yield from self._closed(connection, schema)
            for one in extra:
                if one.role == role and one.table and one.what == "extra":
                    yield f"DROP VIEW {quote(schema, one.table)}"
            for view in (one for one in design.views if one.role == role):
                yield self.view(view, quote(schema, view.table))

    def _opening(self, design: LiveDesign) -> Iterator[str]:
        for role in design.grantees:
            yield f"GRANT SELECT ON {_pattern(schema_of(role))}.* TO {Grantee.of(role).sql}"

    def _own_database(self, schema: str, design: LiveDesign) -> str:
        return f"CREATE DATABASE IF NOT EXISTS {self.words.name(schema)} COMMENT '{_comment(design)}'"

    def _closed(self, connection: Connection, schema: str) -> Iterator[str]:
        """Nobody's any more."""
        for grantee in grants_on(connection, schema):
            yield f"REVOKE ALL ON {_pattern(schema)}.* FROM {grantee.sql}"

    def _marked(self, connection: Connection, design: LiveDesign) -> list[str]:
        return [str(name) for (name,) in rows(connection, _MARKED, _comment(design))]

    def _forgotten(self, connection: Connection, design: LiveDesign) -> list[str]:
        wanted = {KEYS, *map(schema_of, design.grantees)}
        return [schema for schema in self._marked(connection, design) if schema not in wanted]

    def removal(self, connection: Connection, design: LiveDesign) -> Iterator[str]:
        for schema in sorted(self._marked(connection, design), key=lambda name: name == KEYS):
            yield from self._closed(connection, schema)
            yield f"DROP DATABASE {self.words.name(schema)}"

    def undoing(self, design: LiveDesign) -> Iterator[str]:
        for role in design.grantees:
            yield f"REVOKE ALL ON {_pattern(schema_of(role))}.* FROM {Grantee.of(role).sql}"
            yield f"DROP DATABASE IF EXISTS {self.words.name(schema_of(role))}"
        yield f"DROP DATABASE IF EXISTS {self.words.name(KEYS)}"

    def apply(self, connection: Connection, design: LiveDesign, extra: Sequence[Difference]) -> None:
        _alone(connection)
        self._refuse_foreign(connection, design)
        for statement in self._building(connection, design, extra):
            run(connection, statement)
        self._put_keys(connection, design)
        for statement in self._opening(design):
            run(connection, statement)

    def _put_keys(self, connection: Connection, design: LiveDesign) -> None:
        table = self.words.name(KEYS, "keys")
        run(connection, f"DELETE FROM {table}")  # noqa: S608  # a name of ours, quoted
        for domain, key in design.keys.items():
            values = (domain, *pads_of(key))
            connection.exec_driver_sql(f"INSERT INTO {table} VALUES (%s, %s, %s)", values)  # noqa: S608
        connection.commit()

    def _refuse_foreign(self, connection: Connection, design: LiveDesign) -> None:
        for schema in (KEYS, *map(schema_of, design.grantees)):
            for (mark,) in rows(connection, _MARK, schema):
                if mark != _comment(design):
                    raise TargetError(f"{self.label}: the database '{schema}' is not of this live file")

    def remove(self, connection: Connection, design: LiveDesign) -> bool:
        _alone(connection)
        found = list(self.removal(connection, design))
        for statement in found:
            run(connection, statement)
        return bool(found)

    def differences(self, connection: Connection, design: LiveDesign) -> list[Difference]:
        there = set(self._marked(connection, design))
        if KEYS not in there:
            return [Difference("missing", view.role, view.table) for view in design.views]
        found = list(self._key_differences(connection, design))
        found += [Difference("extra", schema.removeprefix(PREFIX)) for schema in self._forgotten(connection, design)]
        for role in design.grantees:
            found += self._role_differences(connection, design, role)
        return found

    def _key_differences(self, connection: Connection, design: LiveDesign) -> Iterator[Difference]:
        if not rows(connection, _TABLE_THERE, KEYS, "keys"):
            yield Difference("missing", "keys")
            return
        table = self.words.name(KEYS, "keys")
        told = rows(connection, f"SELECT domain, inner_pad, outer_pad FROM {table}")  # noqa: S608
        yield from key_differences(design, told)

    def _role_differences(self, connection: Connection, design: LiveDesign, role: str) -> Iterator[Difference]:
        schema = schema_of(role)
        there = {name: told for name, *told in rows(connection, _VIEWS, schema)}
        wanted = [view for view in design.views if view.role == role]
        for view in wanted:
            if view.table not in there:
                yield Difference("missing", role, view.table)
            elif there[view.table] != self._as_made(connection, view):
                yield Difference("changed", role, view.table)
        names = {view.table for view in wanted}
        yield from (Difference("extra", role, str(name)) for name in there if name not in names)
        if there and grants_on(connection, schema) != [Grantee.of(role)]:
            yield Difference("changed", role, "")

    def _as_made(self, connection: Connection, view: ServedView) -> list[object]:
        """What the server would tell of the view if it were made now, where nobody can read it."""
        place = self.words.name(KEYS, _SCRATCH)
        run(connection, _MODE)
        run(connection, self.view(view, place))
        try:
            return next([*told] for name, *told in rows(connection, _VIEWS, KEYS) if name == _SCRATCH)
        finally:
            run(connection, f"DROP VIEW {place}")

    def ways_around(self, connection: Connection, design: LiveDesign, tables: Sequence[str]) -> list[str]:
        own = [*map(schema_of, design.grantees)]
        return [
            f"role '{role}' {words}" if words else f"there is no role '{role}'"
            for role in design.grantees
            for words in RightsOfRole(connection, Grantee.of(role), self.base, own).beyond_views()
        ]


_COLUMNS: Final = """
SELECT c.table_name, c.column_name, c.column_type, c.character_set_name
FROM information_schema.columns AS c
JOIN information_schema.tables AS t ON t.table_schema = c.table_schema AND t.table_name = c.table_name
WHERE c.table_schema = %s AND t.table_type = 'BASE TABLE' ORDER BY c.table_name, c.ordinal_position
"""
_VIEWS: Final = """
SELECT t.table_name, t.table_type, v.view_definition, v.security_type, v.definer, v.algorithm, v.check_option
FROM information_schema.tables AS t
LEFT JOIN information_schema.views AS v ON v.table_schema = t.table_schema AND v.table_name = t.table_name
WHERE t.table_schema = %s ORDER BY t.table_name
"""
_MARKED: Final = "SELECT schema_name FROM information_schema.schemata WHERE schema_comment = %s ORDER BY schema_name"
_MARK: Final = "SELECT schema_comment FROM information_schema.schemata WHERE schema_name = %s"
_TABLE_THERE: Final = "SELECT 1 FROM information_schema.tables WHERE table_schema = %s AND table_name = %s"


def _alone(connection: Connection) -> None:
    run(connection, f"SELECT GET_LOCK('{_LOCK}', {_PATIENCE})")


def _comment(design: LiveDesign) -> str:
    return design.mark


def _pattern(schema: str) -> str:
    """In a GRANT an underscore stands for any letter."""
    return "`" + schema.replace("_", r"\_") + "`"


def _served(name: str, declared: str, letters: object) -> ServedColumn:
    if _WHOLE.fullmatch(declared):
        return ServedColumn(whole_column(name), declared)
    if declared in ("float", "double"):
        return ServedColumn(decimal_column(name, _FLOAT_SCALE), declared)
    if exact := re.fullmatch(r"decimal\((\d+),(\d+)\)", declared):
        digits, scale = int(exact[1]), int(exact[2])
        return ServedColumn(decimal_column(name, scale), declared, computable=digits <= _MOST_DIGITS)
    if _TEXT.fullmatch(declared):
        return ServedColumn(text_column(name), declared, computable=letters in ("utf8mb4", "utf8mb3", "ascii"))
    return day_or_other(name, declared, moment=bool(re.fullmatch(r"datetime(\(\d\))?", declared)))
