"""The registry: every act is an entry of the ledger, and what is true of each record follows from its last one.

An act is checked (right, status, its own rules), written down and takes effect in one transaction; several people at
once wait for each other. The ledger holds a salted hash of what was said. What was said stands beside it and may be
purged, which is an act too: the chain then still shows that there was something, who purged it and when.

>>> import tempfile
>>> with GovernanceRegistry.create(f"{tempfile.mkdtemp()}/registry.db", "devi") as registry:
...     _ = registry.perform("person", "admit", "asha", {"roles": ["chief-investigator"]}, by="devi")
...     project = registry.perform("project", "open", "hospital", {"use_case": "external-sharing"}, by="asha")
...     print(project.status, registry.verify().entries)
open 3
"""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Final, NamedTuple, Self

from pydantic import ValidationError
from sqlalchemy import Connection, delete, func, insert, select, update

from shoal.crypto import Key
from shoal.errors import AccessError, InputError, IntegrityError
from shoal.govern.record_kinds import (
    ActContext,
    ActInput,
    RecordAct,
    RecordKind,
    RecordState,
    checked_identifier,
    record_kind,
)
from shoal.govern.registry_tables import MIGRATIONS, MOST_WHAT, MOST_WHO, NAME, registry_tables
from shoal.govern.rights import require_right, takes_training
from shoal.ledger import Checkpoint, LedgerChain, LedgerEntry, LedgerFacts, LedgerHead
from shoal.ledger.database import TransactionalDatabase
from shoal.ledger.entry import canonical_json
from shoal.ledger.migrations import migrate, refuse_newer, set_version
from shoal.randomness import now, random_bytes
from shoal.schema.validation_messages import validation_message

PERSON: Final = "person"
ADMINISTRATOR: Final = "administrator"
PURGED: Final = "purge"
_WRITERS: Final = 0x5348524547
"""The advisory lock of whoever writes in a registry on PostgreSQL."""
_TOLERANCE: Final = datetime.timedelta(minutes=5)
"""By so much clocks of several machines may differ."""


class RegistryDatabase(TransactionalDatabase):
    kind: ClassVar[str] = "registry"
    how_to_make: ClassVar[str | None] = "shoal register init begins one"


@dataclass(frozen=True)
class HistoryEntry:
    number: int
    at: str
    act: str
    by: str
    """Empty where it was purged."""
    given: Mapping[str, Any] | None
    """None where it was purged."""


@dataclass(frozen=True)
class RegistryEntry:
    """An entry of the chain: who did what with which record."""

    number: int
    at: str
    kind: str
    identifier: str
    act: str
    by: str
    """Empty where it was purged."""


class DueRow(NamedTuple):
    on: datetime.date
    kind: str
    identifier: str
    what: str
    who: str


@dataclass(frozen=True)
class RegistryFacts:
    """What a verification has shown; it raises where it can't."""

    ledger: LedgerFacts
    records: int
    purged: int
    """Entries whose content is gone, each by a later entry that says so."""

    @property
    def entries(self) -> int:
        return self.ledger.entries


class GovernanceRegistry(AbstractContextManager["GovernanceRegistry"]):
    """``create`` begins one; ``open`` never does, so that a lost registry doesn't pass for an empty one."""

    def __init__(self, place: str | Path) -> None:
        self._database = RegistryDatabase(str(place))
        self._metadata, self._tables = registry_tables()
        self._migrated = False
        """Whether the tables are known to be of this version; it is seen by the first who writes."""

    @classmethod
    def create(cls, place: str | Path, administrator: str) -> Self:
        """With one person, who may admit others."""
        made = cls(place)
        checked_identifier(administrator)
        with made._database.making(made._metadata, made._tables.version, new_file=False) as connection:
            set_version(connection, made._tables.schema, len(MIGRATIONS) + 1)
            writing = _RegistryTransaction(connection, made, now())
            kind = record_kind(PERSON)
            admit = kind.known_act("admit")
            first = _read_given(admit, {"roles": [ADMINISTRATOR]})
            writing.carry(kind, admit, administrator, first, administrator, frozenset({ADMINISTRATOR}))
        return made

    @classmethod
    def open(cls, place: str | Path) -> Self:
        opened = cls(place)
        with opened._database.reading() as connection:
            if not connection.dialect.has_table(connection, opened._tables.version.name):
                raise InputError(f"{opened._database.label}: is no registry", advice=RegistryDatabase.how_to_make)
            refuse_newer(connection, opened._tables.schema, MIGRATIONS, opened._database.label)
        return opened

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._database.close()

    def perform(
        self, kind: str, act: str, identifier: str, given: Mapping[str, Any] | ActInput, *, by: str
    ) -> RecordState:
        """Do it, if this person may and the record is such that it can be done; on disk when this returns."""
        return self.perform_all(kind, act, {identifier: given}, by=by)[identifier]

    def perform_all(
        self, kind: str, act: str, given: Mapping[str, Mapping[str, Any] | ActInput], *, by: str
    ) -> dict[str, RecordState]:
        """The same act on many records, by identifier: all of them, or none."""
        declared = record_kind(kind)
        chosen = declared.known_act(act)
        read = {checked_identifier(one): _read_given(chosen, told).gathered() for one, told in given.items()}
        with self._writing() as writing:
            roles = writing.roles_of(by)
            require_right(by, roles, f"{kind}.{act}")
            if takes_training(roles, f"{kind}.{act}"):
                writing.require_training(by)
            return {one: writing.carry(declared, chosen, one, told, by, frozenset(roles)) for one, told in read.items()}

    def require(self, kind: str, act: str, identifier: str, *, by: str) -> None:
        """Refuse what would be refused for its right or the record's status, before something else is done first."""
        declared = record_kind(kind)
        with self._reading() as reading:
            roles = reading.roles_of(by)
            require_right(by, roles, f"{kind}.{act}")
            if takes_training(roles, f"{kind}.{act}"):
                reading.require_training(by)
            reading.check_status(declared, declared.known_act(act), identifier)

    @staticmethod
    def today() -> datetime.date:
        """By the clock that entries are dated by."""
        return now().date()

    def last_use(self) -> Mapping[str, str]:
        """By person, when they last acted, as far as that was not purged."""
        entry, version = self._tables.ledger.entry, self._tables.version
        wanted = select(entry.c.at, version.c.content).join(version, version.c.entry == entry.c.number)
        with self._database.reading() as connection:
            rows = connection.execute(wanted.where(version.c.content.is_not(None)).order_by(entry.c.number))
            return {json.loads(row.content)["by"]: row.at for row in rows}

    def state(self, kind: str, identifier: str) -> RecordState:
        with self._reading() as reading:
            return reading.state(kind, identifier)

    def states(self, kind: str, project: str = "") -> Mapping[str, RecordState]:
        with self._reading() as reading:
            return reading.states(kind, project)

    def last_entries(self, kind: str) -> Mapping[str, int]:
        """The number of each record's last entry in the ledger."""
        record = self._tables.record
        with self._database.reading() as connection:
            found = connection.execute(select(record.c.id, record.c.entry).where(record.c.kind == kind))
            return {row.id: row.entry for row in found}

    def history(self, kind: str, identifier: str) -> list[HistoryEntry]:
        """Of one record, the oldest first."""
        with self._reading() as reading:
            reading.state(kind, identifier)
            return reading.history(kind, identifier)

    def latest(self, most: int) -> list[RegistryEntry]:
        """The last entries of the chain, the newest first. Whether it holds, ``verify`` says."""
        entry, version = self._tables.ledger.entry, self._tables.version
        wanted = select(entry.c.number, entry.c.at, entry.c.kind.label("done"), version.c.id, version.c.content)
        wanted = wanted.join(version, version.c.entry == entry.c.number).order_by(entry.c.number.desc()).limit(most)
        told = []
        with self._database.reading() as connection:
            for row in connection.execute(wanted):
                kind, _, act = row.done.partition(".")
                by = "" if row.content is None else json.loads(row.content).get("by", "")
                told.append(RegistryEntry(row.number, row.at, kind, row.id, act, by))
        return told

    def due(self, until: datetime.date) -> list[DueRow]:
        """What has to be done by then, the most urgent first."""
        table = self._tables.due
        with self._database.reading() as connection:
            columns = (table.c.day, table.c.kind, table.c.id, table.c.what, table.c.who)
            wanted = select(*columns).where(table.c.day <= until.isoformat())
            read = cache(datetime.date.fromisoformat)
            found = connection.execute(wanted.order_by(table.c.day, table.c.kind, table.c.id))
            return [DueRow(read(day), *told) for day, *told in found]

    def purge(self, kind: str, identifier: str, *, by: str, reason: str) -> int:
        """Take away what was said about a record, all of it, and keep that it was. How many entries lost their content.

        The record is gone from lists; a later act on it is refused.
        """
        if not reason.strip():
            raise InputError("why?", field="reason")
        with self._writing() as writing:
            require_right(by, writing.roles_of(by), f"{kind}.{PURGED}")
            return writing.purge(record_kind(kind), identifier, by, reason)

    def checkpoint(self, key: Key) -> Checkpoint:
        """Signed with the caller's key, which is not kept. Keep what is returned elsewhere too."""
        with self._writing() as writing:
            return writing.chain.checkpoint(key)

    def verify(
        self, *, signers: Collection[bytes] = (), anchors: Iterable[LedgerHead | Checkpoint] = ()
    ) -> RegistryFacts:
        """The chain, what its entries say, and that each record is as its last entry left it; or an IntegrityError."""
        with self._database.reading() as connection:
            self._database.require_sound(connection, self._metadata)
            reading = _RegistryTransaction(connection, self, now())
            return reading.compared(reading.chain.verify(signers=signers, anchors=anchors))

    @contextmanager
    def _writing(self) -> Iterator[_RegistryTransaction]:
        with self._database.transaction(lock=select(func.pg_advisory_xact_lock(_WRITERS))) as connection:
            if not self._migrated:
                migrate(connection, self._tables.schema, MIGRATIONS, self._database.label)
            writing = _RegistryTransaction(connection, self, now())
            writing.refuse_earlier_clock()
            yield writing
        self._migrated = True

    @contextmanager
    def _reading(self) -> Iterator[_RegistryTransaction]:
        with self._database.reading() as connection:
            yield _RegistryTransaction(connection, self, now())


class _RegistryTransaction:
    """The registry within one transaction: what acts see of it, and how they are written down."""

    def __init__(self, connection: Connection, registry: GovernanceRegistry, at: datetime.datetime) -> None:
        self._connection = connection
        self._tables = registry._tables  # one thing in two classes
        self._at = at
        self.chain = LedgerChain(connection, self._tables.ledger, NAME)

    def state(self, kind: str, identifier: str) -> RecordState:
        record_kind(kind)
        found = self._found(kind, identifier)
        if found is None:
            raise InputError(f"there is no {kind} '{identifier}'")
        return found

    def states(self, kind: str, project: str = "") -> Mapping[str, RecordState]:
        record, version = self._tables.record, self._tables.version
        wanted = select(record.c.id, version.c.content).join(version, version.c.entry == record.c.entry)
        wanted = wanted.where(record.c.kind == kind).order_by(record.c.id)
        if project:
            wanted = wanted.where(record.c.project == project)
        model = record_kind(kind).state
        return {row.id: _state_in(row.content, model) for row in self._connection.execute(wanted)}

    def history(self, kind: str, identifier: str) -> list[HistoryEntry]:
        entry, version = self._tables.ledger.entry, self._tables.version
        wanted = (
            select(entry.c.number, entry.c.at, entry.c.kind, version.c.content)
            .join(version, version.c.entry == entry.c.number)
            .where(version.c.kind == kind, version.c.id == identifier)
            .order_by(entry.c.number)
        )
        told = []
        for row in self._connection.execute(wanted):
            content = {} if row.content is None else json.loads(row.content)
            act = row.kind.partition(".")[2]
            told.append(HistoryEntry(row.number, row.at, act, content.get("by", ""), content.get("given")))
        return told

    def roles_of(self, by: str) -> tuple[str, ...]:
        person = self._found(PERSON, by)
        if person is None or person.status != "active":
            raise AccessError(f"'{by}' is nobody who may act in this registry")
        return tuple(getattr(person, "roles", ()))

    def check_status(self, kind: RecordKind, act: RecordAct, identifier: str) -> None:
        _check_status(kind, act, identifier, self._found(kind.name, identifier))

    def require_training(self, by: str) -> None:
        trained_until = getattr(self.state(PERSON, by), "trained_until", None)
        if trained_until is None or trained_until < self._at.date():
            lack = "has no training yet" if trained_until is None else f"has training that lapsed on {trained_until}"
            raise AccessError(f"{by} {lack}: this act takes it")

    def refuse_earlier_clock(self) -> None:
        """An entry that is dated before the last one would tell another story than what happened."""
        entry = self._tables.ledger.entry
        last = self._connection.execute(select(entry.c.at).order_by(entry.c.number.desc()).limit(1)).scalar()
        if last and self._at < datetime.datetime.fromisoformat(last) - _TOLERANCE:
            raise InputError("the clock of this machine is behind the last entry of the registry: set it right first")

    def carry(  # noqa: PLR0913, PLR0917  # what an act is made of
        self,
        kind: RecordKind,
        act: RecordAct,
        identifier: str,
        read: ActInput,
        by: str,
        roles: frozenset[str],
    ) -> RecordState:
        before = self._found(kind.name, identifier)
        _check_status(kind, act, identifier, before)
        after = act.carry(ActContext(by, roles, self._at, identifier, self), before, read)
        content = {
            "act": act.name,
            "by": by,
            "given": read.model_dump(mode="json", exclude_defaults=True),
            "state": after.model_dump(mode="json", exclude_defaults=True),
            "due": [[one.on.isoformat(), one.what[:MOST_WHAT], one.who[:MOST_WHO]] for one in after.due()],
        }
        self._write(kind, act.name, identifier, content, after)
        return after

    def purge(self, kind: RecordKind, identifier: str, by: str, reason: str) -> int:
        state = self.state(kind.name, identifier)
        if why := state.kept_because(self._at.date()) or state.still_needed(identifier, self):
            raise InputError(f"{kind.name} '{identifier}' can't be purged: {why}")
        version, record = self._tables.version, self._tables.record
        of_it = (version.c.kind == kind.name, version.c.id == identifier)
        entries = list(
            self._connection.execute(select(version.c.entry).where(*of_it, version.c.content.is_not(None))).scalars()
        )
        self._connection.execute(update(version).where(*of_it).values(content=None, salt=None))
        for table in (record, self._tables.due):
            self._connection.execute(delete(table).where(table.c.kind == kind.name, table.c.id == identifier))
        content = {"act": PURGED, "by": by, "given": {"reason": reason}}
        self._enter(kind.name, PURGED, identifier, content, {"purged": entries})
        return len(entries)

    def compared(self, facts: LedgerFacts) -> RegistryFacts:
        """What the entries say against their hashes, and each record against its last entry."""
        version = self._tables.version
        rows = {row.entry: row for row in self._connection.execute(select(version))}
        purged: set[int] = set()
        last: dict[tuple[str, str], int] = {}
        said: dict[int, Mapping[str, Any]] = {}
        for entry in self.chain.entries():
            row = rows.pop(entry.number, None)
            if row is None or not _belongs(row, entry):
                raise IntegrityError(f"the registry is broken at entry {entry.number}: what it says is missing")
            said[entry.number] = entry.payload
            purged.update(entry.payload.get("purged", ()))
            last[row.kind, row.id] = 0 if "purged" in entry.payload else entry.number
            if row.content is not None and _digest(row.salt, row.content, row.id) != entry.payload.get("content"):
                raise IntegrityError(f"the registry is broken at entry {entry.number}: what it says was altered")
            if row.content is None:
                last.setdefault((row.kind, row.id), 0)
        self._check_gone(purged, said)
        if rows:
            raise IntegrityError("the registry holds entries that its ledger does not know")
        kept = {key: number for key, number in last.items() if number and number not in purged}
        self._check_records(kept)
        return RegistryFacts(facts, len(kept), len(purged))

    def _check_gone(self, purged: set[int], said: Mapping[int, Mapping[str, Any]]) -> None:
        version = self._tables.version
        empty = set(self._connection.execute(select(version.c.entry).where(version.c.content.is_(None))).scalars())
        if unsaid := empty - purged:
            raise IntegrityError(f"the registry is broken at entry {min(unsaid)}: its content is gone, by no entry")
        if left := {number for number in purged if number in said} - empty:
            raise IntegrityError(f"the registry is broken at entry {min(left)}: it was purged, and is there")

    def _check_records(self, kept: Mapping[tuple[str, str], int]) -> None:
        record, version = self._tables.record, self._tables.version
        wanted = select(record, version.c.content).join(version, version.c.entry == record.c.entry, isouter=True)
        found = {}
        due = self._due_rows()
        for row in self._connection.execute(wanted):
            found[row.kind, row.id] = row.entry
            content = json.loads(row.content) if row.content else {}
            state, said = content.get("state", {}), due.pop((row.kind, row.id), [])
            if said != sorted(content.get("due", said), key=repr):
                raise IntegrityError(f"the registry is broken: what is due of {row.kind} '{row.id}' was altered")
            if (state.get("status"), state.get("project", "")) != (row.status, row.project):
                raise IntegrityError(f"the registry is broken: {row.kind} '{row.id}' is not as its last entry left it")
        if found != kept:
            odd = min(set(found.items()) ^ set(kept.items()), key=repr)[0]
            raise IntegrityError(f"the registry is broken: {odd[0]} '{odd[1]}' is not as its last entry left it")
        if due:
            raise IntegrityError("the registry is broken: something is due of a record that is not there")

    def _due_rows(self) -> dict[tuple[str, str], list[list[str]]]:
        """By record, in order."""
        found: dict[tuple[str, str], list[list[str]]] = {}
        for kind, identifier, *told in self._connection.execute(select(self._tables.due)):
            found.setdefault((kind, identifier), []).append(told)
        return {record: sorted(rows, key=repr) for record, rows in found.items()}

    def _found(self, kind: str, identifier: str) -> RecordState | None:
        if not _is_text(identifier):
            return None
        record, version = self._tables.record, self._tables.version
        wanted = select(version.c.content).join(record, version.c.entry == record.c.entry)
        content = self._connection.execute(
            wanted.where(record.c.kind == kind, record.c.id == identifier)
        ).scalar_one_or_none()
        return None if content is None else _state_in(content, record_kind(kind).state)

    def _write(
        self, kind: RecordKind, act: str, identifier: str, content: Mapping[str, Any], state: RecordState
    ) -> None:
        number = self._enter(kind.name, act, identifier, content, {})
        record, due = self._tables.record, self._tables.due
        values = {
            "kind": kind.name,
            "id": identifier,
            "entry": number,
            "project": state.project,
            "status": state.status,
        }
        for table in (record, due):
            self._connection.execute(delete(table).where(table.c.kind == kind.name, table.c.id == identifier))
        self._connection.execute(insert(record).values(values))
        rows = [
            {"kind": kind.name, "id": identifier, "day": day, "what": what, "who": who}
            for day, what, who in content["due"]
        ]
        if rows:
            self._connection.execute(insert(due), rows)

    def _enter(
        self, kind: str, act: str, identifier: str, content: Mapping[str, Any], public: Mapping[str, Any]
    ) -> int:
        """An entry of the ledger with the hash of the content, and the content beside it."""
        salt, text = random_bytes(16).hex(), canonical_json(content).decode()
        told = {"record": f"{kind}/{identifier}", "content": _digest(salt, text, identifier), **public}
        number = self.chain.append(f"{kind}.{act}", told, at=self._at).number
        row = {"entry": number, "kind": kind, "id": identifier, "content": text, "salt": salt}
        self._connection.execute(insert(self._tables.version).values(row))
        return number


def _belongs(row: Any, entry: LedgerEntry) -> bool:
    """Whether what stands beside the chain is about the record that the entry names; all or nothing of it is left.

    SQLite takes any value in any column.
    """
    same = entry.payload.get("record") == f"{row.kind}/{row.id}" and entry.kind.startswith(f"{row.kind}.")
    return same and type(row.content) is type(row.salt) and isinstance(row.content, str | None)


def _check_status(kind: RecordKind, act: RecordAct, identifier: str, before: RecordState | None) -> None:
    if act.begins and before is not None:
        raise InputError(f"there is a {kind.name} '{identifier}' already")
    if not act.begins and before is None:
        raise InputError(f"there is no {kind.name} '{identifier}'")
    if before is not None and before.status not in act.when:
        able = [name for name, other in kind.acts.items() if before.status in other.when]
        advice = f"what can be done with it: {', '.join(able)}" if able else "nothing more can be done with it"
        raise InputError(f"{kind.name} '{identifier}' is {before.status}: it can't {act.name} now", advice=advice)


def _read_given(act: RecordAct, given: Mapping[str, Any] | ActInput) -> ActInput:
    if isinstance(given, act.given):
        return given
    try:
        read = act.given.model_validate(dict(given) if isinstance(given, Mapping) else given)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = str(first["loc"][0]) if first["loc"] else None
        raise InputError(validation_message(first), field=field) from None
    for name, value in read.model_dump(mode="json").items():
        if not _is_text(value):
            raise InputError("holds characters that can't be written down", field=name)
    return read


def _is_text(value: object) -> bool:
    """Halves of characters and zeros are none to a database."""
    if isinstance(value, str):
        return "\0" not in value and not any("\ud800" <= char <= "\udfff" for char in value)
    if isinstance(value, Mapping):
        return all(_is_text(each) for each in value.values())
    return not isinstance(value, list) or all(_is_text(each) for each in value)


def _state_in(content: str | None, model: type[RecordState]) -> RecordState:
    try:
        return model.model_validate(json.loads(content or "")["state"])
    except (ValueError, KeyError, TypeError, ValidationError):
        raise IntegrityError("the registry holds a record that can't be read") from None


def _digest(salt: str | None, text: str, identifier: str) -> str:
    return hashlib.sha256("\0".join((salt or "", identifier, text)).encode()).hexdigest()
