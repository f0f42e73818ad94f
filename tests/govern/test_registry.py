"""The registry: rights, statuses, history, purging; a chain that shows whatever was done to it."""

from __future__ import annotations

import datetime
import sqlite3
from collections import Counter
from contextlib import closing
from enum import Enum
from itertools import product
from pathlib import Path
from random import Random
from string import printable
from typing import Any, get_args, get_origin

import pytest
from tests.govern.conftest import FORM, Clock, Do, complete_steps, copied, enter_release, open_project, staffed

from shoal.crypto import Key
from shoal.crypto.signatures import public_key
from shoal.errors import AccessError, BugError, InputError, IntegrityError, ShoalError, SourceError, TargetError
from shoal.govern import registry as registry_module
from shoal.govern.record_kinds import ActInput, RecordState, record_kinds
from shoal.govern.registry import PURGED, GovernanceRegistry
from shoal.govern.rights import allowing_roles, is_allowed, role_rights
from shoal.schema.parameters import Parameters

ACTS = [(name, act) for name, kind in record_kinds for act in kind.acts]
EVERYTHING = [*ACTS, *((name, PURGED) for name, _ in record_kinds)]


@pytest.mark.requirement("G-08")
@pytest.mark.parametrize("role", role_rights())
def test_each_role_may_do_what_its_line_says_and_nothing_else(registry: GovernanceRegistry, role: str) -> None:
    """Every act of every kind: refused for its right, or not for its right."""
    for kind, act in EVERYTHING:
        try:
            if act == PURGED:
                registry.purge(kind, "nothing", by=role, reason="no use")
            else:
                registry.perform(kind, act, "nothing", _filled(kind, act), by=role)
        except AccessError as error:
            assert not is_allowed([role], f"{kind}.{act}"), error
        except InputError:
            assert is_allowed([role], f"{kind}.{act}")
        else:
            assert is_allowed([role], f"{kind}.{act}")


def _filled(kind: str, act: str) -> ActInput:
    """Something that its form takes, true or not."""
    model = record_kinds.get(kind).acts[act].given
    return model.model_validate(
        {name: _example(name, one.annotation) for name, one in model.model_fields.items() if one.is_required()}
    )


def _example(name: str, annotation: Any) -> Any:
    said = {
        "roles": ["auditor"], "signatories": ["a", "b"], "jurisdiction": "india", "key_fingerprint": "0" * 16,
        "identity": "0" * 32, "sha256": "0" * 64, "data_sha256": "0" * 64, "answers": [1, 1, 1, 1],
        "recipient": f"age1{'q' * 58}",
    }  # fmt: skip
    if name in said:
        return said[name]
    if get_origin(annotation) is tuple:
        return [_example("", get_args(annotation)[0])]
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return next(iter(annotation))
    if isinstance(annotation, type) and issubclass(annotation, Parameters):
        return {key: _example(key, one.annotation) for key, one in annotation.model_fields.items()}
    return {int: 1, datetime.date: "2027-01-01", bool: True}.get(annotation, "x")


STATUSES = {name: sorted({when for act in kind.acts.values() for when in act.when}) for name, kind in record_kinds}


@pytest.mark.requirement("G-08")
@pytest.mark.parametrize("kind", STATUSES)
def test_an_act_is_done_in_the_statuses_that_it_names_and_in_no_other(
    registry: GovernanceRegistry, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Every act of a kind in every status of it, and on nothing, by somebody who has the right."""
    known = registry_module._RegistryTransaction._found  # the one place that a status comes from
    model = record_kinds.get(kind).state
    for act, status in product(record_kinds.get(kind).acts.values(), ["", *STATUSES[kind]]):

        def found(self: Any, asked: str, identifier: str, status: str = status) -> RecordState | None:
            if (asked, identifier) != (kind, "one"):
                return known(self, asked, identifier)
            return model.model_construct(status=status) if status else None

        monkeypatch.setattr(registry_module._RegistryTransaction, "_found", found)
        role = next(name for name in role_rights() if is_allowed([name], f"{kind}.{act.name}"))
        refused = ""
        try:
            registry.perform(kind, act.name, "one", _filled(kind, act.name), by=role)
        except InputError as error:
            refused = error.message
        except (AccessError, AttributeError, TypeError, IntegrityError):
            refused = "by the act itself"
        able = status in act.when if status else act.begins
        told = any(word in refused for word in ("it can't", "there is no " + kind + " 'one'", "there is a "))
        assert told != able, f"{kind}.{act.name} in '{status}': {refused}"


def test_each_act_is_somebodys() -> None:
    """An act that no role has could never be done; a pattern that fits no act is a slip."""
    for kind, act in EVERYTHING:
        assert is_allowed(role_rights(), f"{kind}.{act}"), f"{kind}.{act}"
    for name, rights in role_rights().items():
        for pattern in rights.acts:
            assert any(_fits(pattern, f"{kind}.{act}") for kind, act in EVERYTHING), f"{name}: {pattern}"


def _fits(pattern: str, act: str) -> bool:
    from fnmatch import fnmatchcase

    return fnmatchcase(act, pattern)


@pytest.mark.parametrize("who", ["nobody", "", "tester; DROP TABLE"])
def test_strangers_do_nothing(registry: GovernanceRegistry, who: str) -> None:
    with pytest.raises(AccessError, match="nobody who may act"):
        registry.perform("project", "open", "x", {"use_case": "retention"}, by=who)


@pytest.mark.requirement("G-08")
def test_who_was_dismissed_does_nothing_more(registry: GovernanceRegistry, do: Do) -> None:
    do("devi", "person.dismiss", "manager")
    with pytest.raises(AccessError, match="nobody who may act"):
        do("manager", "source.add", "db", title="wards", owner="asha")


@pytest.mark.requirement("G-08")
def test_nobody_changes_their_own_rights_and_one_administrator_stays(do: Do) -> None:
    with pytest.raises(AccessError, match="their own roles"):
        do("devi", "person.change-roles", "devi", roles=["administrator", "tester"])
    do("devi", "person.dismiss", "administrator")
    with pytest.raises(InputError, match="another administrator first"):
        do("devi", "person.dismiss", "devi")


@pytest.mark.requirement("G-07")
def test_lapsed_training_stops_a_release(do: Do, clock: Clock, registry: GovernanceRegistry) -> None:
    open_project(do)
    clock.pass_days(364)
    enter_release(do)
    clock.pass_days(3)
    with pytest.raises(AccessError, match="training that lapsed on 2027-03-02"):
        do("data-manager", "release.enter", "2027-q1", project="hospital", k=5)
    assert ("person", "data-manager") in {(one.kind, one.identifier) for one in registry.due(clock().date())}
    do("devi", "person.train", "data-manager", topic="data lifecycle", marks=59)
    with pytest.raises(AccessError, match="lapsed"):
        do("data-manager", "release.enter", "2027-q1", project="hospital", k=5)
    do("devi", "person.train", "data-manager", topic="data lifecycle", marks=60)
    do("data-manager", "release.enter", "2027-q1", project="hospital", k=5)


def test_an_act_that_is_refused_leaves_nothing(registry: GovernanceRegistry, do: Do) -> None:
    before = registry.verify()
    with pytest.raises(InputError, match="over"):
        open_project(do)
        do("manager", "request.submit", "R-1", project="hospital", **{**FORM, "until": "2026-01-01"})
    assert registry.verify().entries == before.entries + 1
    with pytest.raises(InputError, match="there is no request 'R-1'"):
        registry.state("request", "R-1")


@pytest.mark.parametrize("identifier", ["", "a b", "../x", "x" * 65, "ä", "a\n", "-x"])
def test_identifiers(do: Do, identifier: str) -> None:
    with pytest.raises(InputError, match="identifier has"):
        do("chief-investigator", "project.open", identifier, use_case="retention")


def test_unknown_kinds_and_acts_are_told_with_the_nearest(registry: GovernanceRegistry) -> None:
    with pytest.raises(InputError, match="did you mean 'project'"):
        registry.perform("projct", "open", "x", {}, by="devi")
    with pytest.raises(InputError, match="did you mean 'approve'"):
        registry.perform("request", "aprove", "x", {}, by="devi")


def test_a_clock_that_was_moved_back_is_refused(do: Do, clock: Clock) -> None:
    open_project(do)
    clock.pass_days(-1)
    with pytest.raises(InputError, match="clock of this machine"):
        do("chief-investigator", "project.note", "hospital", about="decision", text="later")
    clock.pass_days(1 - 1 / 1440)
    do("chief-investigator", "project.note", "hospital", about="decision", text="clocks differ by a minute")


@pytest.mark.requirement("G-11")
def test_purging_takes_words_away_and_keeps_the_chain(
    registry: GovernanceRegistry, do: Do, file_place: str, clock: Clock
) -> None:
    open_project(do)
    do("manager", "request.submit", "R-1", project="hospital", **FORM)
    registry.checkpoint(Key(bytes(32)))
    with pytest.raises(AccessError, match="no right"):
        registry.purge("request", "R-1", by="tester", reason="because")
    with pytest.raises(InputError, match="why"):
        registry.purge("person", "tester", by="devi", reason=" ")
    assert registry.purge("person", "tester", by="devi", reason="left; two years are over") == 2
    facts = registry.verify(signers=[public_key(Key(bytes(32)))])
    assert facts.purged == 2
    with pytest.raises(InputError, match="there is no person 'tester'"):
        registry.state("person", "tester")
    rows = (
        sqlite3.connect(file_place).execute("SELECT content FROM shoal_registry_version WHERE id='tester'").fetchall()
    )
    assert [row[0] is None for row in rows] == [True, True, False]


@pytest.mark.requirement("G-11")
def test_a_request_that_is_over_can_be_purged(registry: GovernanceRegistry, do: Do, file_place: str) -> None:
    """It has a name and how to reach it, which is personal data too."""
    open_project(do)
    do("manager", "request.submit", "R-1", project="hospital", **FORM)
    with pytest.raises(InputError, match="it is not over"):
        registry.purge("request", "R-1", by="privacy-officer", reason="no use")
    do("chief-investigator", "request.reject", "R-1", reason="no basis")
    assert registry.purge("request", "R-1", by="privacy-officer", reason="two years are over") == 2
    assert registry.verify().purged == 2
    connection = sqlite3.connect(file_place)
    connection.execute("VACUUM")
    assert FORM["seeker"].encode() not in Path(file_place).read_bytes()


@pytest.mark.requirement("G-08")
def test_nobody_has_two_accounts(do: Do) -> None:
    do("devi", "person.admit", "asha", roles=["co-director"], number="E-17")
    with pytest.raises(InputError, match=r"number e-17 is asha's"):
        do("devi", "person.admit", "asha.rao", roles=["manager"], number="e-17")
    with pytest.raises(InputError, match="would not be told from"):
        do("devi", "person.admit", "Asha", roles=["manager"])
    do("devi", "person.dismiss", "asha")
    do("devi", "person.admit", "asha.rao", roles=["manager"], number="E-17")


@pytest.mark.requirement("G-11")
def test_nothing_is_purged_too_early_or_under_a_hold(registry: GovernanceRegistry, do: Do, clock: Clock) -> None:
    open_project(do)
    enter_release(do, retain_until="2026-06-01")
    with pytest.raises(InputError, match="kept until 2026-06-01"):
        registry.purge("release", "2026-q1", by="data-manager", reason="no use")
    do("data-manager", "release.hold", "2026-q1", reason="a court's order")
    clock.pass_days(120)
    with pytest.raises(InputError, match="held: a court's order"):
        registry.purge("release", "2026-q1", by="data-manager", reason="no use")
    do("data-manager", "release.lift-hold", "2026-q1", reason="it is over")
    assert ("release", "2026-q1") in {(one.kind, one.identifier) for one in registry.due(clock().date())}
    assert registry.purge("release", "2026-q1", by="data-manager", reason="no use") == 3


@pytest.mark.requirement("G-09")
def test_whoever_writes_into_the_file_is_seen(
    registry: GovernanceRegistry, do: Do, file_place: str, tmp_path: Path
) -> None:
    open_project(do)
    complete_steps(do)
    registry.checkpoint(Key(bytes(32)))
    for number, statement in enumerate(["SELECT 1", *FORGERIES]):
        copy = copied(file_place, tmp_path / f"{number}.db")
        with sqlite3.connect(copy) as connection:
            assert connection.execute(statement, {"step": STEP}).rowcount, statement
        connection.close()
        with GovernanceRegistry.open(copy) as forged:
            if number == 0:
                assert forged.verify(signers=[public_key(Key(bytes(32)))]).entries > 20
            else:
                with pytest.raises(IntegrityError):
                    forged.verify(signers=[public_key(Key(bytes(32)))])


STEP = 3 + 2 * len(role_rights())
"""The entry of the first step: after the registry, who was admitted and trained, and the project."""
FORGERIES = [
    "UPDATE shoal_registry_version SET content = replace(content, 'done', 'doen') WHERE entry = :step",
    "UPDATE shoal_registry_version SET content = NULL WHERE entry = :step",
    "UPDATE shoal_registry_version SET id = 'other' WHERE entry = :step",
    "UPDATE shoal_registry_version SET salt = 'x' WHERE entry = :step",
    "DELETE FROM shoal_registry_version WHERE entry = :step",
    "INSERT INTO shoal_registry_version VALUES (999, 'person', 'eve', '{}', '')",
    "UPDATE shoal_registry_record SET status = 'closed' WHERE kind = 'project'",
    "UPDATE shoal_registry_record SET entry = entry - 1 WHERE kind = 'project'",
    "UPDATE shoal_registry_record SET project = 'other' WHERE kind = 'project'",
    "DELETE FROM shoal_registry_record WHERE kind = 'project'",
    "INSERT INTO shoal_registry_record VALUES ('person', 'eve', 2, '', 'active')",
    "DELETE FROM shoal_ledger_registry WHERE number = (SELECT max(number) FROM shoal_ledger_registry)",
    "DELETE FROM shoal_registry_due WHERE id = 'auditor'",
    "UPDATE shoal_registry_due SET day = '2099-01-01' WHERE id = 'auditor'",
    "INSERT INTO shoal_registry_due VALUES ('person', 'eve', '2027-01-01', 'nothing', '')",
    "UPDATE shoal_ledger_registry SET at = '2020-01-01T00:00:00+00:00' WHERE number = :step",
    "UPDATE shoal_ledger_registry SET kind = 'project.close' WHERE number = :step",
]


@pytest.mark.requirement("G-09")
def test_a_record_that_points_at_a_purge_is_seen(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> None:
    place = copied(_prepared(tmp_path_factory), tmp_path / "registry.db")
    with closing(sqlite3.connect(place, isolation_level=None)) as connection:
        purge = "SELECT number FROM shoal_ledger_registry WHERE kind = 'person.purge'"
        statement = f"UPDATE shoal_registry_record SET entry = ({purge}) WHERE kind = 'project'"  # noqa: S608
        assert connection.execute(statement).rowcount == 1
    with GovernanceRegistry.open(place) as registry, pytest.raises(IntegrityError, match="project 'hospital'"):
        registry.verify()


@pytest.mark.requirement("G-09")
@pytest.mark.parametrize("number", [60, pytest.param(10_000, marks=pytest.mark.slow)])
def test_no_random_change_goes_unseen(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path, number: int) -> None:
    """Any cell of the chain, of what it says and of what follows from it, any row removed, put in or exchanged; with a
    checkpoint by a key held elsewhere."""
    before = Path(_prepared(tmp_path_factory)).read_bytes()
    draw, place, signers = Random(number), tmp_path / "registry.db", [public_key(Key(bytes(32)))]
    made: Counter[str] = Counter()
    while made.total() < number:
        place.write_bytes(before)
        change = draw.choice(CHANGES)
        table = draw.choice(TABLES)
        with closing(sqlite3.connect(place, isolation_level=None)) as connection:
            try:
                told = change(draw, connection, table)
            except sqlite3.IntegrityError:
                continue  # the database itself refuses it
        with GovernanceRegistry.open(str(place)) as registry:
            try:
                registry.verify(signers=signers)
            except IntegrityError:
                made[change.__name__] += 1
            else:
                pytest.fail(f"unseen after {made.total()}: {table}: {told}")
    assert len(made) == len(CHANGES)


TABLES = ["shoal_ledger_registry", "shoal_registry_version", "shoal_registry_record", "shoal_registry_due"]


def changed_cell(draw: Random, connection: sqlite3.Connection, table: str) -> str:
    names, row = some_rows(draw, connection, table, 1)
    column = draw.randrange(len(names))
    old = row[0][column + 1]
    while (new := another(draw, old)) == old and type(new) is type(old):
        continue
    connection.execute(f"UPDATE {table} SET {names[column]} = ? WHERE rowid = ?", (new, row[0][0]))  # noqa: S608
    return f"{names[column]} of row {row[0][0]}"


def removed_row(draw: Random, connection: sqlite3.Connection, table: str) -> str:
    _, row = some_rows(draw, connection, table, 1)
    connection.execute(f"DELETE FROM {table} WHERE rowid = ?", (row[0][0],))  # noqa: S608
    return f"row {row[0][0]}"


def added_row(draw: Random, connection: sqlite3.Connection, table: str) -> str:
    """Like one that is there, but for one cell, which may be its key."""
    names, row = some_rows(draw, connection, table, 1)
    cells = list(row[0][1:])
    column = draw.randrange(len(names))
    cells[column] = another(draw, cells[column])
    connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(cells))})", cells)  # noqa: S608
    return f"like row {row[0][0]} but for {names[column]}"


def exchanged_rows(draw: Random, connection: sqlite3.Connection, table: str) -> str:
    """All but their keys."""
    names, rows = some_rows(draw, connection, table, 2)
    kept = {"number", "entry"} if table in TABLES[:2] else {"kind", "id"}
    others = [place for place, name in enumerate(names) if name not in kept]
    same = [[row[place + 1] for place in range(len(names)) if (place in others) is left] for left in (True, False)
            for row in rows]  # fmt: skip
    if same[0] == same[1] or same[2] == same[3]:
        raise sqlite3.IntegrityError("nothing would change")
    told = ", ".join(f"{names[place]} = ?" for place in others)
    for row, other in (rows, rows[::-1]):
        values = [other[place + 1] for place in others]
        connection.execute(f"UPDATE {table} SET {told} WHERE rowid = ?", (*values, row[0]))  # noqa: S608
    return f"rows {rows[0][0]} and {rows[1][0]}"


CHANGES = (changed_cell, removed_row, added_row, exchanged_rows)


def some_rows(
    draw: Random, connection: sqlite3.Connection, table: str, number: int
) -> tuple[list[str], list[tuple[Any, ...]]]:
    rows = connection.execute(f"SELECT rowid, * FROM {table}").fetchall()  # noqa: S608  # one of three names
    names = [column[1] for column in connection.execute(f"PRAGMA table_info({table})")]
    return names, draw.sample(rows, number)


def another(draw: Random, old: object) -> object:
    if isinstance(old, int):
        return draw.choice([old + 1, old - 1, draw.randrange(-5, 10**6)])
    if isinstance(old, bytes) and old:
        place = draw.randrange(len(old))
        flipped = old[:place] + bytes([old[place] ^ 1 << draw.randrange(8)]) + old[place + 1 :]
        return draw.choice([flipped, old[:place], draw.randbytes(len(old)), b""])
    if isinstance(old, str) and old:
        place = draw.randrange(len(old))
        return draw.choice([old[:place] + draw.choice(printable) + old[place + 1 :], old[:place], f"{old} ", "", None])
    return draw.choice(["x", 0, b"x"])


_KEPT: list[str] = []


def _prepared(factory: pytest.TempPathFactory) -> str:
    if not _KEPT:
        place = str(factory.mktemp("registry") / "registry.db")
        with staffed(place) as registry:
            registry.perform("project", "open", "hospital", {"use_case": "retention"}, by="chief-investigator")
            registry.perform("project", "complete", "hospital", {"step": 1, "note": "x"}, by="chief-investigator")
            registry.purge("person", "seeker", by="devi", reason="left")
            registry.checkpoint(Key(bytes(32)))
        _KEPT.append(place)
    return _KEPT[0]


def usual_of(kind: str, act: str = "") -> dict[str, Any]:
    return _filled(kind, act or next(iter(record_kinds.get(kind).acts))).model_dump(mode="json")


HOSTILE = [
    "",
    " ",
    "\0",
    "x" * 5000,
    "\udcff",
    "'; DROP TABLE x;--",
    10**30,
    -1,
    [],
    {},
    "9999-12-31",
    "0001-01-01",
    "1e400",
]


@pytest.mark.requirement("G-01", "G-03")
@pytest.mark.parametrize("kind", STATUSES)
def test_whatever_is_given_is_taken_or_told_in_a_line(registry: GovernanceRegistry, kind: str, clock: Clock) -> None:
    tried = 0
    for act, declared in record_kinds.get(kind).acts.items():
        usual = usual_of(kind, act)
        by = allowing_roles(f"{kind}.{act}")[0]
        for name, given in product(declared.given.model_fields, HOSTILE):
            tried += 1
            try:
                registry.perform(kind, act, f"r-{tried}", {**usual, name: given}, by=by)
            except ShoalError as error:
                assert not isinstance(error, BugError), (act, name, given)
                assert "\n" not in error.message
    for by in ("\0", "\udcff", "x" * 5000):
        with pytest.raises(AccessError):
            registry.perform(kind, next(iter(record_kinds.get(kind).acts)), "r", usual_of(kind), by=by)
    registry.verify()


def test_what_is_due_fits_its_columns(place: str) -> None:
    with staffed(place) as registry:
        registry.perform("source", "add", "s", {"title": "x", "owner": "o" * 500}, by="manager")
        registry.perform("person", "train", "manager", {"topic": "t" * 500, "marks": 0}, by="devi")
        registry.verify()


def test_what_is_no_registry_is_told(tmp_path: Path, file_place: str, registry: GovernanceRegistry) -> None:
    with pytest.raises(SourceError, match="no such registry"):
        GovernanceRegistry.open(str(tmp_path / "none.db"))
    other = tmp_path / "other.db"
    sqlite3.connect(other).execute("CREATE TABLE t (a)").connection.commit()
    with pytest.raises(InputError, match="is no registry"):
        GovernanceRegistry.open(str(other))
    text = tmp_path / "text.db"
    text.write_text("hello " * 1000)
    with pytest.raises((IntegrityError, SourceError, InputError)):
        GovernanceRegistry.open(str(text))
    with pytest.raises(TargetError, match="already"):
        GovernanceRegistry.create(file_place, "eve")


def test_the_same_on_a_server(place: str) -> None:
    with staffed(place) as registry:
        registry.perform("project", "open", "hospital", {"use_case": "retention"}, by="chief-investigator")
        assert registry.verify().records == len(role_rights()) + 2
        assert registry.purge("person", "seeker", by="devi", reason="left") == 2
        assert registry.verify().purged == 2
        assert [one.act for one in registry.history("person", "tester")] == ["admit", "train"]
