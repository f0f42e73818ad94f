"""How much of the table is left: figures of merit from the released table, its hierarchies and the original's counts.

Of the cells of all quasi-identifiers of the source's records, attributes weighted; a record that was left out counts
like one of which every cell is starred:

- *loss*: the share of the attribute's domain that a released value stands for (0 = exact, 1 = anything), in the mean.
- *precision*: 1 − level ÷ height of the hierarchy, in the mean (Sweeney 2002). A label that several levels share counts
  for the lowest of them, since nobody can tell from the release which it was; for the loss and the entropy, it stands
  for all that it stands for on any of them.
- *entropy*: how many bits the cells hide, Σ −log₂(records with the original value ÷ records with a value that the
  released one stands for), counted in the original (De Waal and Willenborg 1999; Gionis and Tassa 2009); *entropy
  lost* is that as a share of what would be hidden if every cell were suppressed.
- *detail kept*: 1 − loss of the attributes that have more than one value; the others have no detail to lose.

Of the classes: *average class size*: released records per class. *discernibility*: Σ |class|² with every suppressed
record counted against all records of the source. *records kept*: of the source's records, those in a class; invented
ones are not among them, and those that no sample drew or that were left out are not kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from shoal.hierarchy import BoundHierarchy
from shoal.kernels.arrays import Floats
from shoal.measurement.risk.equivalence_classes import SUPPRESSED, Measurement

_TRACE = 1e-12
"""What rounding leaves of a difference of sums."""


@dataclass(frozen=True)
class Generalised:
    """What the labels of one attribute stand for."""

    labels: pl.DataFrame
    """Columns ``label`` (text), ``loss``, ``height`` (level ÷ highest level) and ``under``, the original's records."""
    bits: float
    """Σ n log₂ n over the original's values."""
    records: int
    weight: float

    @classmethod
    def by(cls, bound: BoundHierarchy, counted: pl.DataFrame, highest: int, weight: float = 1.0) -> Generalised:
        """``counted``: the original's ``value``s and their ``records``; ``highest``: the highest level in use."""
        values, records = counted["value"], counted["records"]
        labels = pl.concat(
            pl.DataFrame(
                [
                    bound.generalise(values, level).cast(pl.String).alias("label"),
                    pl.Series("loss", bound.loss(values, level)),
                    records.alias("under"),
                ]
            )
            .group_by("label", maintain_order=True)
            .agg(pl.col("loss").first(), pl.col("under").sum(), height=pl.lit(level / bound.height))
            for level in range(highest + 1)
        )
        # A label on several levels may stand for all that it stands for on any of them.
        labels = labels.group_by("label", maintain_order=True).agg(
            pl.col("loss", "under").max(), pl.col("height").first()
        )
        there = records.filter(records > 0).to_numpy().astype(np.float64)
        return cls(labels, float((there * np.log2(there)).sum()), int(records.sum()), weight)

    @property
    def varies(self) -> bool:
        """Whether the original has more than one value."""
        return self.at_most - self.bits > _TRACE * max(1.0, self.at_most)

    @property
    def at_most(self) -> float:
        """The same if all records had one value."""
        return float(self.records * np.log2(max(self.records, 1)))

    def released(self, measurement: Measurement, name: str) -> pl.DataFrame:
        """The attribute's labels in the table, with how many records have each; a star stands for everything."""
        everything = {"loss": 1.0, "height": 1.0, "under": self.records}
        starred = pl.col("label") == SUPPRESSED
        shown = measurement.released.select(pl.col(name).cast(pl.String).alias("label"), pl.col("records"))
        left_out = pl.DataFrame({"label": [SUPPRESSED], "records": [measurement.dropped]}, schema=shown.schema)
        return (
            pl.concat([shown, left_out])
            .group_by("label")
            .agg(pl.col("records").sum())
            .filter(pl.col("records") > 0)
            .join(self.labels, on="label", how="left", nulls_equal=True)
            .with_columns(
                pl.when(starred).then(value).otherwise(pl.col(about)).alias(about)
                for about, value in everything.items()
            )
            .sort("label")
        )


def cell_figures(measurement: Measurement, attributes: Mapping[str, Generalised]) -> dict[str, float]:
    """Entropy only where every record of the original is accounted for; nothing where a label is unknown, or where
    nobody can tell which records are invented.
    """
    weights = np.array([attribute.weight for attribute in attributes.values()])
    labels = [attribute.released(measurement, name) for name, attribute in attributes.items()]
    records = measurement.rows + measurement.dropped
    if not labels or not records or measurement.invented or any(known["loss"].has_nulls() for known in labels):
        return {}
    weights /= weights.sum()
    sums = np.array([_sums(known) for known in labels])
    loss, height, bits = weights @ sums
    found = {"loss": loss / records, "precision": 1 - height / records}
    varying = weights * [attribute.varies for attribute in attributes.values()]
    if varying.any():
        found["detail_kept"] = 1 - varying @ sums[:, 0] / varying.sum() / records
    if all(attribute.records == records for attribute in attributes.values()):
        known = weights @ [attribute.bits for attribute in attributes.values()]
        at_most = weights @ [attribute.at_most for attribute in attributes.values()]
        some = bits - known > _TRACE * at_most
        found["entropy"] = (bits - known) * len(weights) if some else 0.0
        found["entropy_lost"] = (bits - known) / (at_most - known) if some else 0.0
    return {name: float(value) for name, value in found.items()}


@dataclass(frozen=True)
class ColumnDetail:
    """What is left of the cells of one attribute."""

    loss: float
    levels: Mapping[int, float]
    """By the level that cells are on, the share of cells; those of records that were left out are on the highest."""


def column_detail(
    measurement: Measurement, attribute: str, generalised: Generalised, highest: int
) -> ColumnDetail | None:
    """``highest`` is the level of a star; None where a label is unknown, or nobody can tell which records are invented.

    >>> from shoal.hierarchy.kinds.intervals import IntervalHierarchy
    >>> from shoal.measurement import measure_classes
    >>> from shoal.schema import Column, ValueType
    >>> known = pl.DataFrame({"value": [31, 34, 47], "records": [1, 1, 2]})
    >>> bound = IntervalHierarchy(widths=(10,)).bind(Column("age", ValueType.INTEGER), known)
    >>> after = measure_classes(pl.LazyFrame({"age": ["30-39", "30-39", "47", "*"]}), ("age",))
    >>> column_detail(after, "age", Generalised.by(bound, known, 2), 2).levels
    {0: 0.25, 1: 0.5, 2: 0.25}
    """
    labels, records = generalised.released(measurement, attribute), measurement.rows + measurement.dropped
    if not records or measurement.invented or labels["loss"].has_nulls():
        return None
    level = (labels["height"] * highest).round().cast(pl.Int64).alias("level")
    by_level = labels.with_columns(level).group_by("level").agg(pl.col("records").sum()).sort("level")
    return ColumnDetail(
        float(_sums(labels)[0]) / records, {level: count / records for level, count in by_level.iter_rows()}
    )


def unknown_labels(measurement: Measurement, attributes: Mapping[str, Generalised]) -> dict[str, int]:
    """By attribute, how many released labels stand for nothing that is known."""
    unknown = {name: one.released(measurement, name)["loss"].null_count() for name, one in attributes.items()}
    return {name: number for name, number in unknown.items() if number}


def _sums(labels: pl.DataFrame) -> Floats:
    """Over the records: what they lose, how high they are, and log₂ of what they stand for."""
    each = (labels["loss"], labels["height"], labels["under"].log(2))
    return np.array([labels["records"].to_numpy() @ figure.to_numpy() for figure in each])


def class_figures(measurement: Measurement) -> dict[str, float]:
    records, source = measurement.classes.records, measurement.source_records
    squared = int((records.astype(object) ** 2).sum()) if len(records) else 0
    return {
        "average_class_size": int(records.sum()) / len(records) if len(records) else 0.0,
        "discernibility": float(squared + measurement.suppressed_records * source),
        "records_kept": measurement.kept_records / source if source else 0.0,
    }
