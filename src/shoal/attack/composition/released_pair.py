"""Two releases joined by what they say, as somebody would who holds both and knows neither's source.

What is certain: a person of class a in one release and class b in the other is at most one of as many people as can be
in both, which are the records that a and b can have in common by every column that both releases say unaltered. What
that is, is counted; a cell that turns out empty concerns nobody.

What is to be expected: how many people there are behind such a cell follows from how many of b's kind a person of a can
be in. It is taken as a draw without further knowledge (binomial), from the side that says more; where one release only
coarsens the other, that side says all, and nothing is left to chance.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import polars as pl
from scipy import sparse, stats

from shoal.attack.composition.label_overlap import LabelOverlap
from shoal.attack.composition.released_counts import RECORDS, ReleasedCounts, SaidOfClasses
from shoal.attack.matching.coverage import compatible
from shoal.kernels.arrays import Floats, Integers, Mask, places_among

MOST_PAIRS: Final = 3_000_000
"""Of more pairs of classes, some classes of the new release are looked at."""
LARGE: Final = 400
"""Classes of more people are told apart by two digits."""


@dataclass(frozen=True)
class ExpectedCompany:
    """How many people are to be expected in cells of so few."""

    people: float
    unique: float
    below: float
    """Of fewer than k."""
    least: int
    """The size of the smallest cell that at least one person is to be expected in."""


@dataclass(frozen=True)
class PairFigures:
    by: tuple[str, ...]
    """The columns that both have."""
    most: int
    """No more people than this fit both releases, for some target; what elimination alone gives."""
    expected: ExpectedCompany
    certain: Mapping[str, int]
    """By sensitive attribute, records of the new release for which both together leave one value, and neither alone."""
    narrowed: Mapping[str, float]
    """By quasi-identifier, the share of the new release's records that may be narrowed down further."""
    looked_at: float
    """The share of the new release's classes that the exact figures are of."""
    unread: Mapping[str, int]
    shares: pl.DataFrame = field(repr=False)
    """For each class of the new release, the chance that two of its people are in one class of the other."""


def compose_pair(
    new: ReleasedCounts, earlier: ReleasedCounts, k: int, values: Mapping[str, pl.Series] | None = None
) -> PairFigures:
    """``values`` has the original's, by quasi-identifier, where they are at hand."""
    return PairComposer(new, k, values or {}).beside(earlier)


@dataclass(frozen=True)
class PairComposer:
    """A new release, set beside earlier ones in turn: what was read of it, and of labels that recur, is kept."""

    new: ReleasedCounts
    k: int
    values: Mapping[str, pl.Series] = field(default_factory=dict, repr=False)
    _overlaps: dict[Hashable, LabelOverlap] = field(default_factory=dict, init=False, repr=False)
    _said: dict[Sequence[str], SaidOfClasses] = field(default_factory=dict, init=False, repr=False)

    def beside(self, earlier: ReleasedCounts) -> PairFigures:
        new = self.new
        common = tuple(name for name in new.quasi if name in earlier.quasi)
        overlaps = {name: self._overlap(earlier, name) for name in common}
        pairs = _ClassPairs.of(new, earlier, overlaps)
        most, certain, looked_at = self._certain(earlier, pairs)
        return PairFigures(
            by=(*common, *_shared(new, earlier)),
            most=most,
            expected=pairs.expected(self.k),
            certain=certain,
            narrowed={name: _narrowed(new, earlier, overlaps[name], name) for name in common},
            looked_at=looked_at,
            unread={name: seen.unread for name, seen in overlaps.items() if seen.unread},
            shares=pairs.collisions(),
        )

    def _overlap(self, earlier: ReleasedCounts, name: str) -> LabelOverlap:
        mine, theirs = (each.labels[name].texts for each in (self.new, earlier))
        ladders = (self.new.ladders.get(name), earlier.ladders.get(name))
        exact = (name in self.new.exact, name in earlier.exact)
        alike = (name, exact, *map(id, ladders), tuple(mine), tuple(theirs))
        if alike not in self._overlaps:
            seen = LabelOverlap.of(mine, theirs, ladders=ladders, exact=exact, values=self.values.get(name))
            self._overlaps[alike] = seen
        return self._overlaps[alike]

    def _histograms(self, earlier: ReleasedCounts, columns: tuple[str, ...]) -> _Histograms:
        if columns not in self._said:
            self._said[columns] = self.new.said(columns)
        return _Histograms.of((self.new, self._said[columns]), (earlier, earlier.said(columns)))

    def _certain(self, earlier: ReleasedCounts, pairs: _ClassPairs) -> tuple[int, dict[str, int], float]:
        """What elimination alone gives: the fewest who fit both, and for how many records one sensitive value stays."""
        new = self.new
        both = [name for name in new.sensitive if name in earlier.sensitive]
        told = {name: self._histograms(earlier, (name,)) for name in both}
        shared = _shared(new, earlier)
        everything = told[shared[0]] if len(shared) == 1 and shared[0] in told else self._histograms(earlier, shared)
        most, pinned = new.k, {name: np.zeros(len(pairs.new), dtype=bool) for name in told}
        looked = np.arange(0, len(pairs.new), pairs_step(pairs))
        for mine, theirs in _class_blocks(pairs, looked):
            together = everything.common(mine, theirs)
            there = together > 0
            if there.any():
                most = min(most, int(together[there].min()))
            for name, histograms in told.items():
                left = histograms.values_left(mine, theirs)
                news = there & (left == 1) & ~histograms.alone(mine, theirs)
                pinned[name][mine[news]] = True
        sizes = pairs.sizes[0]
        certain = {name: int(sizes[where].sum()) for name, where in pinned.items()}
        return most, {name: people for name, people in certain.items() if people}, len(looked) / max(len(pairs.new), 1)


def _shared(new: ReleasedCounts, earlier: ReleasedCounts) -> tuple[str, ...]:
    return tuple(name for name in new.others if name in earlier.others)


def _narrowed(new: ReleasedCounts, earlier: ReleasedCounts, seen: LabelOverlap, name: str) -> float:
    """A label of the new release counts by the share of the other's records, among those that fit, which narrow it."""
    mine, theirs = (
        np.bincount(each.labels[name].codes, each.classes[RECORDS], len(each.labels[name].texts))
        for each in (new, earlier)
    )
    fitting = np.bincount(seen.coverage.of_value, theirs[seen.coverage.of_label], len(mine))
    less = seen.narrower @ theirs
    share = np.divide(less, fitting, out=np.zeros(len(mine)), where=fitting > 0)
    return float((share * mine).sum() / max(mine.sum(), 1))


@dataclass(frozen=True)
class _ClassPairs:
    """Classes of both, cut down to the quasi-identifiers that both have: their *kinds*, and which kinds go together."""

    new: Integers
    """For each class of the new release, its kind."""
    earlier: Integers
    sizes: tuple[Integers, Integers]
    of_new: Integers
    of_earlier: Integers
    """Beside each other: kinds that go together."""

    @classmethod
    def of(cls, new: ReleasedCounts, earlier: ReleasedCounts, overlaps: Mapping[str, LabelOverlap]) -> _ClassPairs:
        sizes = tuple(each.classes[RECORDS].to_numpy().astype(np.int64) for each in (new, earlier))
        if not overlaps:
            nothing = np.zeros(1, dtype=np.int64)
            one_kind = [np.zeros(len(one), dtype=np.int64) for one in sizes]
            return cls(one_kind[0], one_kind[1], (sizes[0], sizes[1]), nothing, nothing)
        coverages = [seen.coverage for seen in overlaps.values()]
        # The labels of either release are the values and the labels of what covers what, in the same order.
        mine, theirs = ([each.labels[name].codes for name in overlaps] for each in (new, earlier))
        (rows, new_of), (columns, earlier_of) = _kinds(mine), _kinds(theirs)
        found = list(compatible(rows, columns, coverages))
        empty = np.zeros(0, dtype=np.int64)
        of_new = np.concatenate([each[0] for each in found] or [empty])
        of_earlier = np.concatenate([each[1] for each in found] or [empty])
        return cls(new_of, earlier_of, (sizes[0], sizes[1]), of_new, of_earlier)

    def reach(self) -> tuple[Integers, Integers]:
        """For each kind, how many people of the other release can be of it."""
        mine = np.bincount(self.new, self.sizes[0], self.new.max(initial=-1) + 1)
        theirs = np.bincount(self.earlier, self.sizes[1], self.earlier.max(initial=-1) + 1)
        there = np.bincount(self.of_new, theirs[self.of_earlier], len(mine))
        back = np.bincount(self.of_earlier, mine[self.of_new], len(theirs))
        return there.astype(np.int64), back.astype(np.int64)

    def expected(self, k: int) -> ExpectedCompany:
        reach, back = self.reach()
        sides = []
        for name, kinds, sizes in (("new", self.new, self.sizes[0]), ("earlier", self.earlier, self.sizes[1])):
            frame = pl.DataFrame({name: kinds, f"{name}_size": _rounded(sizes)})
            sides.append(frame.group_by(name, f"{name}_size").agg(pl.len().cast(pl.Int64).alias(f"{name}_classes")))
        pairs = pl.DataFrame({"new": self.of_new, "earlier": self.of_earlier})
        cells = (
            pairs.lazy()
            .join(sides[0].lazy(), on="new")
            .join(sides[1].lazy(), on="earlier")
            .with_columns(
                pl.lit(pl.Series(reach)).gather("new").alias("reach"),
                pl.lit(pl.Series(back)).gather("earlier").alias("back"),
            )
            .with_columns(
                (pl.col("earlier_size") / pl.col("reach")).clip(upper_bound=1.0).alias("there"),
                (pl.col("new_size") / pl.col("back")).clip(upper_bound=1.0).alias("here"),
            )
            .with_columns(
                pl.when(pl.col("there") >= pl.col("here")).then("new_size").otherwise("earlier_size").alias("n"),
                pl.max_horizontal("there", "here").alias("share"),
                (pl.col("new_classes") * pl.col("earlier_classes") * pl.col("new_size") * pl.col("there")).alias(
                    "people"
                ),
            )
            .group_by("n", "share")
            .agg(pl.col("people").sum())
            .collect(engine="streaming")
        )
        return company(cells["n"].to_numpy(), cells["share"].to_numpy(), cells["people"].to_numpy(), k)

    def collisions(self) -> pl.DataFrame:
        """For each class of the new release, its size and how likely two of its people share one of the other."""
        reach, _ = self.reach()
        squares = np.bincount(self.earlier, self.sizes[1].astype(float) ** 2, self.earlier.max(initial=-1) + 1)
        together = np.bincount(self.of_new, squares[self.of_earlier], len(reach))
        chance = np.divide(together, reach.astype(float) ** 2, out=np.ones(len(reach)), where=reach > 0)
        return pl.DataFrame({"size": self.sizes[0], "chance": chance[self.new], "found": (reach > 0)[self.new]})


def company(sizes: Integers, shares: Floats, people: Floats, k: int) -> ExpectedCompany:
    """Of people in a class of some size, whose fellows are in their cell with some chance each."""
    alone = (people * stats.binom.pmf(0, sizes - 1, shares)).sum() if len(sizes) else 0.0
    fewer = (people * stats.binom.cdf(k - 2, sizes - 1, shares)).sum() if len(sizes) else 0.0
    least = k
    for size in range(1, k):
        if float((people * stats.binom.cdf(size - 1, sizes - 1, shares)).sum()) >= 0.5:  # rounds to one
            least = size
            break
    return ExpectedCompany(float(people.sum()), float(alone), float(fewer), least)


def _rounded(sizes: Integers) -> Integers:
    """Large sizes by two digits: what is expected of them is nothing to speak of either way."""
    power = 10 ** np.maximum(np.floor(np.log10(np.maximum(sizes, 1))).astype(np.int64) - 1, 0)
    return np.where(sizes > LARGE, sizes // power * power, sizes)


def _kinds(columns: Sequence[Integers]) -> tuple[Integers, Integers]:
    rows, where = np.unique(np.column_stack(columns), axis=0, return_inverse=True)
    return rows.astype(np.int64), where.reshape(-1).astype(np.int64)


def pairs_step(pairs: _ClassPairs) -> int:
    """Every which class of the new release is looked at, so that pairs stay within bounds."""
    new = np.bincount(pairs.new, minlength=pairs.new.max(initial=-1) + 1).astype(np.float64)
    earlier = np.bincount(pairs.earlier, minlength=pairs.earlier.max(initial=-1) + 1).astype(np.float64)
    number = float((new[pairs.of_new] * earlier[pairs.of_earlier]).sum())
    return max(1, int(np.ceil(number / MOST_PAIRS)))


def _class_blocks(pairs: _ClassPairs, looked: Integers) -> Iterator[tuple[Integers, Integers]]:
    kinds = pl.DataFrame({"new": pairs.of_new, "earlier": pairs.of_earlier})
    theirs = pl.DataFrame({"earlier": pairs.earlier, "b": np.arange(len(pairs.earlier))})
    for part in np.array_split(looked, max(1, len(looked) // 2_000)):
        mine = pl.DataFrame({"new": pairs.new[part], "a": part})
        found = mine.join(kinds, on="new").join(theirs, on="earlier")
        if found.height:
            yield found["a"].to_numpy(), found["b"].to_numpy()


@dataclass(frozen=True)
class _Histograms:
    """For each class of either release, its records by what some columns say, which both have."""

    new: sparse.csr_array = field(repr=False)
    earlier: sparse.csr_array = field(repr=False)

    @classmethod
    def of(
        cls, new: tuple[ReleasedCounts, SaidOfClasses], earlier: tuple[ReleasedCounts, SaidOfClasses]
    ) -> _Histograms:
        keys = pl.concat([told.said.texts for _, told in (new, earlier)]).unique(maintain_order=True)
        return cls(*(_matrix(release, told, keys) for release, told in (new, earlier)))

    def common(self, mine: Integers, theirs: Integers) -> Integers:
        """How many people can be in both classes: as many as there are records of each kind in both."""
        return np.asarray(self._both(mine, theirs).sum(axis=1)).reshape(-1).astype(np.int64)

    def values_left(self, mine: Integers, theirs: Integers) -> Integers:
        return np.asarray(np.diff(self._both(mine, theirs).indptr)).astype(np.int64)

    def alone(self, mine: Integers, theirs: Integers) -> Mask:
        """Whether one of the two classes has a single value by itself."""
        return np.asarray((np.diff(self.new.indptr)[mine] == 1) | (np.diff(self.earlier.indptr)[theirs] == 1))

    def _both(self, mine: Integers, theirs: Integers) -> sparse.csr_array:
        both = self.new[mine].minimum(self.earlier[theirs]).tocsr()
        both.eliminate_zeros()
        return both


def _matrix(release: ReleasedCounts, told: SaidOfClasses, keys: pl.Series) -> sparse.csr_array:
    column = places_among(told.said.texts, keys).to_numpy()[told.said.codes]
    return sparse.csr_array((told.records, (told.classes, column)), shape=(release.classes.height, len(keys)))
