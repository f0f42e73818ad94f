"""A judged synthetic table: one object that is written, shown and held against what was required."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import inf
from typing import Final

from pydantic import Field

from shoal.attack.battery import BatteryResult
from shoal.privacy import ModelFinding
from shoal.results.attack_results import AttackResult
from shoal.results.base import ResultModel, Words
from shoal.results.risk_results import ModelResult
from shoal.results.synthesis.fidelity_result import FidelityResult
from shoal.results.synthesis.key_result import KeyStatisticsResult, SequenceResult

_OF_ATTACKS: Final = ("rows_control", "attacks", "attacks_skipped", "attacks_unjudged")


class SyntheticAssessment(ResultModel):
    version: int = 1
    rows_original: int
    rows_synthetic: int
    rows_control: int | None = None
    """People who were not learned from; None where none were given."""
    attributes: tuple[str, ...]
    """Columns that were compared and attacked."""
    left_out: dict[str, Words]
    """Column → why it was neither compared nor attacked."""
    fidelity: FidelityResult | None = None
    """None where it was not asked for."""
    attacks: tuple[AttackResult, ...] = ()
    attacks_skipped: dict[str, Words] = Field(default_factory=dict)
    """Attack → why it was not tried or judged."""
    attacks_unjudged: tuple[str, ...] = ()
    """Those of them that may find something."""
    gates: tuple[ModelResult, ...] = ()
    """What was required."""

    @property
    def found(self) -> tuple[str, ...]:
        """Attacks that get more out of the table than guessing, and than of people who were not learned from."""
        return tuple(labelled(each) for each in self.attacks if each.found)

    @property
    def met(self) -> bool:
        return all(gate.met for gate in self.gates)

    @property
    def doubts(self) -> tuple[str, ...]:
        """None: whose rows stem from no row can't be of another table."""
        return ()

    def with_attacks(self, done: BatteryResult) -> SyntheticAssessment:
        return self.model_copy(
            update={
                "attacks": tuple(AttackResult.of(each) for each in done.attacks),
                "attacks_skipped": dict(done.skipped),
                "attacks_unjudged": done.unjudged,
            }
        )

    def with_attacks_of(self, other: SyntheticAssessment) -> SyntheticAssessment:
        """What was found of this table, and what attacks on another that stands for it found."""
        return self.model_copy(update={name: getattr(other, name) for name in _OF_ATTACKS})

    def findings(self, *, safe: bool = False) -> tuple[ModelFinding, ...]:
        """What was required; with ``safe``, that no attack gets more than its yardstick, or might."""
        return (*gate_findings(self.gates), *(self._safety() if safe else ()))

    def _safety(self) -> Iterator[ModelFinding]:
        for name in self.attacks_unjudged:
            yield ModelFinding(f"{name}: what it finds", 0, inf, met=False)
        for each in self.attacks:
            yield ModelFinding(f"{labelled(each)} against control", each.limit, each.success.share, not each.found)


class SyntheticTablesAssessment(ResultModel):
    version: int = 1
    tables: dict[str, SyntheticAssessment]
    keys: tuple[KeyStatisticsResult, ...]
    sequences: tuple[SequenceResult, ...] = ()
    gates: tuple[ModelResult, ...] = ()
    """What was required of the tables together."""

    @property
    def met(self) -> bool:
        return all(gate.met for gate in self.gates) and all(table.met for table in self.tables.values())

    @property
    def doubts(self) -> tuple[str, ...]:
        """None, as of one table."""
        return ()

    def findings(self, *, safe: bool = False) -> tuple[ModelFinding, ...]:
        own = (
            ModelFinding(f"{name}: {finding.name}", finding.required, finding.achieved, finding.met)
            for name, table in self.tables.items()
            for finding in table.findings(safe=safe)
        )
        return (*gate_findings(self.gates), *own)


def gate_findings(gates: Iterable[ModelResult]) -> tuple[ModelFinding, ...]:
    """What was required, where no figure could be found the worst."""
    return tuple(
        ModelFinding(gate.name, gate.required, inf if gate.achieved is None else gate.achieved, gate.met)
        for gate in gates
    )


def labelled(attack: AttackResult) -> str:
    return attack.attack + (f" of {attack.attribute}" if attack.attribute else "")
