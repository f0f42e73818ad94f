"""Made-up people for private methods, and what can be read off a model of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from shoal.dp.auditing import Samples
from shoal.kernels.arrays import Floats
from shoal.randomness import Randomness
from shoal.synth.column_shapes import ColumnShape, ShapeKind
from shoal.synth.method import FitOptions, synthesis_method
from shoal.synth.methods.marginals import MarginalsModel
from shoal.synth.methods.network import NetworkModel
from shoal.synth.table_coding import TableDescription

PRIVATE = ("marginals", "network")
DRAWN = 16_000
PrivateModel = MarginalsModel | NetworkModel


def people(rows: int = 4_000, seed: int = 1) -> pl.DataFrame:
    numbers = np.random.default_rng(seed)
    sex = numbers.choice(["f", "m"], rows, p=[0.4, 0.6])
    age = numbers.integers(18, 80, rows)
    job = np.where(age > 62, "retired", np.where(numbers.random(rows) < 0.3, "teacher", "nurse"))
    pay = np.where(job == "retired", 20_000, 35_000 + 300 * age) * numbers.normal(1, 0.1, rows)
    unsaid = pl.Series(numbers.random(rows) < 0.2)
    return pl.DataFrame(
        {
            "sex": sex,
            "age": age,
            "job": pl.Series(job).set(unsaid, None),
            "pay": pay.round(2),
            "born": pl.Series(2026 - age).cast(pl.String).str.strptime(pl.Date, "%Y"),
            "member": age % 2 == 0,
        }
    )


def fit(frame: pl.DataFrame, method: str = "marginals", **options: Any) -> PrivateModel:
    given: dict[str, Any] = {"epsilon": 10.0, "delta": 1e-6, **options}
    model = synthesis_method(method).fit(frame, FitOptions(**given))
    assert isinstance(model, MarginalsModel | NetworkModel)
    return model


def categories(**names: str) -> TableDescription:
    """Columns whose categories are public, each a letter."""
    shapes = {name: ColumnShape(kind=ShapeKind.CATEGORY, categories=tuple(all_)) for name, all_ in names.items()}
    return TableDescription(columns=shapes)


def told(model: PrivateModel, name: str, values: str) -> list[float]:
    """What a model says of how many records have each value, as far as noise leaves any; NaN where it has no code."""
    if name not in model.coding.names:
        return [float("nan")] * len(values)
    place = model.coding.names.index(name)
    attribute, codes = model.coding.attributes[place], model.coding.coding.codes[name]
    counts = attribute.counts[attribute.groups.of] * attribute.shares
    known = {value: counts[code + codes.missing] for value, code in zip(codes.names, codes.codes, strict=True)}
    return [float(known.get(value, np.nan)) for value in values]


def told_together(model: PrivateModel, values: Sequence[str]) -> float:
    """The same of records that have the one value in the first column and the other in the second."""
    codes = list(model.coding.coding.codes.values())
    known = [value in getattr(one, "names", ()) for one, value in zip(codes, values, strict=False)]
    if known != [True, True]:
        return float("nan")
    at = [one.codes[one.names.index(value)] + one.missing for one, value in zip(codes, values, strict=True)]
    groups = [attribute.groups.of[code] for attribute, code in zip(model.coding.attributes, at, strict=True)]
    shares = [attribute.shares[code] for attribute, code in zip(model.coding.attributes, at, strict=True)]
    return float(_pair(model)[tuple(groups)] * np.prod(shares) * model.records)


def _pair(model: PrivateModel) -> Floats:
    """Of two columns, the share of each combination of groups."""
    if isinstance(model, MarginalsModel):
        return model.tree.marginal((0, 1))
    first, second = model.tables
    joint = first.shares[0][:, None] * second.shares
    return joint if first.column == 0 else joint.T


def drawn_by(method: str, frame: pl.DataFrame, times: int, nasty: dict[str, str], **options: Any) -> Samples:
    """What a recipient sees of one person: of tables from models fitted anew, how many records have what they have."""
    has = [pl.col(name) == value for name, value in nasty.items()]
    rows = []
    for _ in range(times):
        table = synthesis_method(method).fit(frame, FitOptions(**options)).sample(DRAWN, Randomness())
        rows.append([*(table.filter(one).height for one in has), table.filter(pl.all_horizontal(has)).height])
    return np.array(rows, dtype=np.float64)


def many(frame: pl.DataFrame, times: int, names: dict[str, str], method: str, **options: Any) -> Samples:
    """One row for each model that was fitted anew; the last name of each column is the nasty one."""
    rows = []
    for _ in range(times):
        model = fit(frame, method, **options)
        alone = [one for name, values in names.items() for one in told(model, name, values)]
        nasty = [told_together(model, [values[-1] for values in names.values()])] if len(names) == 2 else []
        rows.append([model.records, *alone, *nasty])
    return np.array(rows)
