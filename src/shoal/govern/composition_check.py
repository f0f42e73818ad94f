"""A registered release looked at together with all others of the same people, and what was found put down (R-08)."""

from __future__ import annotations

from pathlib import Path

from shoal.assess.composition.composing import compose
from shoal.assess.composition.request import ComposeRequest, HeldRelease
from shoal.errors import FieldName, FieldText, InputError
from shoal.govern.composition_rules import judged
from shoal.govern.kinds.project import ProjectState
from shoal.govern.kinds.release import ReleaseState, holders, same_people
from shoal.govern.registry import GovernanceRegistry
from shoal.govern.release_entry import composition_figures
from shoal.results.composition_result import CompositionResult

_WITHOUT_RECORDS = ("aggregate", "synthetic", "answer")


def check_composition(
    registry: GovernanceRegistry, identifier: str, asked: ComposeRequest, recipients: tuple[str, ...] = ()
) -> CompositionResult:
    """``asked`` says what else is known: originals, a person key, policies, further releases that are no record."""
    release = registry.state("release", identifier)
    if not isinstance(release, ReleaseState) or release.status != "entered":
        raise InputError(f"release '{identifier}' is {release.status}", field="release")
    others = same_people(registry, identifier, release)
    who = holders(registry, {**others, identifier: release})
    project = registry.state("project", release.project)
    needed = project.k if isinstance(project, ProjectState) and project.k is not None else release.k
    given = {one.name: one for one in (asked.release, *asked.earlier)}
    request = asked.model_copy(
        update={
            "k": max(needed or 2, 2),
            "release": held(identifier, release, (*who[identifier], *recipients), given.get(identifier)),
            "earlier": tuple(held(name, other, who[name], given.get(name)) for name, other in others.items()),
        }
    )
    return judged(compose(request))


def record_composition(registry: GovernanceRegistry, identifier: str, result: CompositionResult, *, by: str) -> None:
    registry.perform("release", "compose", identifier, composition_figures(result), by=by)


def held(name: str, release: ReleaseState, recipients: tuple[str, ...], said: HeldRelease | None = None) -> HeldRelease:
    """Where its folder is gone, nothing can be told, which is no reason to leave it out."""
    place = release.place if said is None or said.folder is None else str(said.folder)
    folder = None
    if release.kind not in _WITHOUT_RECORDS:
        folder = Path(place) if place else None
        if release.status == "announced":
            raise InputError(
                f"release '{name}' was announced, and nobody has said that it appeared",
                advice=f"shoal register release settle {name}",
            )
        if folder is None or not folder.is_dir():
            raise InputError(
                f"release '{name}': its folder is not at {place or 'any known place'}",
                advice=FieldText(
                    "say where it is: ", FieldName("folder", f"{name}=…"), ", or enter it again from what was shared"
                ),
            )
    return HeldRelease(
        name=name,
        folder=folder,
        sha256=release.data_sha256,
        kind=release.kind,
        epsilon=release.epsilon,
        recipients=tuple(sorted(set(recipients))),
        original="" if said is None else said.original,
        person="" if said is None else said.person,
    )
