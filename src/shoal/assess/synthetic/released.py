"""A synthetic release that lies somewhere, judged by the table that it was made from."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import polars as pl
from pydantic import Field, SkipValidation

from shoal.assess.attack.table_attack import read_table
from shoal.assess.synthetic.assessment import assess_synthetic
from shoal.assess.synthetic.several_tables import assess_synthetic_tables
from shoal.assess.synthetic.table_relations import KeyLink, TableRelations
from shoal.attack.synthetic.scene import TRIALS
from shoal.errors import BugError, InputError, SourceError
from shoal.io import Source
from shoal.policy.references import ReferenceEnd
from shoal.policy.release_kind import ReleaseKind
from shoal.randomness import Randomness
from shoal.results.multi_table_manifest import MultiTableManifest
from shoal.results.release_folder import ReleaseFolder
from shoal.results.synthesis import SyntheticAssessment, SyntheticTablesAssessment
from shoal.results.synthesis.tables_result import SyntheticTablesResult
from shoal.schema.progress import Monitor
from shoal.schema.requests import UseCaseRequest


class SyntheticRequest(UseCaseRequest):
    original: str | SkipValidation[Source]
    """The table that the release was made from: it judges."""
    control: str | SkipValidation[Source] | None = None
    """People who were not learned from, to compare with."""
    targets: tuple[str, ...] = ()
    """Attributes that are predicted, or that an attacker wants to know; left out, a few are proposed."""
    require: dict[str, float] = Field(default_factory=dict)
    """What is required, by figure or attack."""
    fidelity: bool = True
    attacks: bool = True
    trials: int = TRIALS
    """People of either group that attacks by distance are tried on, at most."""

    def model_post_init(self, _: Any) -> None:
        if self.trials < 1:
            raise InputError("at least one person has to be tried", field="trials")


def is_synthetic(folder: ReleaseFolder) -> bool:
    """Whether the manifest says that nobody is behind its records; then rows can't be compared one by one."""
    return folder.manifest is not None and folder.manifest.kind is ReleaseKind.SYNTHETIC


def assess_synthetic_release(
    folder: ReleaseFolder, request: SyntheticRequest, randomness: Randomness, monitor: Monitor | None = None
) -> SyntheticAssessment:
    monitor = monitor or Monitor()
    with monitor.phase("read"):
        synthetic, original = read_table(folder.data, "release"), read_table(request.original, "original")
        control = None if request.control is None else read_table(request.control, "control group")
    return assess_synthetic(
        original,
        synthetic,
        control=control,
        targets=request.targets,
        require=request.require,
        randomness=randomness,
        monitor=monitor,
        fidelity=request.fidelity,
        attacks=request.attacks,
        trials=request.trials,
    )


def is_synthetic_set(folder: ReleaseFolder) -> bool:
    """Whether it is a release of several synthetic tables."""
    return folder.tables is not None and folder.tables.is_synthetic


def assess_synthetic_set(
    folder: ReleaseFolder,
    request: SyntheticRequest,
    opened: Callable[[str], Source],
    randomness: Randomness,
    monitor: Monitor | None = None,
) -> SyntheticTablesAssessment:
    """Several tables beside a folder with those that they were made from, which have the same names."""
    whole, monitor = folder.tables, monitor or Monitor()
    if whole is None or whole.synthesis is None:
        raise BugError("several tables that are not synthetic")
    with monitor.phase("read"):
        inner = {name: ReleaseFolder.at(str(Path(folder.place) / name)) for name in whole.tables}
        synthetic = {name: read_table(one.data, "release") for name, one in inner.items()}
        sides = [
            None if place is None else _tables_in(str(place), inner, opened)
            for place in (request.original, request.control)
        ]
    original, control = sides
    made_up = {
        name: () if one.manifest is None or one.manifest.synthesis is None else one.manifest.synthesis.columns_made_up
        for name, one in inner.items()
    }
    return assess_synthetic_tables(
        original or {},
        synthetic,
        relations=_relations(whole, whole.synthesis),
        control=control,
        leave_out=made_up,
        require=request.require,
        randomness=randomness,
        monitor=monitor,
        fidelity=request.fidelity,
        attacks=request.attacks,
        trials=request.trials,
    )


def _tables_in(place: str, names: Iterable[str], opened: Callable[[str], Source]) -> dict[str, pl.DataFrame]:
    files = {path.stem: path for path in sorted(Path(place).iterdir())} if Path(place).is_dir() else {}
    lacking = [name for name in names if name not in files]
    if lacking:
        raise SourceError(f"{place}: holds no table '{lacking[0]}'", advice="give the folder with the tables")
    return {name: read_table(opened(str(files[name])), "original") for name in names}


def _relations(whole: MultiTableManifest, made: SyntheticTablesResult) -> TableRelations:
    ends = [(ReferenceEnd.parse(one.parent), ReferenceEnd.parse(one.child)) for one in whole.references]
    links = {(parent.table, child.table, child.column): parent.column for parent, child in ends}
    main = {(child, column): parent for child, (parent, column) in made.parents.items()}
    return TableRelations(
        tuple(
            KeyLink(parent, key, child, column, main=main.get((child, column)) == parent)
            for (parent, child, column), key in links.items()
        ),
        orders=made.orders,
    )
