"""Where a synthetic table goes: into a release folder that appears whole or not at all, or back to the caller."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

import polars as pl
from polars.exceptions import PolarsError

from shoal.errors import BugError
from shoal.io import FileTarget, Source, Staging, file_target, sha256_of, write_atomic, writing
from shoal.io.frames import like
from shoal.kernels.batch_streams import ahead, streamed
from shoal.release.further_files import DataInspection, describe_data_file, formulas_in, inspect_data
from shoal.results.attack_results import AttackResult
from shoal.results.manifest import DataFile, FurtherFile, Manifest
from shoal.results.synthesis import FidelityResult
from shoal.schema.notebook_html import card, listing, short
from shoal.synth.method import SynthesisModel
from shoal.synth.model_files import save_model

MODEL: Final = "model.npz"
_ABOUT_MODEL: Final = "the model that the data was drawn from; it holds no record"


@dataclass(frozen=True)
class SyntheticRelease:
    """A finished synthetic release: the data (or the path of it), its manifest, its report, the model."""

    manifest: Manifest
    html: str = field(repr=False)
    data: Any = field(repr=False)
    model: SynthesisModel | None = field(repr=False)
    """More can be drawn from it: ``model.sample(rows, randomness)``. None where rows are those of real people."""
    folder: Path | None = None

    def __repr__(self) -> str:
        return short("SyntheticRelease", self.manifest.name, self._figures())

    def _repr_html_(self) -> str:
        """For notebooks: what is guaranteed and what not."""
        told = self.manifest.synthesis
        said = () if told is None else (("Guaranteed", told.guaranteed), ("Not guaranteed", told.not_guaranteed))
        return card(
            f"Synthetic release: {self.manifest.name}", self._figures(), *(listing(head, words) for head, words in said)
        )

    def _figures(self) -> dict[str, str]:
        figures = {"method": self.manifest.method or "", "records": f"{self.manifest.data.rows or 0:,}"}
        if self.manifest.attacks is not None:
            figures["attacks that succeed"] = str(sum(one.found for one in self.manifest.attacks))
        return figures | ({} if self.folder is None else {"folder": str(self.folder)})

    @property
    def fidelity(self) -> FidelityResult | None:
        """How much of the original it still tells; None where that was not measured."""
        return self.manifest.fidelity

    @property
    def attacks(self) -> tuple[AttackResult, ...]:
        return self.manifest.attacks or ()

    def report(self, path: str | Path) -> Path:
        """Write the report as one HTML file."""
        write_atomic(Path(path), self.html)
        return Path(path)


class SyntheticOutput(Protocol):
    """The output of one synthesis, in the making."""

    def write(self, schema: pl.Schema, batches: Iterator[pl.DataFrame]) -> None: ...

    @property
    def is_text(self) -> bool:
        """Whether it is a file without types."""

    def scan(self) -> pl.LazyFrame:
        """What was written."""

    def describe(self, rows: int) -> DataFile: ...

    def warnings(self) -> Sequence[str]:
        """What to know of the form in which it is written."""

    def keep_model(self, model: SynthesisModel) -> tuple[FurtherFile, ...]: ...

    def finish(self, manifest: Manifest, pages: Mapping[str, str], model: SynthesisModel | None) -> SyntheticRelease:
        """From here on the release is there. ``pages`` by the names of their files."""


@contextmanager
def open_output(
    folder: Path | None, source: Source | None, example: object, *, force: bool
) -> Iterator[SyntheticOutput]:
    """A folder, or tables in memory of the kind of ``example``. Leaving without a finish leaves nothing."""
    if folder is None:
        yield SyntheticFrame(example)
        return
    with Staging(folder, force=force) as staging:
        yield SyntheticFolder(folder, staging.path, source, staging.commit)


class SyntheticFrame:
    def __init__(self, example: object) -> None:
        self._example = example
        self._frame = pl.DataFrame()
        self.is_text = isinstance(example, str | Path)  # a path was read as text, whatever it holds

    def write(self, schema: pl.Schema, batches: Iterator[pl.DataFrame]) -> None:
        self._frame = pl.concat([pl.DataFrame(schema=schema), *batches])

    def scan(self) -> pl.LazyFrame:
        return self._frame.lazy()

    def describe(self, rows: int) -> DataFile:
        return DataFile(path="", rows=rows, sha256="")

    def warnings(self) -> Sequence[str]:
        return ()

    def keep_model(self, model: SynthesisModel) -> tuple[FurtherFile, ...]:
        """The release has it in any case."""
        return ()

    def finish(self, manifest: Manifest, pages: Mapping[str, str], model: SynthesisModel | None) -> SyntheticRelease:
        return SyntheticRelease(manifest, pages["report.html"], like(self._example, self._frame), model)


class SyntheticFolder:
    """In the making at ``place``; ``commit`` puts it where it belongs, unless that is done for several at once."""

    def __init__(
        self, folder: Path, place: Path, source: Source | None, commit: Callable[[], None] | None = None
    ) -> None:
        self._folder = folder
        self._place = place
        self._commit = commit
        kind = "csv" if source is None else None
        self._target: FileTarget = file_target(place / "data", like=source, file_format=kind)
        self._inspected: DataInspection | None = None

    def write(self, schema: pl.Schema, batches: Iterator[pl.DataFrame]) -> None:
        failed: list[BaseException] = []
        if self._target.delimited:
            self._target.write_batches(schema, ahead(batches))
            return
        try:
            self._target.write(streamed(lambda: _noted(batches, failed), schema))
        except PolarsError:
            raise (failed or [BugError("the data could not be written")])[0] from None

    @property
    def is_text(self) -> bool:
        return self._target.delimited

    def scan(self) -> pl.LazyFrame:
        return self._target.scan()

    @property
    def _inspection(self) -> DataInspection:
        self._inspected = self._inspected or inspect_data(self._target)
        return self._inspected

    def describe(self, rows: int) -> DataFile:
        return describe_data_file(self._target, rows, self._inspection.sha256)

    def warnings(self) -> Sequence[str]:
        return tuple(formulas_in(self._target.path.name, self._inspection.formulas, (), escape=False))

    def keep_model(self, model: SynthesisModel) -> tuple[FurtherFile, ...]:
        path = self._place / MODEL
        save_model(model, path)
        return (FurtherFile(path=MODEL, rows=0, sha256=sha256_of(path), about=_ABOUT_MODEL),)

    def finish(self, manifest: Manifest, pages: Mapping[str, str], model: SynthesisModel | None) -> SyntheticRelease:
        with writing(str(self._folder)):
            (self._place / "release.json").write_text(manifest.to_published_json(), encoding="utf-8")
            for name, page in pages.items():
                (self._place / name).write_text(page, encoding="utf-8")
        if self._commit is not None:
            self._commit()
        path = self._folder / self._target.path.name
        return SyntheticRelease(manifest, pages["report.html"], path, model, self._folder)


def _noted(batches: Iterator[pl.DataFrame], failed: list[BaseException]) -> Iterator[pl.DataFrame]:
    """What goes wrong in making them is kept: Polars only passes on that something did."""
    try:
        yield from batches
    except BaseException as error:
        failed.append(error)
        raise
