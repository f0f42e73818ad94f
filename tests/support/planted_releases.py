"""Releases of the same people that are safe alone and not together, made by recoding, without a solver."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from shoal.hierarchy.labels import text_of
from shoal.io import sha256_of
from shoal.policy.treatment import Treatment
from shoal.results.manifest import DataFile, Manifest, SolutionResult
from shoal.results.risk_results import ReleasedRisk
from shoal.schema import Role

STAR = "*"


def bands(name: str, width: int, origin: int = 0) -> pl.Expr:
    low = (pl.col(name).cast(pl.Int64) - origin) // width * width + origin
    return pl.format("{}-{}", low, low + width - 1).alias(name)


def k_anonymous(frame: pl.DataFrame, quasi: list[str], k: int) -> pl.DataFrame:
    """With the records of smaller classes starred."""
    small = pl.len().over(quasi) < k
    return frame.with_columns(pl.when(small).then(pl.lit(STAR)).otherwise(pl.col(name)).alias(name) for name in quasi)


def write_release(
    folder: Path,
    frame: pl.DataFrame,
    roles: dict[str, Role],
    *,
    kept: tuple[str, ...] = (),
    levels: dict[str, int] | None = None,
) -> Path:
    """A release folder with as much in its manifest as composition reads."""
    folder.mkdir(parents=True)
    text = frame.select(text_of(frame[name]).alias(name) for name in frame.columns)
    text.write_csv(folder / "data.csv")
    treatment = {
        name: Treatment.KEPT if role is not Role.QUASI or name in kept else Treatment.GENERALISED
        for name, role in roles.items()
    }
    manifest = Manifest(
        name=folder.name,
        data=DataFile(path="data.csv", rows=frame.height, sha256=sha256_of(folder / "data.csv")),
        roles=roles,
        treatment=treatment,
        risk=ReleasedRisk(k=_k(frame, [name for name, role in roles.items() if role is Role.QUASI])),
        solution=SolutionResult(recoding="global", levels=levels or {}),
    )
    (folder / "release.json").write_text(manifest.to_json(), encoding="utf-8")
    return folder


def _k(frame: pl.DataFrame, quasi: list[str]) -> int:
    told = frame.filter(pl.any_horizontal(pl.col(quasi) != STAR))
    return int(told.group_by(quasi).len()["len"].min() or 0)  # type: ignore[arg-type]  # a count
