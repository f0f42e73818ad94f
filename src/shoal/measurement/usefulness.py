"""How much of the table is left: figures of merit from the released table alone.

*loss*: over all cells of all quasi-identifiers, the share of the attribute's domain that a released value stands for
(0 = exact, 1 = anything). *average class size*: kept records per class. *discernibility*: Σ |class|² with every
suppressed record counted against the whole table.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from shoal.measurement.risk import SUPPRESSED, Measurement

CellLosses = Mapping[str, pl.DataFrame]
"""Per attribute, what a released value loses: columns ``label`` (text) and ``loss``."""


def loss_of(measurement: Measurement, cell_losses: CellLosses, weights: Mapping[str, float]) -> float:
    """The normalised generalisation loss of a measured table; a starred cell loses 1."""
    total = sum(weights[name] for name in cell_losses)
    if not total or not measurement.rows:
        return 0.0
    lost = (weights[name] * _lost(measurement.released, name, losses) for name, losses in cell_losses.items())
    return sum(lost) / total / measurement.rows


def _lost(released: pl.DataFrame, name: str, losses: pl.DataFrame) -> float:
    """The sum of losses over all cells of one attribute."""
    counted = (
        released.group_by(pl.col(name).cast(pl.String).alias("label"))
        .agg(pl.col("records").sum())
        .join(losses, on="label", how="left", nulls_equal=True)
        .with_columns(pl.when(pl.col("label") == SUPPRESSED).then(1.0).otherwise(pl.col("loss")).alias("loss"))
        .sort("label")
    )
    return float((counted["records"].to_numpy() * counted["loss"].to_numpy()).sum())


def class_figures(measurement: Measurement) -> dict[str, float]:
    records = measurement.classes.records
    squared = int((records.astype(object) ** 2).sum()) if len(records) else 0
    kept = int(records.sum())
    return {
        "average_class_size": kept / len(records) if len(records) else 0.0,
        "discernibility": float(squared + measurement.suppressed * measurement.rows),
        "records_kept": kept / measurement.rows if measurement.rows else 0.0,
    }
