"""Whether a table can be a control group: other people than those of the original, enough of them."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from shoal.errors import DataError, FieldName, FieldText

SAME_PEOPLE = 0.5
"""A control group in which more than this share are people of the original is no control group."""
FEWEST = 100
"""People in a control group. In a smaller one chance alone would excuse anything."""


def other_people(control: pl.DataFrame, original: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """The control group with the original's value types; refused where it can't be one: too few, or the same people."""
    control = control.with_columns(_as(control[name], original[name]) for name in dict.fromkeys(names))
    if _known_people(control, original) > SAME_PEOPLE:
        raise DataError(
            "most of the control group are in the original",
            advice=FieldText("give people who are not, or leave ", FieldName("control"), " out"),
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
