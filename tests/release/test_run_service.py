"""One run for folders, tables in memory and several tables: its events, how it is stopped, what it leaves then."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.assess.exploration import explore
from shoal.engine.polars import PolarsEngine
from shoal.errors import Cancelled, InputError
from shoal.io.frames import FrameSource, FrameTarget
from shoal.plan.dry_run import rehearse
from shoal.policy.multi_table import MultiTablePolicy, load_any
from shoal.release import destinations
from shoal.release.multi_table.run import TOGETHER, release_tables
from shoal.release.pipeline import RunPhase
from shoal.release.request import RunOptions, RunRequest
from shoal.release.run import Run, release_folder
from shoal.schema import Step
from shoal.schema.progress import (
    Advanced,
    CancelToken,
    Monitor,
    NoteMade,
    PhaseFinished,
    PhaseStarted,
    Progress,
    ProgressEvent,
    WarningRaised,
)
from shoal.solve import Problem, solve_cells, solve_lattice, solve_local, solve_rare, solve_wildcards
from shoal.solve.clusters import solve_clusters
from shoal.vault import Passphrase, Vault

pytestmark = pytest.mark.requirement("T-02")

SHY = "Zyxwvut"
ANITA = Passphrase("anita", "a long enough phrase")
PLAIN = """\
shoal: 1
name: people
attributes:
  name: {role: direct}
  age: {role: quasi, hierarchy: {intervals: {widths: [10, 20], origin: 0}}}
  sex: {role: quasi}
  ill: {role: sensitive}
privacy: [{k_anonymity: {k: 3}}]
solve: {suppression_limit: 0.2}
"""
KEPT = PLAIN + "identity: {domain: patients, keep: [name]}\n"
TABLES = """\
shoal: 1
name: two
privacy: [{k_anonymity: {k: 3}}]
solve: {suppression_limit: 0.2}
joined: {accept: what is committed when is tried here}
tables:
"""
BEFORE_COMMIT = [phase for phase in RunPhase if phase is not RunPhase.COMMIT]
Sink = Callable[[ProgressEvent], None]


def table(size: int = 60) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "name": [f"{SHY} {at}" for at in range(size)],
            "age": [20 + at % 15 for at in range(size)],
            "sex": ["f" if at % 2 else "m" for at in range(size)],
            "ill": ["yes" if at % 7 == 0 else "no" for at in range(size)],
        }
    )


@pytest.fixture
def people(tmp_path: Path) -> str:
    table().write_csv(tmp_path / "people.csv")
    return str(tmp_path / "people.csv")


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    with Vault.create(tmp_path / "v.vault", ANITA, state=tmp_path / "state") as vault:
        vault.add_domain("patients")
        vault.add_domain("others")
        yield vault


def kept(vault: Vault, domain: str = "patients") -> int:
    """People whom the vault knows by age and sex."""
    return len(vault.matching(domain, "23 | f", "to see whether there is any"))


def cancelling(token: CancelToken, at: ProgressEvent | type[ProgressEvent], phase: str | None = None) -> Sink:
    """Cancels at an event: this one, or the first of its kind."""

    def sink(event: ProgressEvent) -> None:
        if event == at or (isinstance(at, type) and isinstance(event, at) and phase in (None, event.phase)):
            token.cancel()

    return sink


@pytest.mark.parametrize("in_memory", [True, False])
def test_every_phase_is_told_in_order(tmp_path: Path, people: str, in_memory: bool) -> None:
    events: list[ProgressEvent] = []
    policy = shoal.Policy.from_text(PLAIN)
    given = table() if in_memory else people
    shoal.anonymise(given, policy, output=None if in_memory else tmp_path / "out", seed=1, progress=events.append)
    phases = [event for event in events if isinstance(event, PhaseStarted | PhaseFinished)]
    assert [event.phase for event in phases if isinstance(event, PhaseStarted)] == list(RunPhase)
    for started, finished in zip(phases[::2], phases[1::2], strict=True):
        assert isinstance(started, PhaseStarted)
        assert isinstance(finished, PhaseFinished)
        assert started.phase == finished.phase
        assert finished.seconds >= 0
    during: dict[str, Any] = {}
    for event in events:
        if isinstance(event, PhaseStarted):
            phase = event.phase
        elif isinstance(event, Advanced):
            during.setdefault(event.task, set()).add(phase)
    assert during == {task: {RunPhase(task)} for task in ("solve", "rewrite", "recount")}


def test_warnings_are_those_of_the_manifest_and_evidence_tells_its_attacks(people: str, tmp_path: Path) -> None:
    events: list[ProgressEvent] = []
    policy = shoal.Policy.from_text(
        PLAIN.replace("name: {role: direct}", "name: {role: direct, technique: pseudonymise}")
    )
    request = RunRequest(policy=policy, data=people, output=tmp_path / "out", evidence=True, seed=1)
    release = Run(request, Monitor(events.append)).execute()
    assert release.manifest.warnings
    assert tuple(event.text for event in events if isinstance(event, WarningRaised)) == release.manifest.warnings
    assert any(isinstance(event, Advanced) and event.task == "attack" for event in events)
    assert SHY not in "".join(map(str, events))


def test_one_sequence_gives_the_same_figures(people: str, tmp_path: Path) -> None:
    policy = shoal.Policy.from_text(PLAIN)
    in_memory = shoal.anonymise(pl.read_csv(people, infer_schema=False), policy, seed=1)
    folder = shoal.anonymise(people, policy, output=tmp_path / "out", seed=1)
    told = [release.manifest.to_dict() for release in (in_memory, folder)]
    for one in told:
        for name in ("source", "data", "timing", "peak_rss_mb", "created"):
            one.pop(name, None)
    assert told[0] == told[1]
    assert in_memory.data.equals(pl.read_csv(folder.data, infer_schema=False))


def left(folder: Path, vault: Vault | None = None) -> list[str]:
    """What there is but the data and the vault."""
    known = {"people.csv", "v.vault", "v.vault-wal", "v.vault-shm", "state"}
    assert vault is None or not kept(vault)
    return sorted(path.name for path in folder.iterdir() if path.name not in known)


def test_whenever_it_is_cancelled_nothing_is_left(tmp_path: Path, people: str, vault: Vault) -> None:
    policy = shoal.Policy.from_text(KEPT)
    for phase in BEFORE_COMMIT:
        for kind in (PhaseStarted, PhaseFinished):
            token = CancelToken()
            with pytest.raises(Cancelled, match=r"^interrupted: nothing was written$"):
                shoal.anonymise(
                    people, policy, output=tmp_path / "deep" / "out", vault=vault,
                    progress=cancelling(token, kind, phase), cancel=token,
                )  # fmt: skip
            assert left(tmp_path, vault) == [], (phase, kind)
    release = shoal.anonymise(people, policy, output=tmp_path / "deep" / "out", vault=vault)
    assert release.folder is not None
    assert release.folder.is_dir()
    assert kept(vault)


def test_the_commit_itself_is_not_cut_short(tmp_path: Path, people: str, vault: Vault) -> None:
    token = CancelToken()
    release = shoal.anonymise(
        people, shoal.Policy.from_text(KEPT), output=tmp_path / "out", vault=vault,
        progress=cancelling(token, PhaseStarted(RunPhase.COMMIT)), cancel=token,
    )  # fmt: skip
    assert kept(vault)
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "data.csv", "release.json", "report.html", "recipient.html",
    }  # fmt: skip
    assert release.manifest.met


def test_a_table_in_memory_is_given_back_whole_or_not_at_all(vault: Vault) -> None:
    for phase in BEFORE_COMMIT:
        token = CancelToken()
        with pytest.raises(Cancelled):
            shoal.anonymise(
                table(), shoal.Policy.from_text(KEPT), vault=vault,
                progress=cancelling(token, PhaseFinished, phase), cancel=token,
            )  # fmt: skip
        assert not kept(vault)


def test_cancelled_before_it_began(people: str, tmp_path: Path) -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        shoal.anonymise(people, shoal.Policy.from_text(PLAIN), output=tmp_path / "out", cancel=token)
    assert left(tmp_path) == []


def test_a_listener_that_fails_spoils_nothing(tmp_path: Path, people: str, vault: Vault) -> None:
    """Whatever event it fails at: nothing is there, or all of it."""
    policy, heard = shoal.Policy.from_text(KEPT), list[Any]()
    shoal.anonymise(table(), shoal.Policy.from_text(PLAIN), progress=heard.append)
    last = False
    for number in range(len(heard) + 5):
        seen: list[ProgressEvent] = []

        def bad(event: ProgressEvent, seen: list[ProgressEvent] = seen, number: int = number) -> None:
            seen.append(event)
            if len(seen) > number:
                raise RuntimeError("the listener is gone")

        try:
            shoal.anonymise(people, policy, output=tmp_path / "out", vault=vault, progress=bad)
        except RuntimeError:
            last = seen[-1] == PhaseStarted(RunPhase.COMMIT) or last
            if not isinstance(seen[-1], PhaseFinished) or seen[-1].phase != RunPhase.COMMIT:
                assert left(tmp_path, vault) == [], seen[-1]
                continue
        assert last
        assert left_whole(tmp_path / "out")
        assert kept(vault)
        return
    raise AssertionError("no listener heard the end")


def left_whole(folder: Path) -> bool:
    return {path.name for path in folder.iterdir()} == {"data.csv", "release.json", "report.html", "recipient.html"}


@pytest.fixture
def tables(tmp_path: Path) -> MultiTablePolicy:
    lines = TABLES
    for name, domain in (("one", "patients"), ("two", "others")):
        table().write_csv(tmp_path / f"{name}.csv")
        body = PLAIN.splitlines()
        attributes = body[body.index("attributes:") : body.index("privacy: [{k_anonymity: {k: 3}}]")]
        own = [f"source: {name}.csv", *attributes, f"identity: {{domain: {domain}, keep: [name]}}"]
        lines += f"  {name}:\n" + "".join(f"    {line}\n" for line in own)
    (tmp_path / "two.yaml").write_text(lines)
    policy = load_any(tmp_path / "two.yaml")
    assert isinstance(policy, MultiTablePolicy)
    return policy


def test_several_tables_and_their_vault_entries_come_together(
    tmp_path: Path, tables: MultiTablePolicy, vault: Vault
) -> None:
    """The first table is finished long before the second; still nothing of it is kept if that one is not."""
    out, events = tmp_path / "out", list[Any]()
    for stop in (NoteMade("table 'two'"), PhaseStarted(TOGETHER)):
        token = CancelToken()
        with pytest.raises(Cancelled):
            release_tables(tables, out, secrets=vault, monitor=Monitor(cancelling(token, stop), token))
        assert not out.exists()
        assert not any(path.name.startswith(".out") for path in tmp_path.iterdir())
        assert not kept(vault)
        assert not kept(vault, "others")
    whole = release_tables(tables, out, secrets=vault, monitor=Monitor(events.append))
    assert kept(vault)
    assert kept(vault, "others")
    each = [phase for phase in RunPhase if phase is not RunPhase.COMMIT]
    started = [event.phase for event in events if isinstance(event, PhaseStarted)]
    assert started == [*each, *each, TOGETHER, RunPhase.COMMIT]
    assert all(release.data.is_file() for release in whole.releases.values())


WIDE = """\
shoal: 1
name: wide
attributes:
  a: {role: quasi, hierarchy: {intervals: {widths: [3, 9], origin: 0}}}
  b: {role: quasi, hierarchy: {intervals: {widths: [3, 9], origin: 0}}}
  c: {role: quasi, hierarchy: {intervals: {widths: [3, 9], origin: 0}}}
  d: {role: quasi}
privacy: [{k_anonymity: {k: 5}}]
solve: {suppression_limit: 0.1}
"""


def wide() -> Problem:
    draw = np.random.default_rng(3)
    frame = pl.DataFrame({name: draw.integers(0, 27, 400) for name in "abcd"})
    return rehearse(shoal.Policy.from_text(WIDE), FrameSource(frame.lazy())).problem


SOLVERS: dict[str, Callable[[Problem, Progress], object]] = {
    "global": lambda problem, progress: solve_lattice(problem, progress=progress),
    "local": lambda problem, progress: solve_local(problem, progress=progress),
    "cells": lambda problem, progress: solve_cells(problem, progress=progress),
    "rare": lambda problem, progress: solve_rare(problem, progress=progress),
    "wildcards": lambda problem, progress: solve_wildcards(problem, progress=progress),
    "clustered": lambda problem, progress: solve_clusters(problem, 10, progress=progress),
}


@pytest.mark.parametrize("solver", SOLVERS)
def test_solvers_stop_at_the_next_step(solver: str) -> None:
    problem, (monitor, heard), (_, whole) = wide(), stopping_after(2), stopping_after(0)
    with pytest.raises(Cancelled):
        SOLVERS[solver](problem, monitor.progress("solve"))
    assert len(heard) == 2
    SOLVERS[solver](problem, lambda done, _: whole.append(done))
    assert len(whole) > 2


def stopping_after(steps: int) -> tuple[Monitor, list[int]]:
    token, heard = CancelToken(), []

    def sink(event: ProgressEvent) -> None:
        assert isinstance(event, Advanced)
        heard.append(event.done)
        if len(heard) == steps:
            token.cancel()

    return Monitor(sink, token), heard


def test_an_engine_stops_between_batches() -> None:
    """Also where Polars reads the batches, and would take what they raise for its own."""
    token = CancelToken()
    engine = PolarsEngine(batch_rows=2, cancel=token)
    frame = pl.DataFrame({"a": range(10)})
    read = engine.map(engine.scan(FrameSource(frame.lazy())), [Cancels(token, 3)])
    with pytest.raises(Cancelled):
        engine.counts(read, ("a",))
    token = CancelToken()
    engine = PolarsEngine(batch_rows=2, cancel=token)
    step = Cancels(token, 3)
    with pytest.raises(Cancelled):
        engine.sink(engine.map(engine.scan(FrameSource(frame.lazy())), [step]), FrameTarget())
    assert step.seen < 5


class Cancels(Step):
    """Cancels when it is given its n-th batch."""

    def __init__(self, token: CancelToken, at: int) -> None:
        self.token, self.at, self.seen = token, at, 0

    @property
    def reads(self) -> tuple[str, ...]:
        return ("a",)

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        self.seen += bool(frame.height)
        if self.seen == self.at:
            self.token.cancel()
        return frame


def test_trying_out_stops_between_tries() -> None:
    monitor, heard = stopping_after(2)
    with pytest.raises(Cancelled):
        explore(shoal.Policy.from_text(PLAIN), table(), ks=(2, 3, 4), limits=(0.0, 0.1), monitor=monitor)
    assert heard == [0, 1]


def test_what_is_missing_is_known_before_data_is_read(
    tmp_path: Path, people: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_browser() -> str:
        raise InputError("there is no browser")

    monkeypatch.setattr(destinations, "find_browser", no_browser)
    events: list[ProgressEvent] = []
    with pytest.raises(InputError, match="no browser"):
        release_folder(
            shoal.Policy.from_text(PLAIN), tmp_path / "out", data=people, pdf=True, monitor=Monitor(events.append)
        )
    assert events == []
    assert left(tmp_path) == []


def test_a_request_shows_no_data_and_takes_no_unknown_field() -> None:
    policy = shoal.Policy.from_text(PLAIN)
    request = RunOptions(seed=4).for_table(policy, table(), control=table())
    assert request.seed == 4
    assert request.study() is not None
    assert RunRequest(policy=policy).study() is None
    assert SHY not in repr(request)
    with pytest.raises(InputError, match="sead") as refused:
        RunRequest(policy=policy, data=table(), sead=1)  # type: ignore[call-arg]
    assert SHY not in str(refused.value)
