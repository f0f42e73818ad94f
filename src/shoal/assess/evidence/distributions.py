"""How attributes are spread before and after, in shares that show no single person and labels that show no value.

Numbers and dates stand in round bins. A generalised attribute stands under its released labels, the original put under
the same ones; where levels differ from record to record, both under the coarsest level that occurs. A category whose
name is a value of the original is called by its rank (``1st``, ``2nd`` …). Few records are ``others``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import polars as pl

from shoal.assess.comparison.paired_tables import TablePair, bound_hierarchies, recoded_labels, typed
from shoal.errors import DataError
from shoal.hierarchy import BoundHierarchy
from shoal.measurement.risk.equivalence_classes import SUPPRESSED
from shoal.measurement.usefulness import AttributeKind, make_comparable
from shoal.measurement.usefulness.distances import DistributionDistance, measure_distance
from shoal.measurement.usefulness.distribution_bins import LEAST_RECORDS, MOST_BARS, date_bins, number_bins
from shoal.policy import EVERYTHING_ELSE, Policy
from shoal.results.evidence_facts import DistributionFacts
from shoal.schema import Role

OTHERS = "others"
_DIGITS = 3
_COMPARED = 50_000
"""Records that distances are measured by, unless they were measured before: the same places of both tables."""
_KINDS = {AttributeKind.NUMBER: "numbers", AttributeKind.DATE: "dates", AttributeKind.CATEGORY: "categories"}
_UNREADABLE = (pl.List, pl.Array, pl.Struct, pl.Object, pl.Binary, pl.Duration)

Bars = tuple[tuple[str, float, float], ...]
_Bound = tuple[BoundHierarchy, pl.Series]
"""A hierarchy and the original values that it is bound to."""


@dataclass(frozen=True)
class _Attribute:
    """One attribute in both tables; hidden cells are null in ``after``."""

    original: pl.Series
    released: pl.Series
    after: pl.Series

    @classmethod
    def of(cls, original: pl.Series, released: pl.Series, *, marked: bool = True) -> _Attribute:
        """What was hidden keeps the rest of a column from being read as numbers or dates: it is read again.

        ``marked``: whether a star hides a cell; in a column that had stars before and no step touches, it is a value.
        """
        after = released
        if marked and released.dtype == pl.String():
            after = released.set(released == SUPPRESSED, None)
            if original.dtype != pl.String() and after.null_count() > released.null_count():
                after = _read_again(after)
        return cls(original, released, after)

    @property
    def hidden(self) -> float:
        return self.after.null_count() / len(self.after)

    @property
    def numbers(self) -> bool:
        return self.original.dtype.is_numeric() and self.after.dtype.is_numeric()

    @property
    def dates(self) -> bool:
        return all(isinstance(side.dtype, pl.Date | pl.Datetime) for side in (self.original, self.after))


def distributions_of(
    pair: TablePair, policy: Policy | None, measured: Iterable[DistributionDistance] = ()
) -> tuple[DistributionFacts, ...]:
    """Of each released attribute that identifies nobody directly and has more than one value to tell apart.

    Distances that were ``measured`` are told as they are; others are taken from a part of the records.
    """
    known = {distance.attribute: distance for distance in measured}
    found = (_facts(pair.original[name], pair.released[name], known.get(name), policy) for name in _shown(pair, policy))
    return tuple(facts for facts in found if facts is not None)


def _read_again(values: pl.Series) -> pl.Series:
    try:
        return typed(values.to_frame()).to_series()
    except DataError:
        return values


def _shown(pair: TablePair, policy: Policy | None) -> Iterator[str]:
    for name in pair.released.columns:
        given = None if policy is None else policy.attributes.get(name, policy.attributes.get(EVERYTHING_ELSE))
        identifies = given is not None and given.role is Role.DIRECT
        if not identifies and (policy is None or name != policy.person):
            yield name


def _hierarchy(policy: Policy | None, original: pl.Series) -> _Bound | None:
    """None where there is none, or it doesn't know the values in the form they are read in here."""
    try:
        return bound_hierarchies(policy, original.to_frame()).get(original.name)
    except DataError:
        return None


def _is_treated(policy: Policy, name: str) -> bool:
    given = policy.attributes.get(name, policy.attributes.get(EVERYTHING_ELSE))
    return given is not None and bool(given.steps)


def _facts(
    original: pl.Series, released: pl.Series, distance: DistributionDistance | None, policy: Policy | None
) -> DistributionFacts | None:
    if any(isinstance(side.dtype, _UNREADABLE) or not len(side) for side in (original, released)):
        return None
    original, released = _plain(original), _plain(released)
    if original.drop_nulls().n_unique() < 2:
        return None
    marked = policy is None or original.name in policy.quasi_identifiers or _is_treated(policy, original.name)
    marked = marked or original.dtype != pl.String() or SUPPRESSED not in original
    one, hierarchy = _Attribute.of(original, released, marked=marked), _hierarchy(policy, original)
    distance = distance or _distance(original, released, hierarchy)
    bars = () if one.hidden == 1 else _bars(one, hierarchy)
    distances = _told(distance)
    if not (bars or distances or one.hidden):
        return None
    kind = _KINDS[AttributeKind(distance.kind)]
    return DistributionFacts(original.name, kind, bars, round(one.hidden, _DIGITS), distances)


def _plain(values: pl.Series) -> pl.Series:
    return values.cast(pl.String) if isinstance(values.dtype, pl.Categorical | pl.Enum) else values


def _distance(original: pl.Series, released: pl.Series, hierarchy: _Bound | None) -> DistributionDistance:
    recode = None if hierarchy is None else recoded_labels(*hierarchy, released)
    step = -(-max(len(original), len(released)) // _COMPARED)
    before, after = original.gather_every(step), released.gather_every(step)
    return measure_distance(make_comparable(original.name, before, after, recode=recode))


def _told(distance: DistributionDistance) -> tuple[tuple[str, float], ...]:
    named = {
        "total variation": distance.total_variation,
        "Wasserstein": distance.wasserstein,
        "KS": distance.kolmogorov_smirnov,
    }
    return tuple((name, round(value, _DIGITS)) for name, value in named.items() if value is not None)


def _bars(one: _Attribute, hierarchy: _Bound | None) -> Bars:
    generalised = None if hierarchy is None else _generalised(one, *hierarchy)
    if generalised is not None:
        counted = generalised
    elif one.numbers and not _few_numbers(one):
        counted = number_bins(one.original, one.after)
    elif one.dates:
        counted = date_bins(one.original, one.after)
    else:
        counted = _categories(one)
    if not counted["after"].sum():
        return ()
    present = [len(side) - side.null_count() for side in (one.original, one.after)]
    return _pooled(counted, present, (len(one.original), len(one.after)))


def _few_numbers(one: _Attribute) -> bool:
    """Numbers that are rather names of categories: few, and no others after than before."""
    before = one.original.drop_nulls().unique()
    few = len(before) <= MOST_BARS
    return few and bool(one.after.drop_nulls().unique().cast(pl.Float64).is_in(before.cast(pl.Float64).implode()).all())


def _categories(one: _Attribute) -> pl.DataFrame:
    """The most frequent ones of the original, without a name."""
    before, after = one.original, one.after
    if before.dtype != after.dtype:
        common = pl.Float64() if one.numbers else pl.String()
        before, after = before.cast(common), after.cast(common)
    frequent = _counts(before, "before").filter(pl.col("before") >= LEAST_RECORDS)
    kept = frequent.sort("before", "label", descending=[True, False]).head(MOST_BARS)
    both = kept.join(_counts(after, "after"), on="label", how="left", maintain_order="left")
    return both.select(pl.lit(None, pl.String).alias("label"), "before", pl.col("after").fill_null(0))


def _generalised(one: _Attribute, bound: BoundHierarchy, values: pl.Series) -> pl.DataFrame | None:
    """Both sides on the coarsest level that occurs; None where that is the values themselves, or can't be known."""
    after = _counts(one.after.cast(pl.String), "after")
    ladder = pl.DataFrame(
        [
            values.alias("value"),
            *(bound.generalise(values, n).cast(pl.String).alias(f"{n}") for n in range(bound.height)),
        ]
    ).filter(pl.col("value").is_not_null())
    level = _coarsest(ladder, after["label"], bound.height)
    if not level:
        return None
    under = _counts(one.original, "before").rename({"label": "value"}).join(ladder, on="value")
    before = under.group_by(pl.col(f"{level}").alias("label")).agg(pl.col("before").sum())
    upwards = pl.concat(
        ladder.select(pl.col(f"{n}").alias("label"), pl.col(f"{level}").alias("upper")) for n in range(level + 1)
    ).unique()
    known = upwards.filter(pl.col("label").is_in(after["label"].implode()))
    if known["label"].is_duplicated().any():
        return None
    lifted = after.join(known, on="label").group_by(pl.col("upper").alias("label")).agg(pl.col("after").sum())
    both = before.join(lifted, on="label", how="left").with_columns(pl.col("after").fill_null(0))
    secret = pl.col("label").is_in(ladder["0"].implode())
    return (
        _in_order(both, bound, values, level)
        .filter((pl.col("after") > 0) | secret)
        .with_columns(label=pl.when(~secret).then("label"))
    )


def _coarsest(ladder: pl.DataFrame, labels: pl.Series, height: int) -> int | None:
    """The level on which the last of the labels is found, from the finest up; None where one is found nowhere."""
    for level in range(height):
        labels = labels.filter(~labels.is_in(ladder[f"{level}"].implode()))
        if labels.is_empty():
            return level
    return None


def _in_order(counted: pl.DataFrame, bound: BoundHierarchy, values: pl.Series, level: int) -> pl.DataFrame:
    """Ranges by where they begin, other labels by how many records they have."""
    bounds = bound.bounds(values, level)
    if bounds is None:
        return counted.sort("before", "label", descending=[True, False])
    begins = pl.DataFrame({"label": bound.generalise(values, level), "low": bounds[0]})
    lows = begins.group_by("label").agg(pl.col("low").min())
    return counted.join(lows, on="label", how="left").sort("low", nulls_last=False).drop("low")


def _counts(values: pl.Series, records: str) -> pl.DataFrame:
    counted = values.drop_nulls().alias("label").value_counts(name=records)
    return counted.with_columns(pl.col(records).cast(pl.Int64))


def _pooled(counted: pl.DataFrame, present: list[int], rows: tuple[int, int]) -> Bars:
    """Bars in the order given, then all that is too small, or one too many, as one.

    What is pooled has to be many records itself, or what it is would show by subtraction.
    """
    ranked = counted.with_row_index("place").sort("before", descending=True, maintain_order=True)
    ranked = ranked.filter(pl.col("before") >= LEAST_RECORDS)
    named = ranked.with_row_index("rank", offset=1).rows(named=True)
    kept = named[:MOST_BARS]
    while kept and _rest(kept, present) != (0, 0):
        if len(kept) < MOST_BARS and not 0 < _rest(kept, present)[0] < LEAST_RECORDS:
            break
        kept.pop()
    if not kept:
        return ()
    bars = [
        (one["label"] or ordinal(one["rank"]), one["before"], one["after"])
        for one in sorted(kept, key=lambda one: int(one["place"]))
    ]
    rest = _rest(kept, present)
    bars += [(OTHERS, *rest)] if any(rest) else []
    return tuple((label, round(b / rows[0], _DIGITS), round(a / rows[1], _DIGITS)) for label, b, a in bars)


def _rest(kept: list[dict[str, int]], present: list[int]) -> tuple[int, int]:
    return present[0] - sum(one["before"] for one in kept), present[1] - sum(one["after"] for one in kept)


def ordinal(rank: int) -> str:
    """
    >>> [ordinal(rank) for rank in (1, 2, 3, 4, 11, 12)]
    ['1st', '2nd', '3rd', '4th', '11th', '12th']
    """
    return f"{rank}{({1: 'st', 2: 'nd', 3: 'rd'}).get(rank, 'th')}"
