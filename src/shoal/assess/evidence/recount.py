"""The output of a run, measured as it was written, by code that does not know the solver."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.assess.measure.missing_values import read_stars_by_policy
from shoal.assess.read_back.judgement import SampledRecords, Taught, WrittenRecords, as_written, judge_read_back
from shoal.errors import BugError, DataError
from shoal.hierarchy import BoundHierarchy
from shoal.hierarchy.value_order import ValueOrder
from shoal.kernels.arrays import Mask
from shoal.kernels.group_counts import count_groups
from shoal.measurement import Measurement, SensitiveKnowledge
from shoal.measurement.risk.anatomy import Anatomy, measure_anatomy
from shoal.measurement.risk.equivalence_classes import classes_of
from shoal.measurement.risk.identifier_uniqueness import count_with_uniques
from shoal.measurement.risk.population_classes import need_enough_people
from shoal.measurement.suppressed_groups import SuppressedParts, suppressed_groups
from shoal.measurement.usefulness.information_loss import Generalised, cell_figures, class_figures, column_detail
from shoal.plan import Plan, Solution
from shoal.plan.cell_recoding import labels_of
from shoal.plan.hidden_columns.person_tag import PERSON
from shoal.plan.loss_causes import LossCauses
from shoal.policy import Policy
from shoal.policy.checks import anatomised
from shoal.privacy import Classes, ModelFinding
from shoal.results.column_results import ColumnResult, LevelShare
from shoal.results.manifest import Timing, WrittenFile
from shoal.results.read_back.outcome import ReadBackOutcome
from shoal.results.record_counts import GroupSuppression, group_results
from shoal.schema import Counts, Role
from shoal.schema.steps import SidecarFile, Step

FEWEST_NAMED = 10
"""Released people that a group has to have to be named, whatever the k."""


@dataclass(frozen=True)
class ReadBackLearning:
    """Some of the records as they were written, with their originals, and what is learnt from them in the meantime."""

    sampled: SampledRecords
    taught: Future[Taught]


@dataclass(frozen=True)
class RewriteResult:
    """What a rewrite leaves behind besides the output itself."""

    plan: Plan
    solution: Solution
    before: Measurement
    hierarchies: Mapping[str, BoundHierarchy]
    counts: Counts
    records: int
    suppressed_by_rule: int
    timing: Timing = field(default_factory=Timing)
    known: Mapping[str, SensitiveKnowledge] = field(default_factory=dict)
    """What the output doesn't show of the sensitive attributes that models look at."""
    population: NDArray[np.int64] | None = None
    """Of each combination of the counts, how many records the population has."""
    files: tuple[SidecarFile, ...] = ()
    """What the release has beside the data, to be made of what was put aside."""
    k_without_decoys: int | None = None
    """What is left of k for whoever can tell invented records from real ones."""
    loss_causes: LossCauses | None = None
    """Where the loss comes from, where it is high."""
    source_records: int = 0
    read_back_learning: ReadBackLearning | None = field(default=None, repr=False)
    """What other columns give back, which is being found."""
    rewrite_with: Callable[[Step], Plan] | None = field(default=None, repr=False)
    """Writes the release once more with some cells suppressed."""

    @property
    def altered(self) -> dict[str, float]:
        """Where levels differ from cell to cell: per quasi-identifier, the share of records whose cell is altered.

        Records that are suppressed as a whole are not among them.
        """
        cells = self.solution.cells
        if cells is None:
            return {}
        changed = (cells > 0) & ~self.solution.withheld[:, None]
        return {name: self._share(changed[:, place]) for place, name in enumerate(self.counts.attributes)}

    @property
    def withheld(self) -> float:
        """The share of records that are suppressed as a whole, so that the models hold."""
        return self._share(self.solution.withheld)

    def _share(self, combinations: Mask) -> float:
        return int(self.counts.records[combinations].sum()) / max(1, self.counts.total_records)

    @property
    def suppressed_cells(self) -> int:
        """Starred cells of records that are not suppressed as a whole, where levels differ from cell to cell."""
        return int((self._parts.starred * self.counts.records).sum())

    @property
    def _parts(self) -> SuppressedParts:
        cells, withheld = self.solution.cells, self.solution.withheld
        if cells is None:
            levels = [self.solution.levels[name] for name in self.counts.attributes]
            cells = np.tile(np.array(levels, dtype=np.int8), (self.counts.size, 1))
            return SuppressedParts(withheld, cells, np.zeros(self.counts.size, dtype=np.int64))
        tops = np.array([self.hierarchies[name].height for name in self.counts.attributes])
        return SuppressedParts(withheld, cells, (cells == tops).sum(axis=1) * ~withheld)

    def suppressed_by_group(self, k: int) -> dict[str, tuple[GroupSuppression, ...]]:
        """By quasi-identifier, what was suppressed of whom; no group of fewer than k released people is named."""
        if not self.solution.withheld.any() and not self.suppressed_cells:
            return {}
        parts, fewest = self._parts, max(k, FEWEST_NAMED)
        found = {
            name: suppressed_groups(self.counts, name, self.hierarchies[name], parts, fewest=fewest)
            for name in self.counts.attributes
        }
        return {name: group_results(groups, len(found)) for name, groups in found.items() if groups}


@dataclass(frozen=True)
class RecountResult:
    """The output, measured by code that does not know the solver."""

    after: Measurement
    models: tuple[ModelFinding, ...]
    utility: dict[str, float]
    most_records: int = 1
    """Of one person."""
    pseudonyms: Mapping[str, float] = field(default_factory=dict)
    """By direct identifier that is released in another form, the share of people whom that still tells apart."""
    columns: Mapping[str, ColumnResult] = field(default_factory=dict)
    """By quasi-identifier, what is left of its cells."""


def recount(policy: Policy, output: pl.LazyFrame, done: RewriteResult, *, aside: Path) -> RecountResult:
    """Measure the output as written. If it breaks what the solver promised, that is our bug and nothing leaves."""
    quasi, present = done.counts.attributes, output.collect_schema().names()
    person, most = None, 1
    if policy.person and aside.exists():
        people = pl.scan_ipc(aside).select(PERSON)
        output = pl.concat([output, people], how="horizontal")
        person, most = PERSON, _most_records(people)
    aggregated = not policy.kind.has_classes
    sensitive = () if aggregated else policy.modelled
    direct = () if aggregated else [name for name in policy.with_role(Role.DIRECT) if name in present]
    shown = () if aggregated else quasi
    counts, pseudonyms = count_with_uniques(output, (*shown, *sensitive), direct, person, done.records)
    after = classes_of(counts, shown, sensitive, done.known)
    after = replace(after.nobody_kept(), suppressed=0) if aggregated else _of_the_source(policy, after, done)
    after = read_stars_by_policy(replace(after, population=_population(done)), policy)
    findings = after.find(policy.models)
    if not all(finding.met for finding in findings):
        raise BugError("the written table does not meet the privacy models that were solved for")
    utility = {} if aggregated else class_figures(after)
    columns: dict[str, ColumnResult] = {}
    if quasi and not aggregated:
        cells, columns = _cells(policy, after, done)
        utility |= cells
    told = {name: share for name, share in pseudonyms.items() if share}
    return RecountResult(after, findings, utility, most, told, columns)


def check_read_back(
    scan: Callable[[], pl.LazyFrame], done: RewriteResult, after: Measurement, *, aside: Path
) -> tuple[RewriteResult, ReadBackOutcome | None]:
    """What other columns give back of the quasi-identifiers; cells that tell are suppressed if the policy says so.

    Raises where k would not hold.
    """
    started = time.perf_counter()
    if done.read_back_learning is None or done.rewrite_with is None:
        return done, None
    written = WrittenRecords.of(done.read_back_learning.sampled, lambda: as_written(aside, scan()))
    outcome = judge_read_back(written, after.k, done.read_back_learning.taught.result())
    if outcome.suppression is not None:
        done = replace(done, plan=done.rewrite_with(outcome.suppression))
    taken = done.timing.model_copy(update={"read_back_s": time.perf_counter() - started})
    return replace(done, timing=taken, read_back_learning=None, rewrite_with=None), outcome


def _of_the_source(policy: Policy, after: Measurement, done: RewriteResult) -> Measurement:
    """With what became of the source's records that the output doesn't show."""
    solved, solution = done.counts.total_records, done.solution
    if solution.suppressed == solved:
        after = after.nobody_kept()
    by_model = solution.suppressed if policy.solve.drop_suppressed else 0
    return replace(
        after,
        dropped=done.suppressed_by_rule + by_model,
        not_sampled=done.source_records - done.suppressed_by_rule - solved,
        invented=solution.decoys,
    )


def sensitive_knowledge(
    policy: Policy, readings: Mapping[str, ValueOrder], counts: Counts
) -> dict[str, SensitiveKnowledge]:
    """Where suppressed records are left out, the output doesn't show what the table was like with them."""
    dropped = policy.solve.drop_suppressed
    return {
        name: SensitiveKnowledge(reading, counts.value_counts(reading.column.name) if dropped else None)
        for name, reading in readings.items()
    }


def source_measurement(counts: Counts, population: pl.DataFrame | None) -> Measurement:
    """The table as it was, by its own quasi-identifiers, as they were counted."""
    people = counts.people_in(np.arange(counts.size), counts.size)
    there = counts.records > 0
    classes = Classes(
        counts.records, people, attributes=counts.attributes, cells=counts.codes.astype(np.int64), pairs=counts.shared
    ).only(there)
    before = Measurement(counts.total_records, 0, classes, counts.total_people)
    if population is None:
        return before
    need_enough_people(before.people, population)
    starred = pl.Series(np.zeros(len(classes), dtype=bool))
    return replace(before, released=counts.frame().filter(pl.Series(there)), starred=starred, population=population)


def _population(done: RewriteResult) -> pl.DataFrame | None:
    """What the population would look like, had it been released in the same way."""
    if done.population is None:
        return None
    counts, solution = done.counts, done.solution
    levels = solution.cells
    if levels is None:
        levels = np.tile(np.array(list(solution.levels.values()), dtype=np.int8), (counts.size, 1))
    columns = [
        labels_of(done.hierarchies[name], counts.values[place], counts.codes[:, place], levels[:, place]).alias(name)
        for place, name in enumerate(counts.attributes)
    ]
    everyone = pl.DataFrame([*columns, pl.Series("records", done.population)])
    # People who look like suppressed records are not known to be absent: nobody sees who was suppressed.
    return everyone.filter(~pl.Series(solution.withheld))


def _cells(policy: Policy, after: Measurement, done: RewriteResult) -> tuple[dict[str, float], dict[str, ColumnResult]]:
    """What is left of the cells, by the levels in use: of all of them, and of each quasi-identifier."""
    counts, solution = done.counts, done.solution
    if solution.decoys:
        after = replace(after, released=_real(after.released, done), rows=after.rows - after.invented, invented=0)
    labels = {
        name: Generalised.by(
            done.hierarchies[name], counts.value_counts(name), solution.levels[name], policy.attributes[name].weight
        )
        for name in counts.attributes
    }
    found = cell_figures(after, labels)
    if not found:
        raise BugError("the written table has labels that no level has")
    rolled_up = any(planned.technique == "roll_up" for planned in done.plan)
    kept = {name: value for name, value in found.items() if not (rolled_up and name.startswith("entropy"))}
    return kept, {name: _column(after, name, one, done.hierarchies[name]) for name, one in labels.items()}


def _column(after: Measurement, name: str, labels: Generalised, bound: BoundHierarchy) -> ColumnResult:
    detail = column_detail(after, name, labels, bound.height)
    if detail is None:
        raise BugError("the written table has labels that no level has")
    levels = (
        LevelShare(level=level, meaning=bound.meaning(level), share=share) for level, share in detail.levels.items()
    )
    return ColumnResult(loss=detail.loss, levels=tuple(levels))


def _real(released: pl.DataFrame, done: RewriteResult) -> pl.DataFrame:
    """The released combinations without the records that fill them up."""
    counts, filling = done.counts, done.solution.filling
    if filling is None:
        return released
    alike = counts.frame().filter(pl.Series(filling > 0))
    labels = [
        done.hierarchies[name].generalise(alike[name], level).cast(pl.String)
        for name, level in done.solution.levels.items()
    ]
    invented = pl.DataFrame([*labels, pl.Series("invented", filling[filling > 0])])
    invented = invented.group_by(counts.attributes).agg(pl.col("invented").sum())
    shown = released.with_columns(pl.col(counts.attributes).cast(pl.String))
    both = shown.join(invented, on=counts.attributes, how="left", nulls_equal=True)
    return both.with_columns(pl.col("records") - pl.col("invented").fill_null(0)).drop("invented")


def _most_records(people: pl.LazyFrame) -> int:
    """Of one person; all records without one count as one person's."""
    counted = count_groups(people, [PERSON], "records")["records"]
    return int(counted.max() or 1)  # type: ignore[arg-type]  # whole numbers


def recount_anatomy(policy: Policy, data: pl.LazyFrame, files: Sequence[WrittenFile], records: int) -> Anatomy | None:
    """None where nothing was anatomised. If the files break what was promised, that is our bug and nothing leaves."""
    technique = anatomised(policy)
    if technique is None:
        return None
    file = next(file for file in files if file.beside.file == technique.file)
    names = {"class_name": technique.class_name, "count_name": technique.count_name}
    try:
        found = measure_anatomy(data, file.frame, technique.sensitive, **names)
    except DataError as error:
        raise BugError(f"the anatomised tables don't fit together: {error.message}") from None
    if not found.together.reaches(technique.l) or found.records != records:
        raise BugError("the anatomised tables as written are not as diverse as was asked for")
    return found


def anatomy_finding(policy: Policy, found: Anatomy | None) -> tuple[ModelFinding, ...]:
    """As models are told of: the different values that every class has."""
    technique = anatomised(policy)
    if technique is None or found is None:
        return ()
    met = found.together.reaches(technique.l)
    return (ModelFinding(technique.key, technique.l, found.together.distinct, met),)


def anatomy_warnings(policy: Policy, found: Anatomy | None) -> Iterator[str]:
    """Several attributes are diverse together; one of them may be less so."""
    technique = anatomised(policy)
    if technique is None or found is None:
        return
    for name, alone in found.attributes.items():
        if not alone.reaches(technique.l):
            yield (
                f"anatomise: '{name}' by itself has as few as {alone.distinct} different values in a class, one of "
                f"them on up to {alone.largest_share:.0%} of its records; l = {technique.l} is of the combined values"
            )
