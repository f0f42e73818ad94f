"""The run of a copy: look, plan, copy table by table, add keys and references, give account.

Every table is read in one snapshot of the source and committed by itself, with a note in the target that it is there.
A copy that was killed goes on with the tables that are not; what it was begun with must be the same: the policy, the
schema, the share. References are made last, so the database itself checks that every key finds its record.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path

import polars as pl

from shoal.crypto import Key
from shoal.database_copy.account import CopyAccount, tables_of
from shoal.database_copy.copy_plan import CopyPlan, TablePlan, plan_copy
from shoal.database_copy.copy_state import CopyState, parts_path, state_path
from shoal.database_copy.request import CopyRequest
from shoal.database_copy.subset import ChosenRows, SubsetSearch, root_of
from shoal.database_copy.table_source import TableSource
from shoal.engine.polars import PolarsEngine
from shoal.errors import DataError, FieldName, FieldText, TargetError
from shoal.io import write_atomic
from shoal.io.database_schemas.catalogue import TableFacts
from shoal.io.database_schemas.dump_target import DumpTarget
from shoal.io.database_schemas.schema_source import SchemaSource, open_schema
from shoal.io.database_schemas.schema_target import ALL_DONE, CopiedTable, DatabaseSchemaTarget, SchemaTarget
from shoal.io.database_schemas.target_types import changed_type, kept_type
from shoal.plan import Plan
from shoal.plan.binder import PlanBinder
from shoal.pseudonyms import Secrets
from shoal.pseudonyms.run_secrets import RunSecrets
from shoal.randomness import Randomness, now
from shoal.schema.hidden_columns import HIDDEN
from shoal.schema.progress import Monitor, NoteMade


class CopyPhase(StrEnum):
    """What a copy does, in this order."""

    LOOK = "look"
    CHOOSE = "choose"
    COPY = "copy"
    CONNECT = "connect"


@dataclass(frozen=True)
class CopyPreview:
    """What a copy would do."""

    plan: CopyPlan
    source: str
    target: str
    schema_sha256: str

    def to_dict(self) -> dict[str, object]:
        tables = [
            {
                "table": one.facts.name,
                "columns": len(one.attributes),
                "rewritten": list(one.rewritten),
                "suppressed": sorted(one.suppressed),
            }
            for one in self.plan.tables
        ]
        return {
            "kind": "copy-plan",
            "source": self.source,
            "target": self.target,
            "schema_sha256": self.schema_sha256,
            "tables": tables,
            "views": list(self.plan.views),
            "not_copied": list(self.plan.not_copied),
            "cycles": list(self.plan.cycles),
        }


class DatabaseCopy:
    def __init__(self, request: CopyRequest, monitor: Monitor | None = None) -> None:
        self.request = request
        self.monitor = monitor or Monitor()

    def preview(self) -> CopyPreview:
        """Nothing is written; the target is looked at only where it is needed to know its kind."""
        with open_schema(self.request.source_address(), self.request.source_schema()) as source:
            target = self._target(source.kind)
            plan = self._plan(source, target)
            if self.request.sample is not None:
                root_of(plan, self.request.of)
            return CopyPreview(plan, source.label, target.label, source.catalogue.fingerprint)

    def execute(self) -> CopyAccount:
        request = self.request
        request.refuse_unknown_dialect()
        with open_schema(request.source_address(), request.source_schema()) as source:
            with self.monitor.phase(CopyPhase.LOOK):
                target = self._target(source.kind)
                plan = self._plan(source, target)
                if request.sample is not None:
                    root_of(plan, request.of)
                begun = _Begun(request, source, target, plan)
                state, resumed = begun.settled()
            running = _RunningCopy(request, self.monitor, source, target, plan, state)
            return running.finished(resumed=resumed)

    def _plan(self, source: SchemaSource, target: SchemaTarget) -> CopyPlan:
        secrets = self.request.secrets
        return plan_copy(
            self.request.policy, source.catalogue, target.kind, lasting=secrets is not None and secrets.lasting
        )

    def _target(self, kind: str) -> SchemaTarget:
        place = self.request.target_place()
        if isinstance(place, Path):
            return DumpTarget(place, self.request.dialect or kind, parts_path(self.request.account))
        return DatabaseSchemaTarget(place, self.request.target_schema)


@dataclass(frozen=True)
class _Begun:
    """Whether there is an unfinished copy, and whether it may go on."""

    request: CopyRequest
    source: SchemaSource
    target: SchemaTarget
    plan: CopyPlan

    @cached_property
    def _now(self) -> dict[str, str]:
        request = self.request
        return {
            "policy": hashlib.sha256(request.policy.text.encode()).hexdigest(),
            "schema": self.source.catalogue.fingerprint,
            "source": self.source.label,
            "target": f"{self.target.kind} {self.target.label} {request.target_schema or ''}",
            "sample": f"{request.sample} {request.of or ''}",
            "seed": hashlib.sha256(str(request.seed).encode()).hexdigest() if request.seed is not None else "",
            "vault": "yes" if request.secrets is not None and request.secrets.lasting else "no",
        }

    def settled(self) -> tuple[CopyState, bool]:
        """The state to go on with, and whether anything was copied before."""
        path = state_path(self.request.account)
        state = CopyState.read(path)
        if state is not None and self.request.restart:
            self.target.remove(state.copy, [one.facts.name for one in self.plan.tables])
            path.unlink()
            state = None
        if state is None:
            return self._new(path), False
        again = FieldText(FieldName("restart"), " begins anew")
        if changed := state.changed(self._now):
            said = f"an unfinished copy was begun with another {', another '.join(changed)}"
            raise TargetError(f"{path}: {said}", advice=again)
        if self.target.done(state.copy) is None:
            self.target.refuse_occupied()
            self.target.begin(state.copy)
            return state, False
        return state, True

    def _new(self, path: Path) -> CopyState:
        if self.request.account.exists():
            raise TargetError(f"{self.request.account}: exists already", advice=FieldText(FieldName("output")))
        if not path.parent.is_dir():
            raise TargetError(f"{path.parent}: there is no such folder")
        self.target.refuse_occupied()
        state = CopyState.new(self._now, seeded=self.request.seed is not None)
        state.write(path)
        self.target.begin(state.copy)
        return state


class _RunningCopy:
    def __init__(  # noqa: PLR0913, PLR0917  # what a copy is made of
        self,
        request: CopyRequest,
        monitor: Monitor,
        source: SchemaSource,
        target: SchemaTarget,
        plan: CopyPlan,
        state: CopyState,
    ) -> None:
        self.request, self.monitor, self.source, self.target = request, monitor, source, target
        self.plan, self.state = plan, state
        seed = request.seed if request.seed is not None else state.seed
        self.randomness = Randomness(seed)
        self.secrets: Secrets = request.secrets or RunSecrets(self.randomness)
        self.done = target.done(state.copy) or {}
        self._empty: dict[str, bool] = {}

    def finished(self, *, resumed: bool) -> CopyAccount:
        if ALL_DONE not in self.done:
            chosen = self._chosen()
            with self.monitor.phase(CopyPhase.COPY):
                for number, table in enumerate(self._waiting()):
                    self.monitor.progress("tables")(number, len(self.plan.tables))
                    self._copy(table, chosen.get(table.facts.name))
            with self.monitor.phase(CopyPhase.CONNECT):
                self._connect()
        account = self._account(resumed=resumed)
        write_atomic(self.request.account, account.to_json())
        self.target.close(self.state.copy)
        state_path(self.request.account).unlink(missing_ok=True)
        return account

    def _chosen(self) -> Mapping[str, ChosenRows]:
        share = self.request.sample
        if share is None or share == 1:
            return {}
        root = root_of(self.plan, self.request.of)
        facts = {one.facts.name: self.source.catalogue.by_name[one.facts.name] for one in self.plan.tables}
        with self.monitor.phase(CopyPhase.CHOOSE):
            key = Key(self.randomness.stream("copy", "sample").key)
            return SubsetSearch(self.source, facts, key, self.monitor).chosen(root.facts.name, share)

    def _waiting(self) -> list[TablePlan]:
        """Those without rows last: what their keys have become is seen in the tables that they refer to."""
        left = [one for one in self.plan.tables if one.facts.name not in self.done]
        return sorted(left, key=self._is_empty)

    def _is_empty(self, table: TablePlan) -> bool:
        name = table.facts.name
        if name not in self._empty:
            self._empty[name] = self.source.is_empty(self.source.catalogue.by_name[name])
        return self._empty[name]

    def _copy(self, table: TablePlan, chosen: ChosenRows | None) -> None:
        name = table.facts.name
        self.monitor.emit(NoteMade(f"table '{name}'"))
        if self._is_empty(table) or (chosen is not None and chosen.keys.is_empty()):
            facts = self._declared(table, None)
            frame = pl.LazyFrame(schema=dict.fromkeys((one.name for one in facts.columns), pl.String()))
            rows = self.target.fill(self.state.copy, facts, frame)
        else:
            facts, rows = self._rewrite(table, chosen)
        self.done[name] = CopiedTable(rows, {one.name: one.declared for one in facts.columns})

    def _rewrite(self, table: TablePlan, chosen: ChosenRows | None) -> tuple[TableFacts, int]:
        name = table.facts.name
        exact = self.source.kind == self.target.kind
        unchanged = table.unchanged if exact else frozenset()
        of_source = self.source.catalogue.by_name[name]
        source = TableSource(f"{self.source.label}#{name}", self.source, of_source, unchanged, chosen)
        engine = PolarsEngine(progress=self.monitor.progress(f"table {name}"), cancel=self.monitor.cancel)
        policy = table.without_idle_roles
        binder = PlanBinder(policy, engine, engine.scan(source), self.randomness.derived("table", name), self.secrets)
        try:
            binder.bind_techniques()
            binder.bind_ending()
            _refuse_further_files(binder.plan)
            rewritten = binder.planned.execute()
            schema = pl.Schema({n: t for n, t in engine.schema(rewritten).items() if not n.startswith(HIDDEN)})
            facts = self._declared(table, schema)
            writing = _TableWriter(self.target, self.state.copy, facts)
            engine.sink(rewritten, writing)
        except DataError as error:
            raise DataError(f"table '{name}': {error.message}", field=error.field, advice=error.advice) from None
        return facts, writing.rows

    def _declared(self, table: TablePlan, schema: pl.Schema | None) -> TableFacts:
        """With the types that the columns have in the copy. A key has that of the key that it refers to."""
        facts, kinds = table.facts, (self.source.kind, self.target.kind)
        parents = {own: kind for own, kind in self._types_of_parents(facts).items() if own not in table.unchanged}
        keyed = {name for key in facts.keys for name in key.columns}
        keyed |= {name for key in facts.foreign_keys for name in key.columns}
        keyed |= {name for index in facts.indexes for name in index.columns}
        columns = []
        for name in schema or facts.by_name:
            own = facts.by_name.get(name)
            if own is not None and (name in table.unchanged or (schema is None and name not in parents)):
                declared = kept_type(own, *kinds)
            elif name in parents:
                declared = parents[name]
            else:
                dtype = pl.String() if schema is None else schema[name]
                declared = changed_type(own, dtype, *kinds, is_key=name in keyed)
            one = own or replace(facts.columns[0], name=name, nullable=True, default=None, numbered=False, comment=None)
            columns.append(replace(one, declared=declared))
        return replace(facts, columns=tuple(columns))

    def _types_of_parents(self, facts: TableFacts) -> dict[str, str]:
        found = {}
        for key in facts.foreign_keys:
            told = self.done.get(key.parent)
            for own, other in zip(key.columns, key.parent_columns, strict=True) if told else ():
                found[own] = told.types[other] if told else ""
        return found

    def _connect(self) -> None:
        tables = [_retyped(one.facts, self.done[one.facts.name]) for one in self.plan.tables]
        self.failed = self.target.finish(self.state.copy, tables, self.plan.views)
        self.done[ALL_DONE] = CopiedTable(0, {})

    def _account(self, *, resumed: bool) -> CopyAccount:
        from shoal import __version__

        request, failed = self.request, getattr(self, "failed", {})
        return CopyAccount(
            version=__version__,
            created=now().isoformat(timespec="seconds"),
            name=request.policy.name,
            policy_sha256=hashlib.sha256(request.policy.text.encode()).hexdigest(),
            schema_sha256=self.source.catalogue.fingerprint,
            source=self.source.label,
            target=self.target.label,
            tables=tuple(tables_of(self.plan, self.done)),
            views=tuple(name for name in self.plan.views if name not in failed),
            not_copied=(*self.plan.not_copied, *(f"view {name} ({why})" for name, why in failed.items())),
            cycles=self.plan.cycles,
            sample=request.sample,
            of=None if request.sample is None else root_of(self.plan, request.of).facts.name,
            resumed=resumed,
        )


@dataclass
class _TableWriter:
    """Where the engine writes the rows of one table."""

    target: SchemaTarget
    copy: str
    facts: TableFacts
    rows: int = 0

    @property
    def label(self) -> str:
        return self.target.label

    def write(self, frame: pl.LazyFrame) -> None:
        self.rows = self.target.fill(self.copy, self.facts, frame)


def _refuse_further_files(plan: Plan) -> None:
    if any(planned.step.sidecar_files for planned in plan):
        raise DataError("techniques that write further files are for a release")


def _retyped(facts: TableFacts, done: CopiedTable) -> TableFacts:
    """As the table was created, also by an earlier run."""
    known = facts.by_name
    first = facts.columns[0]
    columns = tuple(
        replace(
            known.get(name) or replace(first, name=name, nullable=True, default=None, numbered=False), declared=kind
        )
        for name, kind in done.types.items()
    )
    return replace(facts, columns=columns)
