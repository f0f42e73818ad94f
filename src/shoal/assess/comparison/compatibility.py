"""Whether a release can have been made from an original.

A column that was left as it was has each value in as many records as the original at most, alone and together with the
other such columns. A generalised label covers at least as many of the original's records as carry it. What breaks this
can't belong together, and is refused. It has to be known what was done to a column, from the policy or the manifest:
noise, other people's values and pseudonyms break it too. Where that is not known, what looks wrong is a doubt, told and
not refused, because an unusual release may look like that.

All of this is counted, so neither the order of the records matters nor that some are missing. Records that a policy may
invent are allowed for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil

import numpy as np
import polars as pl

from shoal.assess.comparison.label_vocabulary import Vocabulary
from shoal.assess.comparison.paired_tables import MOST_ROWS, height, typed
from shoal.attack.matching.coverage import Coverage
from shoal.errors import DataError
from shoal.hierarchy import TOP
from shoal.hierarchy.labels import text_of
from shoal.kernels.arrays import Mask
from shoal.kernels.group_counts import count_separately
from shoal.policy import Policy
from shoal.policy.treatment import Treatment, treatments
from shoal.results.release_folder import ReleaseFolder

MOST_TIMES = 2
"""As many records a release may have for each of the original, unless some were invented."""
_RECORDS = "__shoal_records"
_KEY = "__shoal_key"


@dataclass(frozen=True)
class ReleaseProvenance:
    """What is known of how a release was made."""

    treatment: Mapping[str, Treatment] = field(default_factory=dict)
    policy: Policy | None = field(default=None, repr=False)
    decoys: int | None = None
    """How many records were invented, where that is known."""

    @classmethod
    def of(cls, policy: Policy | None, release: ReleaseFolder | None = None) -> ReleaseProvenance:
        """From the policy; what a release folder tells where there is none."""
        if policy is not None:
            return cls(treatments(policy), policy)
        manifest = None if release is None else release.manifest
        if manifest is None:
            return cls()
        return cls(manifest.treatment, None, None if manifest.decoys is None else manifest.decoys.records)

    def invented(self, records: int) -> int:
        """How many records there may be that stem from nobody."""
        if self.policy is None or self.policy.solve.decoys is None:
            return self.decoys or 0
        return ceil(self.policy.solve.decoys.limit * records)


def require_compatible(
    original: pl.LazyFrame,
    released: pl.LazyFrame,
    making: ReleaseProvenance,
    named: Sequence[str],
    rows: tuple[int, int] | None = None,
) -> tuple[str, ...]:
    """Refuse tables that can't belong together; what speaks against it without being proof comes back as doubts.

    Doubts are about the ``named`` columns, those that an attacker knows or wants to know. Each table is read once, if
    it is known how many ``rows`` they have.
    """
    common = [name for name in released.collect_schema() if name in original.collect_schema()]
    if not common:
        raise DataError("the original and the release have no column in common: they can't belong together")
    before, after = rows or (height(original), height(released))
    allowed = making.invented(before)
    if after > MOST_TIMES * before and not allowed:
        raise DataError(f"the release has {after} records, the original {before}: they can't belong together")
    kept = [name for name in common if making.treatment.get(name) is Treatment.KEPT]
    compared = [name for name in common if _is_compared(name, making, named)]
    counted = count_columns(original, released, kept, compared, max(before, after))
    beyond = counted.beyond()
    if beyond > allowed:
        raise _refusal(beyond, kept, "left as it was")
    found = {
        name: ColumnComparison.of(counted.original[name], counted.released[name], name, making) for name in compared
    }
    for name, one in found.items():
        if one.strict and one.beyond > allowed:
            raise _refusal(one.beyond, [name], "generalised at most")
    return _doubts({name: one for name, one in found.items() if name in named and not one.strict}, allowed)


def _is_compared(name: str, making: ReleaseProvenance, named: Sequence[str]) -> bool:
    generalised = making.treatment.get(name) is Treatment.GENERALISED
    return generalised or (name in named and name not in making.treatment)


def _refusal(records: int, names: Sequence[str], how: str) -> DataError:
    shown = ", ".join(f"'{name}'" for name in names[:5]) + (" …" if len(names) > 5 else "")
    return DataError(
        f"{records} of the release's records have no counterpart in the original by {shown}, {how} in the release: "
        "the tables can't belong together"
    )


def _doubts(found: Mapping[str, ColumnComparison], allowed: int) -> tuple[str, ...]:
    foreign = [name for name, one in found.items() if one.foreign]
    if any(found[name].telling for name in foreign) and not any(one.covering for one in found.values()):
        raise DataError("the original and the release have no value in common: they can't belong together")
    doubts = [
        f"column '{name}': nothing in the release can be read as a value of the original; unless it was replaced, "
        "the tables don't belong together"
        for name in foreign
    ]
    plain = {name: one for name, one in found.items() if one.plain}
    uneven = [name for name, one in plain.items() if one.beyond > allowed]
    if uneven and not any(one.whole and name not in uneven for name, one in plain.items()):
        shown = ", ".join(f"'{name}'" for name in uneven)
        doubts.append(
            f"more records of the release than of the original have some values of {shown}; unless these were altered, "
            "the tables don't belong together"
        )
    return tuple(doubts)


@dataclass(frozen=True)
class ColumnComparison:
    """One column of both tables, in released records."""

    strict: bool
    """Whether it is known which labels the release can have."""
    telling: int
    """Records whose label can be read and is more than a star."""
    covering: int
    """Those of them whose label covers any value of the original, or lies among its numbers."""
    beyond: int
    """Records that are more than those of the original which their label covers."""
    unread: int
    plain: bool
    """Whether most records have a value of the original and not a wider label, and all can be read."""
    whole: bool
    """Whether no record is starred: stars leave room for any counts."""

    @property
    def foreign(self) -> bool:
        return bool(self.telling + self.unread) and not self.covering

    @classmethod
    def of(cls, before: pl.DataFrame, after: pl.DataFrame, name: str, making: ReleaseProvenance) -> ColumnComparison:
        """By the values of the original and of the release, with their records."""
        values, labels = (typed(frame.select(name))[name] for frame in (before, after))
        treatment = {each: kind for each, kind in making.treatment.items() if each == name}
        words = Vocabulary.of(values.to_frame(), labels.to_frame(), treatment, making.policy)
        seen = Coverage.of(values, labels, words.labels.get(name))
        people = np.bincount(seen.codes(values), before[_RECORDS].to_numpy(), len(seen.values))
        records = np.bincount(seen.label_codes(labels), after[_RECORDS].to_numpy(), len(seen.labels))
        covered = np.bincount(seen.of_label, people[seen.of_value], len(seen.labels))
        unread = seen.everything & (text_of(seen.labels).fill_null(TOP) != TOP).to_numpy()
        telling = ~seen.everything & seen.labels.is_not_null().to_numpy()
        if name in words.closed:
            telling, unread = telling | unread, np.zeros_like(unread)
        return cls(
            strict=name in words.labels,
            telling=int(records[telling].sum()),
            covering=int(records[telling & ((covered > 0) | _among(seen.labels, seen.values))].sum()),
            beyond=int(np.maximum(records - covered, 0)[telling].sum()),
            unread=int(records[unread].sum()),
            plain=bool(2 * records[_values_of(seen)].sum() > records.sum() and not unread.any()),
            whole=bool(telling.all()),
        )


def _values_of(seen: Coverage) -> Mask:
    """Which labels are a value of the original."""
    return text_of(seen.labels).is_in(text_of(seen.values).drop_nulls().implode()).fill_null(value=False).to_numpy()


def _among(labels: pl.Series, values: pl.Series) -> Mask:
    """Which labels are numbers in the range of the values: numbers may have been altered."""
    if not (labels.dtype.is_numeric() and values.dtype.is_numeric()):
        return np.zeros(len(labels), dtype=bool)
    numbers, ends = labels.cast(pl.Float64), values.cast(pl.Float64)
    return numbers.is_between(pl.lit(ends.min()), pl.lit(ends.max())).fill_null(value=False).to_numpy()


@dataclass(frozen=True)
class CountedColumns:
    """Both tables, by column or by what the columns that were left as they were say together: values and records."""

    original: Mapping[str, pl.DataFrame] = field(repr=False)
    released: Mapping[str, pl.DataFrame] = field(repr=False)

    def beyond(self) -> int:
        """How many records of the release have what the unaltered columns say together more often than the original
        has it."""
        if _KEY not in self.original:
            return 0
        before, after = (side[_KEY].drop_nulls(_KEY) for side in (self.original, self.released))
        both = after.join(before, on=_KEY, how="left", suffix="_before")
        more = pl.col(_RECORDS).cast(pl.Int64) - pl.col(f"{_RECORDS}_before").fill_null(0).cast(pl.Int64)
        return int(both.select(more.clip(0).sum()).item())


def count_columns(
    original: pl.LazyFrame, released: pl.LazyFrame, kept: Sequence[str], compared: Sequence[str], rows: int
) -> CountedColumns:
    """Of large tables the combinations are looked at whose fingerprint leaves a rest of nothing: the same in both."""
    read = {name: _readings(original, released, name) for name in kept}
    alike = [both for both in read.values() if both is not None]
    names = [*compared, *([_KEY] if alike else [])]
    if not names:
        return CountedColumns({}, {})
    step = -(-rows // MOST_ROWS)
    sides = []
    for place, frame in enumerate((original, released)):
        if alike:
            key = pl.struct(both[place] for both in alike).hash(0).alias(_KEY)
            some = pl.when(pl.col(_KEY) % step == 0).then(_KEY)
            frame = frame.select(*compared, key).with_columns(some)  # noqa: PLW2901
        sides.append(count_separately(frame, names, _RECORDS))
    return CountedColumns(*sides)


def _readings(original: pl.LazyFrame, released: pl.LazyFrame, name: str) -> tuple[pl.Expr, pl.Expr] | None:
    """The column's values as the same text in both tables; None where they are stored so differently that equal values
    could look different."""
    mine, theirs = original.collect_schema()[name], released.collect_schema()[name]
    value = pl.col(name)
    if mine.is_nested() or theirs.is_nested():
        return None
    if mine == theirs:
        return value.cast(pl.String), value.cast(pl.String)
    if mine.is_numeric() and theirs.is_numeric():
        return (number := value.cast(pl.Float32), number)
    return None
