"""How alike several synthetic tables are, and what attacks get out of them.

As for one table, the method learns once more from a random half of the people, with all that hangs on them, and what is
drawn from that is attacked with the other half as control group. Whoever attacks holds all tables: each record is
attacked together with what it hangs on, and of each person one record is taken, since those of one person are alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from shoal.assess.synthetic import TableRelations, assess_synthetic_tables
from shoal.errors import DataError
from shoal.randomness import Randomness
from shoal.results.synthesis import SyntheticAssessment, SyntheticTablesAssessment
from shoal.results.synthesis.synthesis_result import AttackedTable
from shoal.schema.progress import Monitor
from shoal.synthetic_release.evidence import FEWEST, TOO_FEW, SyntheticEvidence

Tables = Mapping[str, pl.DataFrame]
Rehearsal = Callable[[Tables], Tables]


@dataclass(frozen=True)
class RelatedEvidence:
    """Empty where nothing was measured."""

    assessment: SyntheticTablesAssessment | None = None
    attacked: AttackedTable | None = None
    why_not: str | None = None

    def of(self, table: str) -> SyntheticEvidence:
        """What of it is about one table."""
        found = None if self.assessment is None else self.assessment.tables.get(table)
        attacked = self.attacked if found is not None and found.attacks else None
        return SyntheticEvidence(found, attacked, self.why_not)


@dataclass(frozen=True)
class RelatedStudy:
    original: Tables
    relations: TableRelations
    leave_out: Mapping[str, Sequence[str]]
    randomness: Randomness
    monitor: Monitor
    require: Mapping[str, float] = field(default_factory=dict)

    def gather(self, synthetic: Tables, control: Tables | None, rehearsal: Rehearsal) -> RelatedEvidence:
        whole = self._assessed(self.original, synthetic, control, attacks=control is not None)
        if control is not None:
            return RelatedEvidence(whole, AttackedTable.RELEASE)
        learnt, strangers = self._halves()
        main = self.relations.main
        if min(learnt[main].height, strangers[main].height) < FEWEST:
            return RelatedEvidence(whole, why_not=TOO_FEW)
        try:
            drawn = rehearsal(learnt)
        except DataError:
            return RelatedEvidence(whole, why_not=TOO_FEW)
        attacked = replace(self, require={})._assessed(learnt, drawn, strangers, fidelity=False)
        joined = {
            name: one.with_attacks_of(attacked.tables[name]) if name in attacked.tables else one
            for name, one in whole.tables.items()
        }
        return RelatedEvidence(self._gated(whole, joined), AttackedTable.REHEARSAL)

    def _gated(
        self, whole: SyntheticTablesAssessment, tables: Mapping[str, SyntheticAssessment]
    ) -> SyntheticTablesAssessment:
        from shoal.assess.synthetic import with_gates
        from shoal.assess.synthetic.gates import OF_SEVERAL

        own = {name: bound for name, bound in self.require.items() if name not in OF_SEVERAL}
        return whole.model_copy(update={"tables": {name: with_gates(one, own) for name, one in tables.items()}})

    def _assessed(
        self,
        original: Tables,
        synthetic: Tables,
        control: Tables | None,
        *,
        fidelity: bool = True,
        attacks: bool = True,
    ) -> SyntheticTablesAssessment:
        return assess_synthetic_tables(
            original,
            synthetic,
            relations=self.relations,
            control=control,
            leave_out=self.leave_out,
            require=self.require,
            randomness=self.randomness,
            monitor=self.monitor,
            fidelity=fidelity,
            attacks=attacks,
        )

    def _halves(self) -> tuple[dict[str, pl.DataFrame], dict[str, pl.DataFrame]]:
        keys = self.original[self.relations.main][self.relations.person_key()]
        mixed = keys[self.randomness.stream("synth", "rehearsal").permutation(len(keys)).tolist()]
        middle = (len(mixed) + 1) // 2
        first, second = (self.relations.some_people(self.original, half) for half in (mixed[:middle], mixed[middle:]))
        return first, second
