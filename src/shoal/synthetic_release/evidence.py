"""How alike a synthetic table is, and what attacks get out of it.

Attacks need people who were not learnt from, to tell what is known of everybody from what is known of those in the
source. The released model learns from everybody, so the same method is fitted once more on a random half of the people;
a table drawn from that is attacked with the other half as control group. A model of half the people tells more of each,
so what this rehearsal finds leans to the safe side. Where the caller knows such people, the release itself is attacked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import polars as pl

from shoal.assess.synthetic import assess_synthetic
from shoal.assess.synthetic.gates import check_gates
from shoal.assess.synthetic.same_columns import NothingToCompareError
from shoal.errors import DataError
from shoal.io import Source
from shoal.io.frames import as_lazy
from shoal.randomness import Randomness
from shoal.results.synthesis import SyntheticAssessment
from shoal.results.synthesis.synthesis_result import AttackedTable
from shoal.schema.progress import Monitor
from shoal.synth.stored_types import plain

LOOKED_AT: Final = 100_000
"""Released records that are compared and attacked, at most, unless the source has more."""
REHEARSED: Final = 50_000
"""Records of each half, at most."""
FEWEST: Final = 100
"""Records of a half from which on a rehearsal tells something."""
NOTHING_LEARNT: Final = "every column names records or is left empty, so there is nothing to compare"
TOO_FEW: Final = "the source has too few records to hold half of them back"

Rehearsal = Callable[[pl.DataFrame], pl.DataFrame]
"""The method of the release with all its options: as many records, learnt from the given ones."""


@dataclass(frozen=True)
class SyntheticEvidence:
    """Empty where nothing was measured."""

    assessment: SyntheticAssessment | None = None
    attacked: AttackedTable | None = None
    why_not: str | None = None
    """Why nothing was attacked."""

    @property
    def was_attacked(self) -> bool:
        return self.attacked is not None and self.assessment is not None and bool(self.assessment.attacks)

    @property
    def strangers(self) -> int | None:
        """People in the control group."""
        return None if self.assessment is None or not self.was_attacked else self.assessment.rows_control

    @property
    def found(self) -> tuple[str, ...]:
        """Attacks that get more out of the table than guessing, and than of people who were not learnt from."""
        return () if self.assessment is None else self.assessment.found


@dataclass(frozen=True)
class EvidenceStudy:
    """What is compared with what, and how."""

    original: pl.DataFrame
    released: pl.LazyFrame
    person: str | None
    leave_out: Sequence[str]
    targets: Sequence[str]
    randomness: Randomness
    monitor: Monitor
    require: Mapping[str, float] = field(default_factory=dict)

    def gather(self, control: object, rehearsal: Rehearsal | None) -> SyntheticEvidence:
        """``control`` are people who are not in the source; else it is rehearsed."""
        synthetic = plain(self.released.head(max(LOOKED_AT, self.original.height)).collect(engine="streaming"))
        try:
            whole = self._assessed(self.original, synthetic, attacks=False)
        except NothingToCompareError:
            if self.require or control is not None:
                raise
            return SyntheticEvidence(why_not=NOTHING_LEARNT)
        attacked, why_not = None, None
        if control is not None:
            found = self._assessed(self.original, synthetic, control=_table(control), fidelity=False)
            attacked = AttackedTable.RELEASE
        elif rehearsal is None:
            found, why_not = None, "the model was kept from before, and nobody is known whom it did not learn from"
        else:
            found, why_not = self._rehearsed(rehearsal)
            attacked = None if found is None else AttackedTable.REHEARSAL
        whole = whole if found is None else whole.with_attacks_of(found)
        judged = whole.model_copy(update={"gates": check_gates(whole, self.require)})
        return SyntheticEvidence(judged, attacked, why_not)

    def _rehearsed(self, rehearsal: Rehearsal) -> tuple[SyntheticAssessment | None, str | None]:
        learnt, strangers = self._halves()
        if min(learnt.height, strangers.height) < FEWEST:
            return None, TOO_FEW
        try:
            drawn = rehearsal(learnt)
        except DataError:
            return None, TOO_FEW
        return self._assessed(learnt, drawn, control=strangers, fidelity=False), None

    def _halves(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Of the people: all records of one are in the same half."""
        frame = self.original
        stream = self.randomness.stream("synth", "rehearsal")
        if self.person is None:
            places = stream.permutation(frame.height)[: 2 * REHEARSED]
            middle = (len(places) + 1) // 2
            return frame[sorted(places[:middle])], frame[sorted(places[middle:])]
        people = frame[self.person].unique(maintain_order=True)
        chosen = people[stream.permutation(len(people))[: (len(people) + 1) // 2].tolist()]
        learning = frame[self.person].is_in(chosen.implode())
        return frame.filter(learning).head(REHEARSED), frame.filter(~learning).head(REHEARSED)

    def _assessed(self, original: pl.DataFrame, synthetic: pl.DataFrame, **asked: Any) -> SyntheticAssessment:
        return assess_synthetic(
            original,
            synthetic,
            targets=self.targets,
            leave_out=self.leave_out,
            randomness=self.randomness,
            monitor=self.monitor,
            **asked,
        )


def _table(control: object) -> pl.DataFrame:
    frame = (control.scan() if isinstance(control, Source) else as_lazy(control)).collect(engine="streaming")
    if not frame.height:
        raise DataError("the control group has no records")
    return plain(frame)
