"""A release as a notebook shows it: figures, verdicts, the first records. Nothing in it is not released."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from shoal.errors import InputError
from shoal.io.frames import as_lazy
from shoal.results.manifest import Manifest
from shoal.results.number_format import number
from shoal.schema.notebook_html import card, grid, listing, tick

PREVIEW_ROWS, PREVIEW_COLUMNS = 5, 12


def release_figures(manifest: Manifest) -> dict[str, str]:
    """What is looked at first, by name."""
    figures = {"records": f"{manifest.data.rows or 0:,}"}
    if manifest.risk is not None and manifest.risk.k:
        figures["k"] = str(manifest.risk.k)
    if manifest.solution is not None and manifest.solution.loss is not None:
        figures["loss"] = number(manifest.solution.loss)
    return {**figures, "suppressed": f"{manifest.suppressed.records:,}"}


def release_card(manifest: Manifest, data: object, folder: Path | None) -> str:
    """``data`` is the released table, or where it lies."""
    verdicts = grid(("what", "required", "achieved", ""), _verdicts(manifest))
    return card(
        f"Release: {manifest.name}",
        release_figures(manifest) | ({} if folder is None else {"folder": str(folder)}),
        verdicts,
        listing("Warnings", map(str, manifest.warnings)),
        _preview(data),
    )


def _verdicts(manifest: Manifest) -> Iterator[tuple[str, str, str, str]]:
    """The models; and the threshold of the declared harm, which they may all meet and still leave unmet."""
    for model in manifest.models:
        achieved = "∞" if model.achieved is None else number(model.achieved)
        yield str(model.name), number(model.required), achieved, tick(met=model.met)
    if (assessed := manifest.assessment) is not None:
        figures = number(assessed.threshold), number(assessed.probability)
        yield f"re-identification, harm {assessed.harm}", *figures, tick(met=assessed.within)


def _preview(data: object) -> str:
    if data is None or isinstance(data, str | Path):
        return ""
    try:
        head = as_lazy(data).head(PREVIEW_ROWS).collect()
    except InputError:
        return ""
    shown = head[:, :PREVIEW_COLUMNS].with_columns(pl.all().cast(pl.String, strict=False))
    rows = [["" if cell is None else cell for cell in row] for row in shown.rows()]
    return grid(shown.columns, rows)
