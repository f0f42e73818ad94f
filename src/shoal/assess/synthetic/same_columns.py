"""Three tables with the same columns of the same types, and what of them is neither compared nor attacked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl
from polars import selectors

from shoal.assess.comparison.paired_tables import typed
from shoal.errors import DataError

NAMES_PEOPLE = 0.9
"""A text of which so large a share of the records has a value of its own is a name, a code or a remark."""
_LARGEST = 1e70
"""Further out, infinite ones too, numbers are taken to be that, so that products of variances are numbers too."""
_NO_VALUES = (pl.List, pl.Array, pl.Struct, pl.Object, pl.Binary)


class NothingToCompareError(DataError):
    """Every column names records, or is in one of the tables only."""


@dataclass(frozen=True)
class ComparableTables:
    original: pl.DataFrame = field(repr=False)
    synthetic: pl.DataFrame = field(repr=False)
    control: pl.DataFrame | None = field(repr=False)
    left_out: Mapping[str, str]
    """Column → why."""
    identifying: Mapping[str, tuple[pl.Series, pl.Series, pl.Series | None]] = field(repr=False)
    """Columns that name people, in the synthetic table, the original and the control group."""

    @classmethod
    def of(
        cls,
        original: pl.DataFrame,
        synthetic: pl.DataFrame,
        control: pl.DataFrame | None = None,
        leave_out: Sequence[str] = (),
    ) -> ComparableTables:
        for frame, whose in ((original, "original"), (synthetic, "synthetic table"), (control, "control group")):
            if frame is not None and not frame.height:
                raise DataError(f"the {whose} has no records")
        frames = [_plain(_read_text(frame)) for frame in (original, synthetic, *([] if control is None else [control]))]
        names, left_out = _shared(frames, leave_out)
        frames = _same_types(frames, names)
        people = [name for name in names if _names_people(frames[0][name])]
        numbered = [name for name in names if name not in people and _numbers_rows(frames[0][name])]
        left_out |= dict.fromkeys(
            people, "hardly two records of the original share a value; only its values are looked for"
        )
        left_out |= dict.fromkeys(numbered, "it numbers the records of the original")
        kept = [name for name in names if name not in left_out]
        if not kept:
            raise NothingToCompareError("no column is left to compare: each names records or is in one table only")
        before, after, *other = (frame.select(kept) for frame in frames)
        named = {
            name: (frames[1][name], frames[0][name], frames[2][name] if control is not None else None)
            for name in people
        }
        return cls(before, after, other[0] if other else None, left_out, named)


def _read_text(frame: pl.DataFrame) -> pl.DataFrame:
    """Files of text hold numbers and dates too; read as such where all values of a column can be."""
    text = frame.select(selectors.string())
    return frame.with_columns(typed(text)) if text.width else frame


def _plain(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(
        selectors.duration().dt.total_microseconds(),
        selectors.decimal().cast(pl.Float64),
        (selectors.categorical() | selectors.enum() | selectors.boolean()).cast(pl.String),
        selectors.float().cast(pl.Float64).fill_nan(None).clip(-_LARGEST, _LARGEST),
    )


def _shared(frames: Sequence[pl.DataFrame], leave_out: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    reasons = {}
    words = ("original", "synthetic table", "control group")
    for name in frames[0].columns:
        lacking = next((word for frame, word in zip(frames, words, strict=False) if name not in frame.columns), None)
        if lacking is not None:
            reasons[name] = f"the {lacking} does not have it"
        elif name in leave_out:
            reasons[name] = "it was asked to be left out"
        elif any(isinstance(frame[name].dtype, _NO_VALUES) for frame in frames):
            reasons[name] = "its cells are no single values"
        elif frames[0][name].null_count() == frames[0].height:
            reasons[name] = "the original has no value of it"
    reasons |= {name: "the original does not have it" for name in frames[1].columns if name not in frames[0].columns}
    names = [name for name in frames[0].columns if name not in reasons]
    if not names:
        raise NothingToCompareError(
            "the original and the synthetic table have no column in common: they can't belong together"
        )
    return names, reasons


def _same_types(frames: Sequence[pl.DataFrame], names: Sequence[str]) -> list[pl.DataFrame]:
    """The original's types; text where a table does not take them."""
    columns = {name: list(_alike([frame[name] for frame in frames])) for name in names}
    return [pl.DataFrame([columns[name][place] for name in names]) for place in range(len(frames))]


def _alike(columns: Sequence[pl.Series]) -> Iterator[pl.Series]:
    wanted = columns[0].dtype
    if wanted.is_integer() and any(each.dtype.is_float() for each in columns):
        wanted = pl.Float64()
    try:
        yield from [each.cast(wanted) for each in columns]
    except pl.exceptions.PolarsError:
        yield from [each.cast(pl.String) for each in columns]


def _names_people(column: pl.Series) -> bool:
    return column.dtype == pl.String() and len(column) > 1 and column.n_unique() > NAMES_PEOPLE * len(column)


def _numbers_rows(column: pl.Series) -> bool:
    """Whole numbers that are all different, and hardly any between them is left out."""
    if not column.dtype.is_integer() or column.null_count() or len(column) < 2 or column.n_unique() < len(column):
        return False
    return int(column.max()) - int(column.min()) < 2 * len(column)  # type: ignore[arg-type]  # whole numbers
