"""``plan``, ``apply``, ``diff``, ``check`` and ``remove``: a live file and a server in, a typed result out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import timedelta
from typing import Any

from sqlalchemy import Connection

from shoal.errors import InputError, SourceError, install_advice
from shoal.io import DatabaseOptions
from shoal.live.live_file import LiveFile, LiveRole
from shoal.live.served_tables import ServedTable, ServedView
from shoal.live.servers.base import Difference, LiveDesign, LiveServer, schema_of
from shoal.live.view_compiler import ViewCompiler, pseudonym_domains
from shoal.policy import Policy
from shoal.policy.multi_table import MultiTablePolicy
from shoal.pseudonyms.secrets import Secrets
from shoal.randomness import now
from shoal.schema.registry import did_you_mean


@dataclass(frozen=True)
class LiveState:
    """How the server stands to the live file."""

    name: str
    roles: tuple[str, ...]
    views: tuple[str, ...]
    differences: tuple[str, ...] = ()
    ways_around: tuple[str, ...] = ()
    expired: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    """Why the policies can't be compiled for the tables as they are now."""

    @property
    def whole(self) -> bool:
        """Every role sees what its policy says, and nothing else."""
        return not (self.differences or self.ways_around or self.problems)

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "whole": self.whole}


@dataclass(frozen=True)
class LivePlan:
    """What would be done, and its inverse, as SQL that a person can read."""

    state: LiveState
    sql: str
    inverse: str
    columns: Mapping[str, Mapping[str, str]]
    """By view, what each column shows, in words."""
    changes: bool = True

    def to_dict(self) -> dict[str, Any]:
        return {**self.state.to_dict(), "sql": self.sql, "inverse": self.inverse, "columns": self.columns}


@dataclass(frozen=True)
class Live:
    """A live file before its server. ``secrets`` is a vault, where a policy takes pseudonyms from one."""

    file: LiveFile
    policies: Mapping[str, Policy | MultiTablePolicy]
    secrets: Secrets | None = field(default=None, repr=False)

    @classmethod
    def of(cls, given: object, secrets: Secrets | None = None) -> Live:
        file = LiveFile.of(given)
        return cls(file, file.policies(), secrets)

    @classmethod
    def unopened(cls, given: object) -> Live:
        """Without its policies, which removing doesn't need."""
        return cls(LiveFile.of(given), {})

    def with_secrets(self, secrets: Secrets | None) -> Live:
        return replace(self, secrets=secrets)

    def plan(self) -> LivePlan:
        """Nothing is changed."""
        server = self._server()
        with server.connected() as connection:
            design = self._design(server, connection)
            ways = server.ways_around(connection, design, _tables(design))
            # What comparing makes is undone before anything else is asked.
            found = server.differences(connection, design) if not _no_role(ways) else _all_missing(design)
            connection.rollback()
            sql = server.script(self._title(design), list(server.statements(connection, design, found)))
            undo = server.script(self._title(), server.undoing(design))
        columns = {f"{schema_of(one.role)}.{one.table}": one.notes for one in design.views}
        return LivePlan(self._state(design, found, ways), sql, undo, columns, changes=bool(found))

    def apply(self) -> LiveState:
        """All of it or nothing; where a role could read around its views, nothing."""
        server = self._server()
        with server.connected() as connection:
            design = self._design(server, connection)
            ways = server.ways_around(connection, design, _tables(design))
            if ways:
                raise InputError(f"nothing is applied: {'; '.join(ways)}", advice="take those rights away first")
            found = server.differences(connection, design)
        if found:
            with server.connected(write=True) as connection:
                server.apply(connection, design, found)
        return self._state(design, found, ways)

    def diff(self) -> LiveState:
        """Between the live file and the server."""
        server = self._server()
        with server.connected() as connection:
            design = self._design(server, connection)
            ways = server.ways_around(connection, design, _tables(design))
            found = _all_missing(design) if _no_role(ways) else server.differences(connection, design)
        return self._state(design, found, ways)

    def check(self) -> LiveState:
        """The same, for a schedule: tables that have changed since are a finding and no error."""
        try:
            return self.diff()
        except (SourceError, InputError) as error:
            if isinstance(error, SourceError):
                raise
            return LiveState(self.file.name, tuple(self.file.roles), (), problems=(str(error),))

    def remove(self) -> bool:
        """Takes back whatever was applied, also by an earlier state of the live file. Needs no policy."""
        server = self._server()
        grantees = {name: str(role.purpose) for name, role in self.file.roles.items()}
        with server.connected(write=True) as connection:
            return server.remove(connection, LiveDesign(self.file.name, (), grantees, {}))

    def _title(self, design: LiveDesign | None = None) -> str:
        said = f"-- Shoal live: {re.sub('[^ -~]', '?', self.file.name)}\n"
        keys = "-- The keys of pseudonyms don't stand here; apply puts them in.\n"
        return said + (keys if design is not None and design.keys else "")

    def _server(self) -> LiveServer:
        address = self.file.database
        try:
            from sqlalchemy.engine import make_url

            from shoal.live.servers.mariadb import MariaDBServer
            from shoal.live.servers.postgresql import PostgreSQLServer

            url = make_url(address.resolved())
        except ModuleNotFoundError:
            raise SourceError(f"{address.place}: needs a driver", advice=install_advice("db")) from None
        except KeyError as error:
            raise SourceError(f"{address.place}: the environment variable {error.args[0]} is not set") from None
        kind = PostgreSQLServer if address.kind == "postgresql" else MariaDBServer
        return kind(url, address.place, address.db_schema)

    def _design(self, server: LiveServer, connection: Connection) -> LiveDesign:
        known = server.tables(connection)
        domains = dict.fromkeys(domain for one in self.all_policies() for domain in pseudonym_domains(one))
        keys = {} if self.secrets is None else {one: self.secrets.key(one, "pseudonymise") for one in domains}
        compiler = ViewCompiler(server.words, self.secrets, {one: server.pads(one) for one in keys})
        problems: list[str] = []
        views: list[ServedView] = []
        for name, role in self.file.roles.items():
            for table, policy in self._tables_of(name, role, problems).items():
                if table not in known:
                    problems.append(f"role '{name}': there is no table '{table}'{did_you_mean(table, tuple(known))}")
                    continue
                try:
                    views.append(self._view(compiler, name, role, policy, known[table]))
                except InputError as error:
                    problems.append(str(error))
        if problems:
            raise InputError("; ".join(dict.fromkeys(problems)))
        grantees = {name: str(role.purpose) for name, role in self.file.roles.items()}
        _refuse_same_schema(grantees)
        return LiveDesign(self.file.name, tuple(views), grantees, keys)

    def _view(
        self, compiler: ViewCompiler, name: str, role: LiveRole, policy: Policy, table: ServedTable
    ) -> ServedView:
        if policy.models and role.accept is None:
            raise InputError(
                f"role '{name}', table '{table.name}': a view can't count people, so it can't hold the privacy models",
                advice="say with `accept` why the role may see it without them",
            )
        before = [(role.until + timedelta(days=1))] if role.until else []
        conditions = [compiler.words.before(day) for day in before]
        conditions += [f"(NOT {compiler.words.before(role.since)})"] if role.since else []
        levels = _levels(role, table.name)
        rows = role.rows.get(table.name)
        return compiler.compile(name, policy, table, levels, rows=rows, conditions=tuple(conditions))

    def all_policies(self) -> Iterator[Policy]:
        for one in self.policies.values():
            yield from one.tables.values() if isinstance(one, MultiTablePolicy) else (one,)

    def _tables_of(self, name: str, role: LiveRole, problems: list[str]) -> dict[str, Policy]:
        """A role's policies by the tables that they are for."""
        policy = self.policies[name]
        if isinstance(policy, MultiTablePolicy):
            found = {_source_table(one) or table: one for table, one in policy.tables.items()}
        else:
            table = role.table or _source_table(policy)
            found = {table: policy} if table else {}
            if not table:
                problems.append(f"role '{name}': say with `table` which table its policy is for")
        problems += [
            f"role '{name}': rows: its policy has no table '{one}'{did_you_mean(one, tuple(found))}"
            for one in role.rows
            if one not in found
        ]
        return found

    def _state(self, design: LiveDesign, found: list[Difference], ways: list[str]) -> LiveState:
        today = now().date()
        return LiveState(
            self.file.name,
            tuple(design.grantees),
            tuple(f"{schema_of(one.role)}.{one.table}" for one in design.views),
            tuple(map(str, found)),
            tuple(ways),
            tuple(name for name, role in self.file.roles.items() if role.until and role.until < today),
        )


def _source_table(policy: Policy) -> str | None:
    return policy.source.table if isinstance(policy.source, DatabaseOptions) else None


def _levels(role: LiveRole, table: str) -> dict[str, int]:
    shared = {name: level for name, level in role.levels.items() if isinstance(level, int)}
    own = role.levels.get(table)
    return {**shared, **own} if isinstance(own, dict) else shared


def _tables(design: LiveDesign) -> list[str]:
    return sorted({view.table for view in design.views})


def _refuse_same_schema(grantees: Mapping[str, str]) -> None:
    places = [schema_of(role) for role in grantees]
    if len(set(places)) < len(places) or "shoal_keys" in places:
        raise InputError("two roles would have their views in one place; call one of them differently")


def _no_role(ways: list[str]) -> bool:
    return any(one.startswith("there is no role") for one in ways)


def _all_missing(design: LiveDesign) -> list[Difference]:
    return [Difference("missing", view.role, view.table) for view in design.views]
