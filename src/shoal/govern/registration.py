"""Runs, syntheses, answers and reports of a registered project write themselves into its registry.

The entry is written first: what is about to be released is *announced*, with checksums and figures, before it appears.
Then it appears, and the entry is *settled*. Whoever is killed in between leaves an announcement, which counts as a
release until it is settled: ``shoal register release settle`` looks whether the folder is there with that data. So
nothing is ever out that the registry does not know; what can't be announced is not released.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from shoal.errors import InputError, ShoalError
from shoal.govern.kinds.project import ProjectState
from shoal.govern.registry import GovernanceRegistry
from shoal.govern.release_entry import figures_of
from shoal.randomness import now
from shoal.release.destinations import Release
from shoal.release.multi_table.run import MultiTableRun
from shoal.release.multi_table.summary import MultiTableRelease
from shoal.release.run import Run
from shoal.results.manifest import Manifest
from shoal.synthetic_release.output import SyntheticRelease
from shoal.synthetic_release.run import SyntheticRun

ANSWER = "answer"


@dataclass
class Announced:
    """What is about to appear; what it cost in the end may be less than was announced."""

    identifier: str
    epsilon: float | None = None


@dataclass(frozen=True)
class Registration:
    """Where a project's releases are written down, and by whom."""

    place: str
    project: str
    by: str
    identifier: str = ""
    """Of the release; made of the time and what it is, if not said."""
    recipients: tuple[str, ...] = ()
    channel: str = ""
    valid_until: datetime.date | None = None
    population: str = ""

    def require(self) -> None:
        """Before the work, so that it is not in vain: the registry is there, the project is open."""
        with GovernanceRegistry.open(self.place) as registry:
            found = registry.state("project", self.project)
            if not isinstance(found, ProjectState) or found.status != "open":
                raise InputError(f"project '{self.project}' is {found.status}", field="project")

    def run(self, run: Run) -> Release:
        self.require()
        with run.staged() as staged:
            made = staged.release
            with self.announced(figures_of(made.manifest), made.folder, made.manifest.name):
                return staged.commit()

    def run_tables(self, run: MultiTableRun) -> MultiTableRelease:
        """Each table is a release of its own: what is joined later may be one of them."""
        self.require()

        @contextmanager
        def around(manifests: Mapping[str, Manifest]) -> Iterator[None]:
            with ExitStack() as stack:
                for table, manifest in manifests.items():
                    of_table = replace(self, identifier=f"{self.identifier}-{table}" if self.identifier else "")
                    name = f"{run.request.policy.name} {table}"
                    stack.enter_context(of_table.announced(figures_of(manifest), run.request.folder / table, name))
                yield

        return run.execute(around)

    def synthesise(self, run: SyntheticRun) -> SyntheticRelease:
        self.require()

        @contextmanager
        def around(manifest: Manifest) -> Iterator[None]:
            with self.announced(figures_of(manifest), run.request.output, manifest.name):
                yield

        return run.execute(around)

    @contextmanager
    def answering(self, name: str, epsilon: float) -> Iterator[Announced]:
        """Around an answer that costs as much at most."""
        with self.announced({"kind": ANSWER, "epsilon": epsilon}, None, name) as made:
            yield made

    @contextmanager
    def announced(self, figures: Mapping[str, Any], folder: Path | None, name: str) -> Iterator[Announced]:
        moment = now()
        identifier = self.identifier or f"{_slug(name)}-{moment:%Y%m%d-%H%M%S-%f}"
        where = "" if folder is None else str(folder.resolve())
        told = {
            **{key: value for key, value in figures.items() if value is not None},
            "project": self.project,
            "population": self.population,
            "recipients": self.recipients,
            "channel": self.channel,
            "valid_until": self.valid_until,
            "title": name,
            "announced_for": where,
        }
        with GovernanceRegistry.open(self.place) as registry:
            registry.perform("release", "announce", identifier, told, by=self.by)
            made = Announced(identifier)
            try:
                yield made
            except BaseException:
                with suppress(ShoalError):
                    registry.perform("release", "settle", identifier, {"found": False}, by=self.by)
                raise
            registry.perform("release", "settle", identifier, {"found": True, "epsilon": made.epsilon}, by=self.by)


def _slug(name: str) -> str:
    """
    >>> _slug("Hospital 2026/q1")
    'hospital-2026-q1'
    """
    kept = "".join(char if char.isascii() and char.isalnum() else "-" for char in name.lower())
    return "-".join(part for part in kept.split("-") if part)[:30] or "release"
