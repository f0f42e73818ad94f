"""A hierarchy for one column, by what its values are: numbers, dates, codes of a classification, places, other codes.

What is proposed can stand in a policy as it is. Nothing in it is a value of the column: intervals begin and end at
round numbers, near the quantiles between which most records lie.

>>> ages = pl.LazyFrame({"age": list(range(18, 90)) * 3})
>>> choose_hierarchy(ages, "age").setting
{'intervals': {'widths': [5, 10, 20]}}
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from shoal.discover.recognisers import Setting, words
from shoal.discover.value_kinds import OF_CODES
from shoal.errors import DataError
from shoal.hierarchy import BoundHierarchy, FlatHierarchy, parse_hierarchy
from shoal.hierarchy.classifications.classification import classification, classification_names
from shoal.hierarchy.places.gazetteer import AREA_LEVELS, AreaLevel, Whereabouts, find_places
from shoal.schema.columns import Column
from shoal.schema.registry import did_you_mean
from shoal.schema.type_detection import detect
from shoal.schema.values import ValueType

KNOWN = 0.95
"""The share of records whose values have to be known for facts to fit a column."""
MOST = 0.98
"""The share of records that lies between the ends of the intervals."""
STEPS = 20
"""Intervals on the lowest level, about."""
RARE = 10
LONG_SPAN = 3 * 366
"""Days from which on decades say something."""


@dataclass(frozen=True)
class HierarchyChoice:
    """What to write into a policy, and why; bound to the values that it was chosen for."""

    column: Column
    setting: Setting | None
    reason: str
    source: str
    """Where facts that it rests on are from; empty where it rests on none."""
    bound: BoundHierarchy
    values: pl.Series
    """The distinct values."""


@dataclass(frozen=True)
class _Proposal:
    setting: Setting
    reason: str
    source: str = ""


def choose_hierarchy(frame: pl.LazyFrame, name: str) -> HierarchyChoice:
    """The first kind that fits, the most telling ones first; without any, the value as it is or ``*``."""
    names = tuple(frame.collect_schema())
    if name not in names:
        raise DataError(f"the data has no column '{name}'{did_you_mean(name, names)}")
    column = detect(frame, [name])[name]
    counted = frame.select(value=pl.col(name)).drop_nulls().group_by("value").len("records").sort("value")
    distinct = counted.collect(engine="streaming")
    if distinct.is_empty():
        raise DataError(f"column '{name}' has no values")
    for proposal in _proposals(column, distinct):
        hierarchy = parse_hierarchy(proposal.setting)
        if hierarchy.refuse(column) is None:
            bound = hierarchy.bind(column, distinct)
            return HierarchyChoice(column, proposal.setting, proposal.reason, proposal.source, bound, distinct["value"])
    why = "its values are neither numbers nor dates nor codes that are known: they stay, or become *"
    return HierarchyChoice(column, None, why, "", FlatHierarchy().bind(column, distinct), distinct["value"])


def _proposals(column: Column, distinct: pl.DataFrame) -> Iterator[_Proposal]:
    if column.is_date:
        yield _dates(column, distinct)
        return
    yield from _classified(column, distinct)
    code = bool(OF_CODES & set(words(column.name).split()))
    if column.is_number and not code:
        yield from _intervals(column, distinct)
        return
    yield from _places(distinct)
    yield from _prefixes(distinct)
    if 0 < _share(distinct, distinct["records"] < RARE) < 1:
        yield _Proposal({"rare": {"minimum": RARE}}, f"values that fewer than {RARE} records have become one group")


def _dates(column: Column, distinct: pl.DataFrame) -> _Proposal:
    days = column.dates(distinct["value"]).cast(pl.Date).dt.epoch("d")
    long = int(np.ptp(days.to_numpy())) > LONG_SPAN
    levels = ["month", "quarter", "year", "decade"] if long else ["month", "quarter", "year"]
    return _Proposal({"dates": levels}, "dates become months, quarters and years")


def _classified(column: Column, distinct: pl.DataFrame) -> Iterator[_Proposal]:
    """Classifications that the column's name speaks of, and that know its values."""
    texts, called = distinct["value"].cast(pl.String), set(words(column.name).split())
    number = column.type is ValueType.INTEGER
    fitting = []
    for name in classification_names():
        one = classification(name)
        if called & set(one.facts.columns.split()):
            known = pl.Series([one.labels(text, number=number) is not None for text in texts])
            if (share := _share(distinct, known)) >= KNOWN:
                fitting.append((share, name))
    for share, name in sorted(fitting, reverse=True):
        setting: Setting = name if share == 1 else {"name": name, "unknown": "suppress"}
        facts = classification(name).facts
        few = "" if share == 1 else f"; {1 - share:.1%} of the records have values that are not known, and are starred"
        yield _Proposal({"classification": setting}, f"they are codes or names of: {facts.title}{few}", facts.source)


def _places(distinct: pl.DataFrame) -> Iterator[_Proposal]:
    texts = distinct["value"].cast(pl.String)
    found = find_places(texts.to_list())
    known = pl.Series([text in found for text in texts])
    share = _share(distinct, known)
    levels = list(_telling(texts, found))
    if share < KNOWN or not levels:
        return
    setting: dict[str, Setting] = {"levels": [str(level) for level in levels]}
    setting |= {} if share == 1 else {"unknown": "suppress"}
    few = "" if share == 1 else f"; {1 - share:.1%} of the records have names that are not known, and are starred"
    source = "GeoNames; United Nations, M49; Zonal Councils of India; Urban Redevelopment Authority of Singapore"
    yield _Proposal({"places": setting}, f"they are places, which become larger ones{few}", source)


def _telling(texts: pl.Series, found: Mapping[str, Whereabouts]) -> Iterator[AreaLevel]:
    """Levels on which fewer areas are left than on the one below; where all lie in one, it says nothing."""
    before = len({text for text in texts if text in found})
    for level in AREA_LEVELS:
        areas = len({getattr(found[text], level) for text in texts if text in found})
        if 1 < areas < before:
            yield level
            before = areas


def _prefixes(distinct: pl.DataFrame) -> Iterator[_Proposal]:
    """Codes of one length, as postal codes are: the last characters go first."""
    texts = distinct["value"].cast(pl.String)
    lengths = texts.str.len_chars().unique()
    if len(lengths) == 1 and 3 <= int(lengths[0]) <= 12 and texts.str.contains(r"^[\w-]*\d[\w-]*$").all():
        half = max(2, int(lengths[0]) // 2)
        steps = sorted({1, half, int(lengths[0]) - 1})
        yield _Proposal({"redact": {"steps": steps}}, "codes of one length: their last characters go first")


def _intervals(column: Column, distinct: pl.DataFrame) -> Iterator[_Proposal]:
    numbers = column.numbers(distinct["value"]).cast(pl.Float64)
    low, high = (_quantile(numbers, distinct["records"], share) for share in (1 - MOST, MOST))
    if high <= low:
        return
    width = _round_width((high - low) / STEPS, whole=column.type is ValueType.INTEGER)
    widths = [width, 2 * width, 4 * width]
    setting: dict[str, Setting] = {"widths": [_plain(one) for one in widths]}
    first, last = math.floor(low / widths[-1]) * widths[-1], math.ceil(high / widths[-1]) * widths[-1]
    if float(numbers.min() or 0) < first:  # type: ignore[arg-type]  # numbers
        setting["low"] = _plain(first)
    if float(numbers.max() or 0) > last + width:  # type: ignore[arg-type]  # numbers
        setting["high"] = _plain(last)
    reason = f"numbers become intervals: nearly all records lie within {STEPS} or so of the narrowest"
    yield _Proposal({"intervals": setting}, reason)


def _quantile(numbers: pl.Series, records: pl.Series, share: float) -> float:
    """The number that this share of the records does not exceed; numbers are in no order yet."""
    table = pl.DataFrame({"number": numbers, "records": records}).sort("number")
    reached = table["records"].cum_sum() >= share * int(records.sum())
    return float(table["number"].filter(reached)[0])


def _round_width(width: float, *, whole: bool) -> float:
    """1, 2 or 5 times a power of ten, not below the width."""
    power = 10.0 ** math.floor(math.log10(width))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= width * (1 - 1e-9))
    return max(1.0, step) if whole else step


def _plain(number: float) -> float:
    """A whole number where it is one; otherwise without what binary fractions leave behind."""
    tidy = float(f"{number:.10g}")
    return int(tidy) if tidy.is_integer() else tidy


def _share(distinct: pl.DataFrame, chosen: pl.Series) -> float:
    """Of the records."""
    return float(distinct["records"].filter(chosen).sum()) / float(distinct["records"].sum())
