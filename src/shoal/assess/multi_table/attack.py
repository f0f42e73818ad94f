"""``shoal attack`` on a release of several tables: each of them, and whom all of them together give away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import polars as pl

from shoal.assess.attack.request import AttackRequest
from shoal.assess.attack.table_attack import NothingToAttackError, attack_data, read_table
from shoal.assess.comparison.paired_tables import known_labels
from shoal.assess.multi_table.joined_risk import in_words
from shoal.assess.multi_table.table_set import TableSet, originals_of
from shoal.attack import Attack
from shoal.attack.attacks.joined_linking import JoinedTable, joined_linking
from shoal.attack.ground_truth.targets import TRIALS
from shoal.attack.result import NothingToTryError
from shoal.errors import DataError, FieldText, InputError
from shoal.io import ReaderOptions, Source
from shoal.measurement.risk.joined_tables import JoinableTable, JoinedTables, KeyGroup
from shoal.privacy import ModelFinding
from shoal.randomness import Randomness
from shoal.results.attack_report import AttackReport
from shoal.results.attack_results import AttackResult, JoinedAttackResult, MultiTableAttackResult
from shoal.results.attack_roles import AttackRoles
from shoal.schema.progress import Monitor

JOINED = "joined_linking"


@dataclass(frozen=True)
class MultiTableAttack:
    joined: tuple[Attack, ...]
    """Over the joined tables: one for each kind of key that people go by."""
    skipped: str | None
    """Why that was not tried."""
    unjudged: bool
    """Whether it might have found something."""
    tables: Mapping[str, AttackReport]
    nothing: tuple[str, ...]
    """Tables in which there is nothing to attack."""

    def findings(self, bounds: Mapping[str, float], *, safe: bool = False) -> tuple[ModelFinding, ...]:
        """As of one table; an attack that is asked about has to be tried in one of them."""
        found: list[ModelFinding] = []
        for one in self.joined:
            if JOINED in bounds:
                share = one.success.share
                found.append(ModelFinding(JOINED, bounds[JOINED], share, share <= bounds[JOINED]))
            if safe:
                against = f"{JOINED} against guessing"
                found.append(ModelFinding(against, one.limit.share, one.success.share, not one.found))
        if safe and self.unjudged:
            found.append(ModelFinding(f"{JOINED}: what it finds", 0, inf, met=False))
        tried = {JOINED} if self.joined or not self.unjudged else set()
        for name, report in self.tables.items():
            own = {attack.key for attack in report.done.attacks}
            tried |= own
            asked = {key: bound for key, bound in bounds.items() if key in own}
            told = report.findings(asked, safe=safe)
            found += [
                ModelFinding(FieldText(f"{name}: ", one.name), one.required, one.achieved, one.met) for one in told
            ]
        missing = (ModelFinding(key, bound, inf, met=False) for key, bound in bounds.items() if key not in tried)
        return (*found, *missing)

    @property
    def doubts(self) -> tuple[str, ...]:
        return tuple(f"{name}: {doubt}" for name, report in self.tables.items() for doubt in report.doubts)

    def result(self) -> MultiTableAttackResult:
        joined = JoinedAttackResult(
            attacks=tuple(AttackResult.of(attack) for attack in self.joined),
            skipped=self.skipped,
            unjudged=self.unjudged,
            found=tuple(attack.key for attack in self.joined if attack.found),
        )
        tables = {name: report.result() for name, report in self.tables.items()}
        return MultiTableAttackResult(joined=joined, tables=tables, nothing_to_attack=self.nothing)

    def to_dict(self) -> dict[str, Any]:
        return self.result().to_dict()


def attack_tables(  # noqa: PLR0913  # one argument per option of `shoal attack`
    tables: TableSet,
    original: str,
    *,
    trials: int = TRIALS,
    seed: int | None = None,
    reader: ReaderOptions | None = None,
    monitor: Monitor | None = None,
) -> MultiTableAttack:
    """Every table is a phase of its own, and so is joining them."""
    monitor = monitor or Monitor()
    if tables.manifest is None:
        raise InputError(f"{tables.place}: is not a release of several tables")
    originals = originals_of(tables, original, reader)
    roles = {name: AttackRoles.by(tables.policy(name), tables.folder(name)) for name in tables.sources}
    with monitor.phase("join"):
        joined, skipped, unjudged = _joined(tables, originals, roles, trials, seed)
    reports, nothing = {}, []
    for name in tables.sources:
        request = AttackRequest(original=originals[name], roles=roles[name], trials=trials, seed=seed)
        task = f"attack {name}"
        try:
            with monitor.phase(task):
                reports[name] = attack_data(tables.folder(name), request, progress=monitor.progress(task))
        except NothingToAttackError:
            nothing.append(name)
    return MultiTableAttack(joined, skipped, unjudged, reports, tuple(nothing))


def _joined(
    tables: TableSet, originals: Mapping[str, Source], roles: Mapping[str, AttackRoles], trials: int, seed: int | None
) -> tuple[tuple[Attack, ...], str | None, bool]:
    """The attacks over joined tables; why there are none, and whether that leaves something open."""
    risk = tables.joined()
    if not risk.counted:
        return (), "the tables are too large to be joined", True
    if not risk.groups:
        return (), in_words(risk), False
    try:
        pairs = _Pairs(tables, originals, roles, risk.keys)
        linked = (joined_linking(pairs.by(one.group), Randomness(seed), trials=trials) for one in risk.groups)
        return tuple(linked), None, False
    except DataError as error:
        return (), error.text, not isinstance(error, NothingToTryError)


class _Pairs:
    """The tables before and after, with the same keys in both."""

    def __init__(
        self,
        tables: TableSet,
        originals: Mapping[str, Source],
        roles: Mapping[str, AttackRoles],
        groups: Sequence[KeyGroup],
    ) -> None:
        self.tables, self.roles = tables, roles
        names = sorted({name for group in groups for name in group.tables})
        self.after = {name: read_table(tables.folder(name).data, "release") for name in names}
        self.before = {name: read_table(originals[name], "original") for name in names}
        self._after, self._before = (
            JoinedTables({name: JoinableTable(frame.lazy(), ()) for name, frame in frames.items()}, groups)
            for frames in (self.after, self.before)
        )

    def by(self, group: KeyGroup) -> list[JoinedTable]:
        """Those tables of which every record leads to a key of the group."""
        found = []
        for name, release in self.after.items():
            keys, people = (joined.person_of(name, group) for joined in (self._after, self._before))
            if keys is None or people is None:
                continue
            original, policy = self.before[name], self.tables.policy(name)
            quasi = tuple(one for one in self.roles[name].quasi if one in release.columns and one in original.columns)
            known = known_labels(policy, original)
            found.append(JoinedTable(release, original, quasi, _texts(keys), _texts(people), known))
        return found


def _texts(keys: pl.Series) -> pl.Series:
    return keys.cast(pl.String)
