"""Whether tables can belong together: a release and its original, and a control group of other people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from shoal.attack.coverage import Coverage
from shoal.errors import DataError
from shoal.policy import Policy
from shoal.release.pairing import Pairing, known_labels

SAME_PEOPLE = 0.5
"""A control group in which more than this share are people of the original is no control group."""
MOST_TIMES = 2
"""As many records a release may have for each of the original, unless some were invented."""
FEWEST = 100
"""People in a control group. In a smaller one chance alone would excuse anything."""


def need_to_belong(pair: Pairing, quasi: Sequence[str], policy: Policy | None) -> None:
    """Refuse a release and an original that can't be of the same people."""
    invented = policy is not None and policy.solve.decoys is not None
    if pair.rows_released > MOST_TIMES * pair.rows_original and not invented:
        raise DataError(
            f"the release has {pair.rows_released} records, the original {pair.rows_original}: "
            "they can't belong together"
        )
    shared = [name for name in quasi if name in pair.released.columns]
    need_something_in_common(pair.released, pair.original, shared, known_labels(policy, pair.original))


def need_something_in_common(
    release: pl.DataFrame, original: pl.DataFrame, names: Sequence[str], known: Mapping[str, pl.DataFrame]
) -> None:
    """Refuse an original of which the release says nothing: where labels can be read, none covers a value.

    Stars and words that can't be read say nothing either way. Numbers may have been altered, so those that lie in the
    same range are enough.
    """
    said = [_in_common(release[name], original[name], known.get(name)) for name in names]
    if False in said and True not in said:
        raise DataError("the original and the release have no value in common: they can't belong together")


def _in_common(released: pl.Series, values: pl.Series, known: pl.DataFrame | None) -> bool | None:
    """None where the column doesn't tell."""
    if released.dtype.is_numeric() and values.dtype.is_numeric():
        ends = [series.cast(pl.Float64) for series in (released, values)]
        low, high = (pl.Series([getattr(each, end)() for each in ends]) for end in ("min", "max"))
        return None if low.null_count() else bool(low.max() <= high.min())  # type: ignore[operator]  # no nulls
    seen = Coverage.of(values, released, known)
    if len(seen.of_value):
        return True
    return None if seen.everything.all() else False


def other_people(control: pl.DataFrame, original: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """The control group with the original's value types; refused where it can't be one: too few, or the same people."""
    control = control.with_columns(_as(control[name], original[name]) for name in dict.fromkeys(names))
    if _known_people(control, original) > SAME_PEOPLE:
        raise DataError(
            "most of the control group are in the original", advice="give people who are not, or leave --control out"
        )
    if control.height < FEWEST:
        raise DataError(
            f"the control group has {control.height} people, too few to compare with", advice=f"give {FEWEST} or more"
        )
    return control


def _as(theirs: pl.Series, original: pl.Series) -> pl.Series:
    try:
        return theirs.cast(original.dtype)
    except pl.exceptions.PolarsError:
        raise DataError(f"column '{theirs.name}' of the control group is of another type than the original's") from None


def _known_people(control: pl.DataFrame, original: pl.DataFrame) -> float:
    """The share of the control group who are, in all that both tables have, like exactly one person of the original."""
    names = [name for name in original.columns if name in control.columns]
    mine, theirs = (frame.select(pl.col(name).cast(pl.String, strict=False) for name in names)
                    for frame in (original, control))  # fmt: skip
    alone = mine.group_by(names).len().filter(pl.col("len") == 1)
    return theirs.join(alone, on=names, how="semi", nulls_equal=True).height / control.height
