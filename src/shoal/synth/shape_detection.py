"""Shapes found in a table: what is a number and what a code, what is missing, which values are too rare to be kept."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

import numpy as np
import polars as pl

from shoal.errors import DataError
from shoal.schema.columns import Column
from shoal.schema.type_detection import detect
from shoal.schema.values import ValueType
from shoal.synth.column_shapes import MOST_DECIMALS, ColumnShape, ShapeKind, refuse_unreadable
from shoal.synth.partly_measured import partly_measured

RARE: Final = 10
"""Values of fewer records than this never reappear."""
OTHER: Final = "other"
_FEW: Final = 0.05
"""Of all records, the share of rare values from which on they get a label of their own."""
_INFLATED: Final = 0.05
_NO_IDENTIFIER: Final = 20
"""Records of which any column may be unique by chance."""
_EXACT_DIGITS: Final = 15
_LARGEST: Final = 2**60
"""Whole numbers beyond it are no amounts."""
_REPEATS: Final = 5.0
"""Repeats that chance would leave on average: none at all happens once in 150 tables then."""
_LONG: Final = 6
"""Digits of numbers that are given out."""
_KEY_NAME: Final = re.compile(
    r"(?i)(^|[_\W])(id|key|uid|uuid|nr|no|num|number|ref|mrn|ssn|code|aadhaar|account|acct|serial|index|row)$|[a-z]I[dD]$"
)
_MEASURED: Final = "all different, but spread so widely that chance repeats none: taken for a measurement"
_NINES: Final = re.compile(r"-?(9{2,}|8{2,}|7{2,})|-[1-9]")
_KEY: Final = r"^[A-Za-z_/:.-]*([0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}|[0-9A-Za-z-]*([0-9][A-Za-z-]*){6,})$"
"""UUIDs, and words with six digits or more."""
_NUMBER: Final = re.compile(r"[<>≤≥\[(\s]*(-?\d+(?:\.\d+)?)")
_SCALES: Final = (
    ("very low", "low", "medium", "high", "very high"),
    ("low", "moderate", "high", "extreme"),
    ("mild", "moderate", "severe", "critical"),
    ("minor", "moderate", "major", "extreme"),
    ("never", "rarely", "sometimes", "often", "always"),
    ("poor", "fair", "good", "very good", "excellent"),
    ("small", "medium", "large", "extra large"),
    ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
    ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"),
    (
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ),
    ("mon", "tue", "wed", "thu", "fri", "sat", "sun"),
    ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
)
_KINDS: Final = {
    ValueType.INTEGER: ShapeKind.WHOLE,
    ValueType.DECIMAL: ShapeKind.DECIMAL,
    ValueType.DATE: ShapeKind.DATE,
    ValueType.DATETIME: ShapeKind.DATETIME,
    ValueType.BOOLEAN: ShapeKind.BOOLEAN,
}


def shapes_of(
    frame: pl.DataFrame, declared: Mapping[str, ColumnShape] | None = None, *, rare: int = RARE
) -> dict[str, ColumnShape]:
    """Of every column its shape: as declared, or else as found.

    >>> table = pl.DataFrame({"sex": ["f", "m"] * 20, "age": [30, 40, 50, 60] * 10, "weight": [61.5, 70.25] * 20})
    >>> {name: str(shape.kind) for name, shape in shapes_of(table).items()}
    {'sex': 'category', 'age': 'whole', 'weight': 'decimal'}
    """
    refuse_unreadable(frame)
    said = dict(declared or {})
    unknown = [name for name in said if name not in frame.columns]
    if unknown:
        raise DataError(f"there is no column '{unknown[0]}' to declare the shape of")
    open_names = [name for name in frame.columns if name not in said]
    plain = frame.select(open_names).with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String))
    plain = plain.with_columns(pl.col(pl.Time).cast(pl.String))
    columns = detect(plain.lazy(), open_names) if open_names else {}
    return {name: said[name] if name in said else _found(frame[name], columns[name], rare) for name in frame.columns}


def _found(values: pl.Series, column: Column, rare: int) -> ColumnShape:
    present = values.drop_nulls()
    kind = ShapeKind.TIME if values.dtype == pl.Time() else _KINDS.get(column.type)
    if kind is ShapeKind.BOOLEAN:
        return ColumnShape(kind=kind, origin="found")
    if kind is None:
        return _text(present.cast(pl.String), rare)
    if kind is ShapeKind.WHOLE:
        return _whole(column.numbers(present), rare)
    if kind is ShapeKind.DECIMAL:
        finite = present.filter(present.cast(pl.Float64).is_finite())
        partly = len(finite) < len(present)
        return _decimal(column, column.numbers(finite), rare).model_copy(update={"partly": partly})
    stored = isinstance(values.dtype, pl.String)
    return ColumnShape(kind=kind, date_format=column.date_format if stored else None, origin="found")


def _text(present: pl.Series, rare: int) -> ColumnShape:
    counts = present.value_counts(name="records")
    lost = int(counts.filter(pl.col("records") < rare)["records"].sum())
    measured = partly_measured(present, counts, rare) if lost > _FEW * len(present) else None
    if measured is not None:
        return measured
    if counts.height == len(present) > _NO_IDENTIFIER:
        return ColumnShape(kind=ShapeKind.IDENTIFIER, origin="found")
    kept = counts.filter(pl.col("records") >= rare)
    if len(present) and (kept.is_empty() or _are_keys(counts[present.name])):
        return ColumnShape(kind=ShapeKind.TEXT, origin="found")
    order = natural_order(kept[present.name].to_list())
    label = OTHER if lost > _FEW * len(present) and not order else None
    kind = ShapeKind.ORDERED if order else ShapeKind.CATEGORY
    return ColumnShape(kind=kind, order=order, rare_as=label, origin="found")


def _are_keys(distinct: pl.Series) -> bool:
    """Whether values look like numbers of people or things, however many records each has: they name somebody."""
    return len(distinct) > _NO_IDENTIFIER and bool(distinct.str.contains(_KEY).all())


def natural_order(values: list[str]) -> tuple[str, ...]:
    """Categories from the least, where they are words of a known scale or begin with different numbers; else nothing.

    >>> natural_order(["High", "Low", "Medium"]), natural_order(["10-19", "0-9", "20+"]), natural_order(["red", "blue"])
    (('Low', 'Medium', 'High'), ('0-9', '10-19', '20+'), ())
    """
    if len(values) < 3:
        return ()
    lowered = {value.strip().lower(): value for value in values}
    for scale in _SCALES:
        if len(lowered) == len(values) and lowered.keys() <= set(scale):
            return tuple(lowered[word] for word in scale if word in lowered)
    numbers = {value: _NUMBER.match(value) for value in values}
    leading = {value: float(found[1]) + 0.5 * (">" in found[0]) for value, found in numbers.items() if found}
    if len(leading) == len(values) == len(set(leading.values())):
        return tuple(sorted(values, key=leading.__getitem__))
    return ()


def _whole(numbers: pl.Series, rare: int) -> ColumnShape:
    if numbers.n_unique() == len(numbers) > _NO_IDENTIFIER:
        why = _why_identifier(numbers)
        if why is not None:
            return ColumnShape(kind=ShapeKind.IDENTIFIER, origin="found", reason=why)
        return ColumnShape(kind=ShapeKind.WHOLE, origin="found", reason=_MEASURED, **_apart(numbers, rare))
    if len(numbers) and max(abs(int(end)) for end in (numbers.min(), numbers.max())) > _LARGEST:  # type: ignore[arg-type]
        return _text(numbers.cast(pl.String), rare)
    return ColumnShape(kind=ShapeKind.WHOLE, origin="found", **_apart(numbers, rare))


def _why_identifier(numbers: pl.Series) -> str | None:
    """Why whole numbers that are all different are taken for keys; None for a measurement.

    Measurements that are all different are so because they spread widely: then none would repeat by chance either.
    Keys are all different though chance would have repeated some, or are called so, or are evenly spread numbers of
    one length, as they are given out.

    >>> spread = pl.Series("pay", np.random.default_rng(1).lognormal(11, 1, 300).astype(int))
    >>> _why_identifier(spread), _why_identifier(pl.Series("x", range(300))), _why_identifier(spread.alias("pay_id"))
    (None, 'all different, which chance would not leave', 'all different, and called a key')
    """
    if _KEY_NAME.search(numbers.name):
        return "all different, and called a key"
    values = np.sort(numbers.to_numpy().astype(np.float64))
    in_order = numbers.is_sorted() or numbers.is_sorted(descending=True)
    if _expected_repeats(values) >= (1 if in_order else _REPEATS):
        return "all different, which chance would not leave"
    lengths = np.unique(np.floor(np.log10(np.maximum(np.abs(values), 1))))
    if len(lengths) == 1 and lengths[0] + 1 >= _LONG and _is_even(values):
        return "all different, of one length and evenly spread"
    return None


def _expected_repeats(values: np.ndarray) -> float:
    """Pairs of equal numbers among as many that are spread alike: counted in bins of equal numbers of records."""
    bins = max(1, min(50, len(values) // 10))
    edges = values[np.linspace(0, len(values) - 1, bins + 1).astype(np.int64)]
    widths = np.maximum(np.diff(edges), 1)
    return float((len(values) / bins) ** 2 / 2 * (1 / widths).sum())


def _is_even(values: np.ndarray) -> bool:
    """Whether numbers fill the range from the lowest to the highest evenly (Kolmogorov and Smirnov at 1 %)."""
    even = (values - values[0]) / max(values[-1] - values[0], 1)
    return bool(np.abs(even - np.arange(len(values)) / max(len(values) - 1, 1)).max() < 1.63 / np.sqrt(len(values)))


def _decimal(column: Column, numbers: pl.Series, rare: int) -> ColumnShape:
    largest = float(numbers.abs().max() or 0)  # type: ignore[arg-type]
    whole_digits = int(np.ceil(np.log10(largest + 1)))
    decimals = min(column.scale, MOST_DECIMALS, _EXACT_DIGITS - whole_digits)
    return ColumnShape(kind=ShapeKind.DECIMAL, decimals=decimals, origin="found", **_apart(numbers, rare))


def _apart(numbers: pl.Series, rare: int) -> dict[str, object]:
    """Special codes, and whether zero is one of the numbers or something else."""
    counts = numbers.alias("value").value_counts(name="records", sort=False).sort("value")
    values, records = counts["value"].to_numpy(), counts["records"].to_numpy()
    special = tuple(float(values[at]) for at in _special(values, records, rare))
    zero = np.flatnonzero(values == 0)
    inflated = len(zero) == 1 and len(values) > 2 and _is_spike(records, int(zero[0]), len(numbers))
    return {"special": special, "zero_inflated": bool(inflated)}


def _special(values: np.ndarray, records: np.ndarray, rare: int) -> list[int]:
    """Ends that look like codes, that enough records have, and that lie far from all others."""
    first, last, found = 0, len(values) - 1, []
    while last - first >= 3:
        candidates = [(last, values[last] - values[last - 1]), (first, values[first + 1] - values[first])]
        for at, gap in candidates:
            inner = abs(float(values[last - 1] - values[first] if at == last else values[last] - values[first + 1]))
            far = gap > max(inner, 1) or (at == first and values[first] < 0 <= values[first + 1])
            if records[at] >= rare and far and _NINES.fullmatch(f"{values[at]:g}"):
                found.append(at)
                first, last = (first, last - 1) if at == last else (first + 1, last)
                break
        else:
            break
    return sorted(found)


def _is_spike(records: np.ndarray, at: int, total: int) -> bool:
    others = np.delete(records, at)
    return bool(records[at] >= _INFLATED * total and records[at] > 3 * others.max())
