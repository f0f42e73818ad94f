"""One attribute of the original beside the released one, made comparable.

Where a number is needed, a released label stands for the middle of its range. Where categories are compared, the
original is put in the released labels, if it is known which value went to which label (``recode``); otherwise the two
are compared as they are, as long as they have any label in common. Null and ``*`` are both *missing*.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, partial

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.hierarchy.labels import Spans, date_spans, number_spans, read_dates, read_numbers
from shoal.kernels.arrays import Floats, Mask, as_floats
from shoal.measurement.risk.equivalence_classes import SUPPRESSED

Codes = NDArray[np.int32]
Recode = Mapping[str, pl.DataFrame]
"""Per attribute, the original ``value`` and the released ``label`` it went to (both read as text)."""

_READABLE = 0.5
"""An attribute is a number, or a date, if at least this share of its released cells can be read so."""
_LEADING_ZERO = r"^[-+]?0\d"
_UNREADABLE = (pl.List, pl.Array, pl.Struct, pl.Object, pl.Binary)


class AttributeKind(StrEnum):
    NUMBER = "number"
    DATE = "date"
    CATEGORY = "category"


@dataclass(frozen=True)
class CodedLabels:
    """A column as the places of its cells among its distinct values, which are in order."""

    values: pl.Series
    codes: Codes
    """−1 where a cell is missing."""
    starred: Mask

    @classmethod
    def of(cls, column: pl.Series) -> CodedLabels:
        if column.dtype.is_float():
            column = column.set(~column.is_finite(), None)
        if not column.dtype.is_numeric():
            column = column.cast(pl.String)
        distinct = column.drop_nulls().unique().sort()
        codes = _places(column, distinct)
        star = distinct.index_of(SUPPRESSED) if distinct.dtype == pl.String() else None
        if star is None:
            return cls(distinct, codes, np.zeros(len(codes), dtype=np.bool_))
        starred = codes == star
        codes = np.where(starred, -1, codes - (codes > star)).astype(np.int32)
        return cls(distinct.filter(distinct != SUPPRESSED), codes, starred)

    @property
    def missing(self) -> float:
        """The share of missing cells."""
        return int((self.codes < 0).sum()) / max(len(self.codes), 1)

    @property
    def text(self) -> pl.Series:
        return self.values.cast(pl.String)

    def shown(self, values: pl.Series) -> pl.Series:
        """A cell by the value that stands for its place."""
        return values.gather(pl.Series(self.codes).set(pl.Series(self.codes < 0), None))


def _places(column: pl.Series, distinct: pl.Series) -> Codes:
    if distinct.dtype == pl.String():
        return column.cast(pl.Enum(distinct)).to_physical().cast(pl.Int32).fill_null(-1).to_numpy()
    places = np.searchsorted(distinct.to_numpy(), column.fill_null(strategy="zero").to_numpy()).astype(np.int32)
    return np.where(column.is_null().to_numpy(), np.int32(-1), places)


@dataclass(frozen=True)
class AttributePair:
    """One attribute in both tables. Rows keep their order; missing cells are null."""

    name: str
    kind: AttributeKind
    original: pl.Series
    """Text for categories, Float64 for numbers and dates (days)."""
    recoded: pl.Series
    """The original in the released labels, where these are known; else the original."""
    released: pl.Series
    """Text for categories, the middle of the label's range for numbers and dates."""
    before: CodedLabels
    """The original cells by their place among the distinct values."""
    after: CodedLabels
    """The released cells by their place among the distinct labels."""
    spans: Spans | None
    """What the labels of a number or date stand for."""
    recode: pl.DataFrame | None = None
    problem: str | None = None
    """Why the two can't be compared; None where they can."""

    @property
    def numeric(self) -> bool:
        return self.kind is not AttributeKind.CATEGORY

    @property
    def labels(self) -> pl.Series:
        """The distinct released labels (text), missing ones left out."""
        return self.after.text

    @property
    def codes(self) -> Codes:
        return self.after.codes

    @property
    def suppressed(self) -> Mask:
        """The released rows where the cell was taken away, and is not just absent as in the original."""
        return self.after.starred if self.before.missing else self.after.codes < 0

    @property
    def single_labelled(self) -> bool:
        """Whether each original value went to one label only."""
        return self.recode is None or not self.recode["value"].is_duplicated().any()

    def numbers(self) -> tuple[Floats, Floats]:
        """Both columns with NaN for missing cells."""
        return as_floats(self.original), as_floats(self.released)


def make_comparable(
    name: str,
    original: pl.Series,
    released: pl.Series,
    *,
    recode: pl.DataFrame | None = None,
    kind: AttributeKind | None = None,
) -> AttributePair:
    """Read both columns in the same way; ``kind`` overrules what they look like."""
    if isinstance(original.dtype, _UNREADABLE) or isinstance(released.dtype, _UNREADABLE):
        return _incomparable(name, original, released, "its cells are no single values")
    recode = None if recode is None else _as_text(recode)
    after, coded = CodedLabels.of(released), cache(partial(CodedLabels.of, original))
    kind, numbers, spans = _read(original, coded, after, kind, recode)
    if spans is not None:
        before = CodedLabels.of(numbers)
        middle = pl.Series(np.append(spans.middle, np.nan)[after.codes], dtype=pl.Float64).fill_nan(None)
        columns = (numbers, numbers, middle)
    else:
        before = coded()
        columns = (before.shown(before.text), before.shown(_recoded(before.text, recode)), after.shown(after.text))
    problem = _problem(columns[1], columns[2], kind, recode)
    return AttributePair(name, kind, *columns, before, after, spans, recode, problem)


def _read(
    original: pl.Series,
    coded: Callable[[], CodedLabels],
    after: CodedLabels,
    kind: AttributeKind | None,
    recode: pl.DataFrame | None,
) -> tuple[AttributeKind, pl.Series, Spans | None]:
    """What kind the attribute is of; for numbers and dates also the original as such and the spans of the labels."""
    nothing = AttributeKind.CATEGORY, original, None
    if kind is AttributeKind.CATEGORY or (kind is None and original.dtype == pl.Boolean()):
        return nothing
    for wanted in (AttributeKind.NUMBER, AttributeKind.DATE) if kind is None else (kind,):
        numbers = _original_numbers(original, coded, wanted, forced=kind is not None)
        if numbers is None:
            continue
        spans = _spans(numbers, after.values, wanted)
        readable = spans.known[after.codes[after.codes >= 0]]
        if kind is None and len(readable) and readable.mean() < _READABLE:
            continue
        return wanted, numbers, spans if recode is None else spans.or_else(_leaf_spans(after.text, recode, wanted))
    return nothing


def _original_numbers(
    original: pl.Series, coded: Callable[[], CodedLabels], kind: AttributeKind, *, forced: bool
) -> pl.Series | None:
    """The original column as numbers; None if it doesn't look like that kind."""
    stored = original.dtype
    if kind is AttributeKind.NUMBER and (stored.is_numeric() or stored in {pl.Time(), pl.Duration("us")}):
        return read_numbers(original.to_physical() if stored.is_temporal() else original)
    if kind is AttributeKind.DATE and stored.is_temporal() and stored != pl.Time():
        return read_dates(original)
    if stored.is_temporal() or (stored.is_numeric() and not forced):
        return None
    text = coded().text
    if kind is AttributeKind.NUMBER and not forced and text.str.contains(_LEADING_ZERO).any():
        return None
    read = read_numbers(text) if kind is AttributeKind.NUMBER else read_dates(text)
    whole = len(read) > 0 and not read.null_count()
    return coded().shown(read) if whole or forced else None


def _spans(numbers: pl.Series, labels: pl.Series, kind: AttributeKind) -> Spans:
    if kind is AttributeKind.NUMBER and labels.dtype.is_numeric():
        return Spans.points(as_floats(labels))
    read = date_spans if kind is AttributeKind.DATE else number_spans
    ends = as_floats(numbers)
    ends = ends[~np.isnan(ends)]
    return read(labels.cast(pl.String), *((float(ends.min()), float(ends.max())) if len(ends) else (np.nan, np.nan)))


def _leaf_spans(labels: pl.Series, recode: pl.DataFrame, kind: AttributeKind) -> Spans:
    """From the least to the greatest of the values that went to a label."""
    read = read_numbers(recode["value"]) if kind is AttributeKind.NUMBER else read_dates(recode["value"])
    grouped = recode.with_columns(read.alias("number")).group_by("label")
    ends = grouped.agg(low=pl.col("number").min(), high=pl.col("number").max())
    found = pl.DataFrame({"label": labels}).join(ends, on="label", how="left", maintain_order="left")
    return Spans(as_floats(found["low"]), as_floats(found["high"]))


def _problem(before: pl.Series, after: pl.Series, kind: AttributeKind, recode: pl.DataFrame | None) -> str | None:
    if before.null_count() == len(before):
        return "the original has no value to compare"
    if after.null_count() == len(after):
        return "the release has no value to compare"
    if kind is AttributeKind.CATEGORY and not _have_common(before, after):
        known = "" if recode is None else ", in spite of the recoding that was given"
        return f"the released labels have nothing in common with the original values{known}"
    return None


def _have_common(before: pl.Series, after: pl.Series) -> bool:
    return bool(after.unique().drop_nulls().is_in(before.unique().drop_nulls().implode()).any())


def _recoded(text: pl.Series, recode: pl.DataFrame | None) -> pl.Series:
    """Each value by its label; one that isn't listed stays as it is. A value with several labels gets the first."""
    if recode is None:
        return text
    first = recode.unique("value", keep="first", maintain_order=True)
    found = pl.DataFrame({"value": text}).join(first, on="value", how="left", maintain_order="left")
    label = found.select(pl.coalesce("label", "value")).to_series()
    return label.set(label == SUPPRESSED, None)


def _as_text(recode: pl.DataFrame) -> pl.DataFrame:
    return recode.select(pl.col("value", "label").cast(pl.String)).drop_nulls().unique(maintain_order=True)


def _incomparable(name: str, original: pl.Series, released: pl.Series, problem: str) -> AttributePair:
    """Nothing is known of the cells but whether they are there."""
    there = [
        column.is_not_null().cast(pl.Int32).replace_strict([0, 1], [None, "?"], return_dtype=pl.String)
        for column in (original, released)
    ]
    before, after = (CodedLabels.of(column) for column in there)
    return AttributePair(name, AttributeKind.CATEGORY, there[0], there[0], there[1], before, after, None, None, problem)
