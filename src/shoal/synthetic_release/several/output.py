"""Where several synthetic tables go: one release folder with a folder for each, or back to the caller."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import polars as pl

from shoal.io import Source, Staging, sha256_of, writing
from shoal.io.frames import like
from shoal.results.base import json_text
from shoal.results.manifest import FurtherFile
from shoal.results.multi_table_manifest import MultiTableManifest
from shoal.schema.notebook_html import card, listing, short
from shoal.synth.related_tables.files import save_related_tables
from shoal.synth.related_tables.model import RelatedTablesModel
from shoal.synthetic_release.output import SyntheticFolder, SyntheticRelease

MODEL: Final = "model.npz"
_PARTS: Final = "parts"


@dataclass(frozen=True)
class SyntheticTablesRelease:
    """A finished release: its tables, each with manifest and report of its own, and what they are together."""

    manifest: MultiTableManifest
    html: str = field(repr=False)
    tables: Mapping[str, SyntheticRelease]
    model: RelatedTablesModel = field(repr=False)
    """More can be drawn from it: ``model.sample(parents, randomness)``."""
    folder: Path | None = None

    def __repr__(self) -> str:
        return short("SyntheticTablesRelease", self.manifest.name, self._figures())

    def _repr_html_(self) -> str:
        """For notebooks: what is guaranteed and what not."""
        told = self.manifest.synthesis
        said = () if told is None else (("Guaranteed", told.guaranteed), ("Not guaranteed", told.not_guaranteed))
        head = f"Synthetic release: {self.manifest.name}"
        return card(head, self._figures(), *(listing(title, words) for title, words in said))

    def _figures(self) -> dict[str, str]:
        figures = {name: f"{one.manifest.data.rows or 0:,} records" for name, one in self.tables.items()}
        return figures | ({} if self.folder is None else {"folder": str(self.folder)})

    @property
    def data(self) -> dict[str, Any]:
        """The tables by name, or the paths of their files."""
        return {name: one.data for name, one in self.tables.items()}


class SpooledTables:
    """Blocks of several tables, put aside as they are drawn: memory holds one block, however many there are."""

    def __init__(self, place: Path | None) -> None:
        self._place = None if place is None else place / _PARTS
        self._parts: dict[str, list[Path | pl.DataFrame]] = {}
        self.rows: dict[str, int] = {}

    def add(self, blocks: Iterable[Mapping[str, pl.DataFrame]]) -> Iterator[int]:
        """Yields the number of records after each block."""
        for block in blocks:
            for name, frame in block.items():
                self._parts.setdefault(name, []).append(self._aside(name, frame))
                self.rows[name] = self.rows.get(name, 0) + frame.height
            yield sum(self.rows.values())

    def _aside(self, name: str, frame: pl.DataFrame) -> Path | pl.DataFrame:
        if self._place is None:
            return frame
        self._place.mkdir(exist_ok=True)
        path = self._place / f"{name}-{len(self._parts[name])}"
        with writing("the release"):
            frame.write_ipc(path)
        return path

    def batches(self, name: str) -> Iterator[pl.DataFrame]:
        for part in self._parts[name]:
            yield part if isinstance(part, pl.DataFrame) else pl.read_ipc(part)

    def schema(self, name: str) -> pl.Schema:
        return next(self.batches(name)).schema

    def head(self, name: str, rows: int) -> pl.DataFrame:
        kept: list[pl.DataFrame] = []
        for batch in self.batches(name):
            kept.append(batch.head(rows - sum(one.height for one in kept)))
            if sum(one.height for one in kept) >= rows:
                break
        return pl.concat(kept)

    def whole(self, name: str, example: object) -> Any:
        return like(example, pl.concat(list(self.batches(name))))

    def remove(self) -> None:
        if self._place is not None and self._place.exists():
            shutil.rmtree(self._place)


@dataclass(frozen=True)
class RelatedFolder:
    """A release folder in the making."""

    folder: Path
    staging: Staging

    def table(self, name: str, source: Source) -> SyntheticFolder:
        place = self.staging.path / name
        place.mkdir(exist_ok=True)
        return SyntheticFolder(self.folder / name, place, source)

    def keep_model(self, model: RelatedTablesModel, about: str) -> tuple[FurtherFile, ...]:
        path = self.staging.path / MODEL
        save_related_tables(model, path)
        return (FurtherFile(path=MODEL, rows=0, sha256=sha256_of(path), about=about),)

    def finish(self, manifest: MultiTableManifest, pages: Mapping[str, str]) -> None:
        with writing(str(self.folder)):
            (self.staging.path / "release.json").write_text(json_text(manifest.to_dict()), encoding="utf-8")
            for name, page in pages.items():
                (self.staging.path / name).write_text(page, encoding="utf-8")
        self.staging.commit()
