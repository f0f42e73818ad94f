"""Where the output of a run goes: into a folder, or back to the caller as the kind of table that came.

A run writes to what a destination opens, and knows no more of it. Leaving without a commit leaves nothing.
"""

from __future__ import annotations

import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.engine.background import in_background
from shoal.errors import BugError
from shoal.io import FileTarget, PartsTarget, Source, Staging, Target, open_target, write_atomic, writing
from shoal.io.frames import FrameTarget, like
from shoal.plan import Solution
from shoal.policy import Policy
from shoal.release.further_files import (
    DataInspection,
    collect_files,
    data_target,
    describe_data_file,
    formulas_in,
    inspect_data,
    write_files,
)
from shoal.release.notebook_card import release_card, release_figures
from shoal.report import render, write_pdf
from shoal.report.facts import ReportFacts
from shoal.report.pdf import find_browser
from shoal.results.evidence_facts import DistributionFacts, ExampleColumn
from shoal.results.manifest import DataFile, Manifest, WrittenFile
from shoal.results.risk_results import ReleasedRisk
from shoal.schema.notebook_html import short
from shoal.schema.steps import SidecarFile


@dataclass(frozen=True)
class Release:
    """A finished release: the data (or the path of it), further files likewise, its manifest, its report."""

    manifest: Manifest
    html: str
    data: Any = None
    folder: Path | None = None
    files: Mapping[str, Any] = field(default_factory=dict)
    """By name (``shares/party-1``), what the release has beside the data: the same kind of table, or the path."""

    solution: Solution | None = None
    """How it was reached, with what the manifest doesn't keep."""
    nothing_left: bool = False
    """Whether k holds only because no quasi-identifying value tells records apart any more."""
    examples: tuple[ExampleColumn, ...] = ()
    """Rows before and after that are nobody's, as the report shows them."""
    distributions: tuple[DistributionFacts, ...] = ()
    """How values are spread before and after, as the report shows it."""

    def __repr__(self) -> str:
        where = {} if self.folder is None else {"folder": str(self.folder)}
        return short("Release", self.manifest.name, release_figures(self.manifest) | where)

    def _repr_html_(self) -> str:
        """For notebooks: the figures, whether each model is met, the first released records."""
        return release_card(self.manifest, self.data, self.folder)

    @property
    def risk(self) -> ReleasedRisk:
        if self.manifest.risk is None:
            raise BugError("a release without its risk")
        return self.manifest.risk

    @property
    def utility(self) -> dict[str, float]:
        return self.manifest.utility

    def report(self, path: str | Path) -> Path:
        """Write the report as one HTML file."""
        write_atomic(Path(path), self.html)
        return Path(path)


class OpenOutput(ABC):
    """The output of one run, in the making."""

    target: Target
    workspace: Path
    """For what only the run itself needs; nothing of it is released."""

    @abstractmethod
    def scan(self) -> pl.LazyFrame:
        """The data as it is by now: it may be written more than once."""

    def pick(self, places: NDArray[np.int64]) -> pl.DataFrame | None:
        """Some of its records, by their places, which rise; None where all would have to be read for that."""
        return None

    def beginning(self, records: int) -> pl.DataFrame | None:
        """The first of its records; None where the data is scanned for them."""
        return None

    def settle(self) -> None:
        """The data is not written any more: what there is to find out of it may be looked for."""
        return

    @abstractmethod
    def write_files(self, files: Iterable[SidecarFile], aside: Path) -> tuple[WrittenFile, ...]:
        """What techniques put beside the data."""

    @abstractmethod
    def describe(self, records: int) -> DataFile:
        """The data for the manifest."""

    def warnings(self, files: Sequence[WrittenFile]) -> Iterable[str]:
        """What to know of the form in which it is written."""
        return ()

    @abstractmethod
    def write_report(self, facts: ReportFacts) -> str:
        """The owner's report; it is not written where nobody would find it."""

    @abstractmethod
    def staged(self, manifest: Manifest, html: str, files: Sequence[WrittenFile]) -> Release:
        """The release as it will be; what is written of the manifest is written here."""

    def commit(self, release: Release) -> Release:
        """From here on the release is there."""
        return release


class Destination(ABC):
    @abstractmethod
    def require(self) -> None:
        """Raises if something is missing that would be needed at the end of a long run only."""

    @abstractmethod
    def open(self, source: Source) -> AbstractContextManager[OpenOutput]:
        """An output for what is made of the source."""


@dataclass(frozen=True)
class MemoryDestination(Destination):
    """Tables in memory, of the kind of ``example``."""

    example: object

    def require(self) -> None:
        """Nothing but memory."""

    @contextmanager
    def open(self, source: Source) -> Iterator[MemoryOutput]:
        with tempfile.TemporaryDirectory() as folder:
            yield MemoryOutput(self.example, Path(folder))


class MemoryOutput(OpenOutput):
    def __init__(self, example: object, workspace: Path) -> None:
        self.workspace = workspace
        self.target: FrameTarget = FrameTarget()
        self._example = example

    def scan(self) -> pl.LazyFrame:
        return self.target.frame.lazy()

    def write_files(self, files: Iterable[SidecarFile], aside: Path) -> tuple[WrittenFile, ...]:
        return collect_files(files, aside)

    def describe(self, records: int) -> DataFile:
        return DataFile(path="", rows=records, sha256="")

    def write_report(self, facts: ReportFacts) -> str:
        return render(facts)

    def staged(self, manifest: Manifest, html: str, files: Sequence[WrittenFile]) -> Release:
        frames = {file.beside.file: like(self._example, file.frame.collect()) for file in files}
        return Release(manifest, html, like(self._example, self.target.frame), files=frames)


@dataclass(frozen=True)
class FolderDestination(Destination):
    """A release folder, and the data at the policy's target too. The folder appears whole, or not at all."""

    policy: Policy
    folder: Path
    force: bool = False
    parts: bool | None = None
    pdf: bool = False

    def require(self) -> None:
        if self.pdf:
            find_browser()

    @contextmanager
    def open(self, source: Source) -> Iterator[FolderOutput]:
        with Staging(self.folder, force=self.force) as staging:
            yield FolderOutput(self, staging, source)


class FolderOutput(OpenOutput):
    def __init__(self, destination: FolderDestination, staging: Staging, source: Source) -> None:
        policy = destination.policy
        self.workspace = staging.path
        self._destination = destination
        self._staging = staging
        self._source = source
        self._escape = policy.output.escape_formulas
        self._elsewhere = (
            open_target(policy.target, base=policy.folder, escape_formulas=self._escape) if policy.target else None
        )
        self._inspected: Future[DataInspection] | None = None
        in_parts = policy.output.parts if destination.parts is None else destination.parts
        self.target: FileTarget | PartsTarget = data_target(
            staging.path / "data", source, in_parts=in_parts, escape=self._escape
        )

    def scan(self) -> pl.LazyFrame:
        return self.target.scan()

    def pick(self, places: NDArray[np.int64]) -> pl.DataFrame | None:
        return self.target.pick(places) if isinstance(self.target, FileTarget) else None

    def beginning(self, records: int) -> pl.DataFrame | None:
        return self.target.beginning(records) if isinstance(self.target, FileTarget) else None

    def write_files(self, files: Iterable[SidecarFile], aside: Path) -> tuple[WrittenFile, ...]:
        return write_files(files, aside, self.workspace, like=self._source, escape=self._escape)

    def settle(self) -> None:
        """Read in a thread while the last look is taken."""
        self._inspected = in_background(partial(inspect_data, self.target), "inspection")

    @property
    def _inspection(self) -> DataInspection:
        if self._inspected is None:
            raise BugError("the data of a release is described before it is settled")
        return self._inspected.result()

    def describe(self, records: int) -> DataFile:
        return describe_data_file(self.target, records, self._inspection.sha256)

    def warnings(self, files: Sequence[WrittenFile]) -> Iterable[str]:
        return formulas_in(self.target.path.name, self._inspection.formulas, files, escape=self._escape)

    def write_report(self, facts: ReportFacts) -> str:
        html, for_recipient = render(facts), render(facts, recipient=True)
        with writing(str(self._destination.folder)):
            (self.workspace / "report.html").write_text(html, encoding="utf-8")
            (self.workspace / "recipient.html").write_text(for_recipient, encoding="utf-8")
            for name in ("report", "recipient") if self._destination.pdf else ():
                write_pdf(self.workspace / f"{name}.html", self.workspace / f"{name}.pdf")
        return html

    def staged(self, manifest: Manifest, html: str, files: Sequence[WrittenFile]) -> Release:
        folder = self._destination.folder
        with writing(str(folder)):
            (self.workspace / "release.json").write_text(manifest.to_published_json(), encoding="utf-8")
        paths = {file.beside.file: folder / file.told.path for file in files}
        return Release(manifest, html, folder / self.target.path.name, folder, paths)

    def commit(self, release: Release) -> Release:
        if self._elsewhere is not None:
            self._elsewhere.write(self.scan())
        self._staging.commit()
        return release
