"""``shoal attack``: the attacks on a release that lies somewhere, judged by the original."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl
from polars import selectors

from shoal.assess.attack.control_group import other_people
from shoal.assess.attack.request import AttackRequest
from shoal.assess.comparison.compatibility import ReleaseProvenance, require_compatible
from shoal.assess.comparison.counting_unit import CountingUnit
from shoal.assess.comparison.paired_tables import known_labels, need_columns, typed
from shoal.assess.read_back.file_comparison import read_back_files
from shoal.attack import Attack
from shoal.attack.battery import AttackTables, run_attacks
from shoal.attack.ground_truth.targets import TRIALS, as_numbers
from shoal.attack.result import Rate
from shoal.errors import DataError
from shoal.io import Source, explained
from shoal.io.frames import source_at
from shoal.randomness import Randomness
from shoal.results.attack_report import AttackReport
from shoal.results.attack_roles import AttackRoles
from shoal.results.release_folder import ReleaseFolder
from shoal.schema.progress import Progress

MOSTLY_ALONE = 0.5
READ_BACK = "read_back"


class NothingToAttackError(DataError):
    """A release without anything that an attacker could go by."""


def attack_data(
    release: str | ReleaseFolder,
    request: AttackRequest,
    *,
    table: Source | None = None,
    progress: Progress | None = None,
) -> AttackReport:
    """A release that lies somewhere: a folder, a file, a table of a database; or its ``table``, if that is at hand."""
    roles = request.roles
    folder = ReleaseFolder.around(release) if isinstance(release, str) else release
    released = table or folder.data
    frames = {
        whose: read_table(place, whose)
        for whose, place in {
            "release": released,
            "original": request.original,
            "auxiliary table": request.auxiliary,
            "control group": request.control,
        }.items()
        if place is not None
    }
    doubts = _doubts(frames["release"], frames["original"], roles, ReleaseProvenance.of(roles.policy, folder))
    given = frames.get("auxiliary table"), frames.get("control group")
    report = attack_frames(
        frames["release"],
        frames["original"],
        roles,
        *given,
        trials=request.trials,
        seed=request.seed,
        progress=progress,
    )
    told = _read_back(released, request.original, report.roles)
    return replace(report, doubts=doubts, done=replace(report.done, attacks=(*report.done.attacks, *told)))


def _read_back(release: str | Source, original: str | Source, roles: AttackRoles) -> Iterator[Attack]:
    """Somebody who knows which values go together, and puts back what was generalised."""
    if not roles.quasi:
        return
    after, before = (source_at(each) if isinstance(each, str) else each for each in (release, original))
    with explained(after), explained(before):
        whom = CountingUnit(after.scan(), by_records=True)
        quasi = tuple(name for name in roles.quasi if name in after.scan().collect_schema())
        found = read_back_files(whom, before.scan(), quasi, roles.policy, None, accepted=False)
    if found is None:
        return
    trials = max(1, found.looked_at)
    yield Attack(
        READ_BACK,
        "Reading back",
        "which values of other columns go with which quasi-identifying values",
        Rate(found.below, trials),
        Rate(0, trials),
        details={"k_effective": float(found.k)},
        certain=True,
    )


def _doubts(
    release: pl.DataFrame, original: pl.DataFrame, roles: AttackRoles, making: ReleaseProvenance
) -> tuple[str, ...]:
    shared = [name for name in release.columns if name in original.columns]
    if not shared:
        raise DataError("the original and the release have no column in common: they can't belong together")
    for frame, whose in ((release, "release"), (original, "original")):
        if frame.height == 1:
            raise DataError(f"the {whose} has one record: there is nobody to hide among, so nothing can be tried")
        for name in (*roles.quasi, *roles.sensitive):
            if name in frame.columns and frame[name].null_count() == frame.height:
                raise DataError(f"column '{name}' of the {whose} has no values at all", advice="leave it out")
    return require_compatible(original.lazy(), release.lazy(), making, (*roles.quasi, *roles.sensitive))


def attack_frames(  # noqa: PLR0913  # the tables, and how far to go
    release: pl.DataFrame,
    original: pl.DataFrame,
    roles: AttackRoles,
    auxiliary: pl.DataFrame | None = None,
    control: pl.DataFrame | None = None,
    *,
    origins: pl.Series | None = None,
    trials: int = TRIALS,
    seed: int | None = None,
    progress: Progress | None = None,
) -> AttackReport:
    """The same for tables in memory. ``origins`` has the original's row of each released record, where it is known."""
    there = tuple(name for name in release.columns if name in original.columns)
    if not there:
        raise DataError("the original and the release have no column in common: they can't belong together")
    person = () if roles.person is None else (roles.person,)
    need_columns(original, (*roles.quasi, *roles.sensitive, *person), "the original")
    if auxiliary is not None and not set(auxiliary.columns) & set(release.columns):
        raise DataError("the auxiliary table has no column in common with the release")
    roles = replace(
        roles,
        quasi=tuple(name for name in roles.quasi if name in release.columns),
        sensitive=tuple(name for name in roles.sensitive if name in there),
    )
    if control is not None:
        need_columns(control, (*roles.quasi, *roles.sensitive), "the control group")
        control = other_people(control, original, (*roles.quasi, *roles.sensitive))
    tables = AttackTables(
        release,
        original,
        roles.quasi,
        roles.sensitive,
        numbers=tuple(
            name for name in there if name not in roles.sensitive and _altered(original[name], release[name])
        ),
        pseudonyms=tuple(name for name in there if _names_people(original[name], name, roles)),
        control=control,
        auxiliary=auxiliary,
        known=known_labels(roles.policy, original),
        person=roles.person,
        origins=None if origins is None else _of_the_original(origins, original.height),
        coded=there,
    )
    if not (tables.quasi or tables.numbers or tables.pseudonyms):
        raise NothingToAttackError(
            "the release has nothing to attack: no quasi-identifier, altered number or pseudonym is in it"
        )
    done = run_attacks(tables, Randomness(seed), trials=trials, progress=progress)
    return AttackReport(done, release.height, original.height, roles, control is not None)


def _of_the_original(origins: pl.Series, rows: int) -> pl.Series:
    """Invented records come after the last of the source: they are nobody's."""
    return origins.cast(pl.Int64).set(origins >= rows, None)


def read_table(place: str | Source, whose: str) -> pl.DataFrame:
    source = source_at(place) if isinstance(place, str) else place
    with explained(source):
        frame = source.scan().collect(engine="streaming")
    if not frame.height:
        raise DataError(f"the {whose} has no records")
    return typed(frame.with_columns(selectors.duration().dt.total_microseconds()))


def _names_people(original: pl.Series, name: str, roles: AttackRoles) -> bool:
    """A direct identifier; or any column by which most people are the only one, except what is to be found out."""
    if name in roles.replaced:
        return True
    if name in (*roles.quasi, *roles.sensitive) or original.dtype.is_nested():
        return False
    return original.n_unique() > MOSTLY_ALONE * len(original)


def _altered(original: pl.Series, released: pl.Series) -> bool:
    """Numbers or dates that are still such, but not the same ones."""
    if not all(each.dtype.is_numeric() or each.dtype.is_temporal() for each in (original, released)):
        return False
    before, after = as_numbers(original), as_numbers(released)
    if not np.isfinite(before).any() or not np.isfinite(after).any():
        return False
    return len(before) != len(after) or not np.array_equal(np.sort(before), np.sort(after), equal_nan=True)
