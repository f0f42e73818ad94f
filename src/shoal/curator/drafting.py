"""A first description of a dataset. Types are looked up in the first rows; bounds and categories never are.

What everybody knows about a kind of column (an age, a month, a share in per cent) is filled in, and so is what a
codebook lists. The rest stands open, and a description with something open is none.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polars as pl
import yaml

from shoal.curator.curator import positive_amount
from shoal.dp.description import ColumnKind
from shoal.dp.scalars import ISO_DATE, ISO_MOMENT
from shoal.errors import InputError
from shoal.io import Source, beginning, explained
from shoal.policy import Policy
from shoal.schema.registry import did_you_mean

LOOKED_AT: Final = 1000
"""Rows that types are taken from."""
OPEN: Final = "FILL IN"
PUBLIC_BOUNDS: Final[Mapping[str, tuple[int, int]]] = {
    "age": (0, 120),
    "month": (1, 12),
    "weekday": (1, 7),
    "hour": (0, 23),
    "percent": (0, 100),
    "percentage": (0, 100),
    "temperature": (30, 45),
    "height": (30, 250),
    "weight": (0, 300),
    "pulse": (0, 300),
}
"""By what a column is called: bounds that hold for anybody, in the units that are usual."""


@dataclass(frozen=True)
class DraftedDescription:
    text: str
    open: tuple[str, ...]
    """Columns about which something has to be filled in."""


@dataclass(frozen=True)
class DraftRequest:
    place: str
    """Of the data."""
    output: Path
    """Where the description will stand; the dataset takes its name."""
    person: str | None
    rows_per_person: int
    epsilon: str
    codebook: Path | None = None


def drafted(source: Source, asked: DraftRequest) -> DraftedDescription:
    with explained(source):
        sample = beginning(source, LOOKED_AT).collect()
    person, epsilon = asked.person, positive_amount(asked.epsilon, "epsilon")
    if asked.rows_per_person < 1:
        raise InputError("at least 1", field="rows_per_person")
    if person is not None and person not in sample.columns:
        raise InputError(f"no column '{person}'{did_you_mean(person, tuple(sample.columns))}", field="person")
    listed = {} if asked.codebook is None else _listed(asked.codebook)
    place = _relative(asked.place, asked.output.parent)
    lines = ["shoal: 1", f"name: {_safe(asked.output.stem)}", f"source: {_written(place)}"]
    if person is not None:
        lines += [f"person: {_written(person)}", f"rows_per_person: {asked.rows_per_person}"]
    lines.append("columns:  # bounds and categories are public knowledge, never taken from the data")
    still: list[str] = []
    for column in (name for name in sample.columns if name != person):
        kind = _kind(sample[column])
        told = _facts(column, kind, listed.get(column))
        if OPEN in told:
            still.append(column)
        lines.append(f"  {_written(column)}: {{type: {kind.value}{told}}}")
    lines += [f"budget: {{epsilon: {epsilon:f}}}", ""]
    return DraftedDescription("\n".join(lines), tuple(still))


def _facts(column: str, kind: ColumnKind, listed: tuple[str, ...] | None) -> str:
    if kind is ColumnKind.CATEGORY:
        return "" if listed is None else f", categories: [{', '.join(_written(one) for one in listed)}]"
    if kind is ColumnKind.BOOLEAN:
        return ""
    words = column.lower().replace("_", " ").replace("-", " ").split()
    known = next((PUBLIC_BOUNDS[word] for word in words if word in PUBLIC_BOUNDS), None)
    if known is not None and kind is not ColumnKind.DATE:
        return f", bounds: [{known[0]}, {known[1]}]"
    return f", bounds: [{OPEN}, {OPEN}]"


def _kind(values: pl.Series) -> ColumnKind:
    if values.dtype == pl.Boolean:
        return ColumnKind.BOOLEAN
    if values.dtype.is_temporal():
        return ColumnKind.DATE
    if values.dtype.is_integer():
        return ColumnKind.INTEGER
    if values.dtype.is_numeric():
        return ColumnKind.NUMBER
    text = values.cast(pl.String).str.strip_chars()
    text = text.filter(text != "")
    for kind, parsed in _readings(text):
        if len(text) and not parsed.has_nulls():
            return kind
    return ColumnKind.CATEGORY


def _readings(text: pl.Series) -> Iterator[tuple[ColumnKind, pl.Series]]:
    yield ColumnKind.INTEGER, text.cast(pl.Int64, strict=False)
    yield ColumnKind.NUMBER, text.cast(pl.Float64, strict=False)
    yield ColumnKind.DATE, text.str.replace(ISO_MOMENT, "$1").str.to_date(ISO_DATE, strict=False)


def _listed(codebook: Path) -> dict[str, tuple[str, ...]]:
    """What the hierarchies of a policy list: values that there can be, whoever is in the data."""
    policy = Policy.load(codebook)
    found = {
        name: attribute.hierarchy.resolve(policy.folder).listed()
        for name, attribute in policy.attributes.items()
        if attribute.hierarchy is not None
    }
    return {name: tuple(one for one in values if one) for name, values in found.items() if values}


def _relative(place: str, folder: Path) -> str:
    return place if "://" in place else os.path.relpath(place, folder)


def _written(text: str) -> str:
    """As a scalar of YAML, in quotes where it needs them."""
    return yaml.safe_dump(text, default_flow_style=True, allow_unicode=True, width=10_000).removesuffix("...\n").strip()


def _safe(name: str) -> str:
    kept = "".join(letter if letter.isalnum() or letter in "_-" else "-" for letter in name).strip("-")
    return kept or "dataset"
