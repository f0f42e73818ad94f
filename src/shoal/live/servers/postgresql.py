"""PostgreSQL: a schema of views for each role, made and changed in one transaction."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
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
from shoal.live.servers.postgresql_catalogue import (
    BASE_TABLES,
    COLUMNS,
    MARKED,
    NO_SUCH_ROLE,
    SCHEMA_MARK,
    VIEWS,
    WAYS_AROUND,
)
from shoal.live.sql.postgresql import PostgreSQLWords
from shoal.live.view_compiler import Pads

_WHOLE: Final = frozenset({"smallint", "integer", "bigint"})
_FLOATS: Final = frozenset({"real", "double precision", "numeric"})
_FLOAT_SCALE: Final = 6
"""Digits behind the point of a number that has no declared scale."""
_MOST_DIGITS: Final = 15
_SCRATCH: Final = "shoal_scratch"
_LOCK: Final = 0x53484C56
_PATH: Final = "SET LOCAL search_path = pg_catalog"


class PostgreSQLServer(LiveServer):
    words = PostgreSQLWords()
    driver = "postgresql+psycopg"

    def pads(self, domain: str) -> Pads:
        table = self.words.name(KEYS, "keys")
        return Pads(
            *(
                f"(SELECT k.{half} FROM {table} AS k WHERE k.domain = {self.words.text(domain)})"  # noqa: S608  # ours
                for half in ("inner_pad", "outer_pad")
            )
        )

    @property
    def base(self) -> str:
        return self.db_schema or "public"

    def tables(self, connection: Connection) -> dict[str, ServedTable]:
        found: dict[str, dict[str, ServedColumn]] = {}
        for table, name, declared in rows(connection, COLUMNS, self.base):
            found.setdefault(str(table), {})[str(name)] = _served(str(name), str(declared))
        return {name: ServedTable(name, columns) for name, columns in found.items()}

    def view(self, view: ServedView, place: str) -> str:
        cells = ",\n".join(f"  {x} AS {self.words.name(name)}" for name, x in view.columns.items())
        where = f"\nWHERE {' AND '.join(view.conditions)}" if view.conditions else ""
        source = self.words.name(self.base, view.table)
        return f"CREATE VIEW {place} WITH (security_barrier = true) AS\nSELECT\n{cells}\nFROM {source} AS t{where}"

    def statements(self, connection: Connection, design: LiveDesign, extra: Sequence[Difference]) -> Iterator[str]:
        quote, mark = self.words.name, self.words.text(design.mark)
        yield _PATH
        if design.keys:
            yield from self._key_statements(mark)
        for schema in _forgotten(connection, design):
            yield from (f"DROP VIEW {quote(schema, str(name))}" for name, *_ in rows(connection, VIEWS, schema))
            yield f"DROP SCHEMA {quote(schema)}"
        for one in extra:
            if one.role in design.grantees and one.what == "extra":
                yield f"DROP VIEW {quote(schema_of(one.role), one.table)}"
        for role, purpose in design.grantees.items():
            schema = quote(schema_of(role))
            yield f"CREATE SCHEMA IF NOT EXISTS {schema}"
            yield f"COMMENT ON SCHEMA {schema} IS {mark}"
            yield f"REVOKE ALL ON SCHEMA {schema} FROM PUBLIC"
            for view in (one for one in design.views if one.role == role):
                place = quote(schema_of(role), view.table)
                yield f"DROP VIEW IF EXISTS {place}"
                yield self.view(view, place)
                yield f"COMMENT ON VIEW {place} IS {self.words.text(purpose)}"
                yield f"REVOKE ALL ON {place} FROM PUBLIC"
                yield f"GRANT SELECT ON {place} TO {quote(role)}"
            yield f"GRANT USAGE ON SCHEMA {schema} TO {quote(role)}"

    def _key_statements(self, mark: str) -> Iterator[str]:
        schema, table = self.words.name(KEYS), self.words.name(KEYS, "keys")
        yield f"CREATE SCHEMA IF NOT EXISTS {schema}"
        yield f"COMMENT ON SCHEMA {schema} IS {mark}"
        yield f"REVOKE ALL ON SCHEMA {schema} FROM PUBLIC"
        yield (
            f"CREATE TABLE IF NOT EXISTS {table} (domain text PRIMARY KEY, inner_pad bytea NOT NULL, "
            "outer_pad bytea NOT NULL)"
        )
        yield f"REVOKE ALL ON {table} FROM PUBLIC"

    def removal(self, connection: Connection, design: LiveDesign) -> Iterator[str]:
        """By the mark, so that what an earlier state of the live file made goes too."""
        quote, found = self.words.name, [str(name) for (name,) in rows(connection, MARKED, design.mark)]
        for schema in sorted(found, key=lambda name: name == KEYS):
            for name, kind, *_ in rows(connection, VIEWS, schema):
                yield f"DROP {'VIEW' if kind == 'v' else 'TABLE'} {quote(schema, str(name))}"
            yield f"DROP SCHEMA {quote(schema)}"

    def undoing(self, design: LiveDesign) -> Iterator[str]:
        quote = self.words.name
        yield from (f"DROP VIEW IF EXISTS {quote(schema_of(view.role), view.table)}" for view in design.views)
        yield from (f"DROP SCHEMA IF EXISTS {quote(schema_of(role))}" for role in design.grantees)
        if design.keys:
            yield f"DROP TABLE IF EXISTS {quote(KEYS, 'keys')}"
            yield f"DROP SCHEMA IF EXISTS {quote(KEYS)}"

    def script(self, title: str, statements: Iterable[str]) -> str:
        return super().script(title, ["BEGIN", *statements, "COMMIT"])

    def apply(self, connection: Connection, design: LiveDesign, extra: Sequence[Difference]) -> None:
        run(connection, f"SELECT pg_advisory_xact_lock({_LOCK})")
        self._refuse_foreign(connection, design)
        for statement in list(self.statements(connection, design, extra)):
            run(connection, statement)
        if design.keys:
            self._put_keys(connection, design)

    def _put_keys(self, connection: Connection, design: LiveDesign) -> None:
        table = self.words.name(KEYS, "keys")
        run(connection, f"DELETE FROM {table}")  # noqa: S608  # a name of ours, quoted
        for domain, key in design.keys.items():
            values = (domain, *pads_of(key))
            connection.exec_driver_sql(f"INSERT INTO {table} VALUES (%s, %s, %s)", values)  # noqa: S608

    def _refuse_foreign(self, connection: Connection, design: LiveDesign) -> None:
        for schema in (*map(schema_of, design.grantees), *([KEYS] if design.keys else [])):
            for (mark,) in rows(connection, SCHEMA_MARK, schema):
                if mark != design.mark:
                    raise TargetError(f"{self.label}: the schema '{schema}' is not of this live file")

    def remove(self, connection: Connection, design: LiveDesign) -> bool:
        run(connection, f"SELECT pg_advisory_xact_lock({_LOCK})")
        found = list(self.removal(connection, design))
        for statement in found:
            run(connection, statement)
        return bool(found)

    def differences(self, connection: Connection, design: LiveDesign) -> list[Difference]:
        """Within a transaction that is never committed."""
        run(connection, _PATH)
        if design.keys:
            for statement in self._key_statements(self.words.text(design.mark)):
                run(connection, statement)
        found = [*self._key_differences(connection, design)]
        for number, role in enumerate(design.grantees):
            found += self._role_differences(connection, design, role, f"{_SCRATCH}_{number}")
        found += [Difference("extra", schema.removeprefix(PREFIX)) for schema in _forgotten(connection, design)]
        return found

    def _key_differences(self, connection: Connection, design: LiveDesign) -> Iterator[Difference]:
        if not design.keys:
            return
        table = self.words.name(KEYS, "keys")
        told = rows(connection, f"SELECT domain, inner_pad, outer_pad FROM {table}")  # noqa: S608
        yield from key_differences(design, told)

    def _role_differences(
        self, connection: Connection, design: LiveDesign, role: str, scratch: str
    ) -> Iterator[Difference]:
        quote = self.words.name
        run(connection, f"CREATE SCHEMA {quote(scratch)}")
        run(connection, f"REVOKE ALL ON SCHEMA {quote(scratch)} FROM PUBLIC")
        wanted = [view for view in design.views if view.role == role]
        for view in wanted:
            place = quote(scratch, view.table)
            run(connection, self.view(view, place))
            run(connection, f"COMMENT ON VIEW {place} IS {self.words.text(design.grantees[role])}")
            run(connection, f"REVOKE ALL ON {place} FROM PUBLIC")
            run(connection, f"GRANT SELECT ON {place} TO {quote(role)}")
        run(connection, f"GRANT USAGE ON SCHEMA {quote(scratch)} TO {quote(role)}")
        made = {name: told for name, *told in rows(connection, VIEWS, scratch)}
        there = {name: told for name, *told in rows(connection, VIEWS, schema_of(role))}
        for name, told in made.items():
            if name not in there:
                yield Difference("missing", role, str(name))
            elif there[name] != told:
                yield Difference("changed", role, str(name))
        yield from (Difference("extra", role, str(name)) for name in there if name not in made)

    def ways_around(self, connection: Connection, design: LiveDesign, tables: Sequence[str]) -> list[str]:
        found = []
        bases = [int(str(oid)) for (oid,) in rows(connection, BASE_TABLES, self.base, list(tables))]
        for role in design.grantees:
            if not rows(connection, "SELECT 1 FROM pg_catalog.pg_roles WHERE rolname = %s", role):
                found.append(f"{NO_SUCH_ROLE} '{role}'")
                continue
            for query, words in WAYS_AROUND:
                given = {"role": role, "bases": bases, "own": [schema_of(one) for one in design.grantees]}
                told = connection.exec_driver_sql(query, given).fetchall()
                found += [f"role '{role}' {words.format(*map(str, row))}" for row in told]
        return found


def _forgotten(connection: Connection, design: LiveDesign) -> list[str]:
    """Of roles that are no longer in the live file."""
    wanted = {schema_of(role) for role in design.grantees} | {KEYS}
    return [str(name) for (name,) in rows(connection, MARKED, design.mark) if name not in wanted]


def _served(name: str, declared: str) -> ServedColumn:
    if declared in _WHOLE:
        return ServedColumn(whole_column(name), declared)
    if declared in _FLOATS:
        return ServedColumn(decimal_column(name, _FLOAT_SCALE), declared)
    if exact := re.fullmatch(r"numeric\((\d+),(\d+)\)", declared):
        digits, scale = int(exact[1]), int(exact[2])
        return ServedColumn(decimal_column(name, scale), declared, computable=digits <= _MOST_DIGITS)
    if declared == "text" or declared.startswith("character varying"):
        return ServedColumn(text_column(name), declared)
    moment = re.fullmatch(r"timestamp(\(\d\))? (with|without) time zone", declared)
    return day_or_other(name, declared, moment=bool(moment), in_utc=bool(moment and moment[2] == "with"))
