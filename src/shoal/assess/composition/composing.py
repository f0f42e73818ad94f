"""A new release beside all earlier ones of the same people: effective k, and what a holder of all of them learns.

Through the people behind the records where these can be told (by a key, or by the original's values), which is exact;
by what the releases say alone otherwise, which is what their holders can do at least.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

import numpy as np
import polars as pl

from shoal.assess.comparison.paired_tables import need_columns, typed
from shoal.assess.composition.opened_release import OpenedRelease
from shoal.assess.composition.person_classes import (
    classes_by_person,
    joined_by_person,
    known_alike,
    told_by_person,
)
from shoal.assess.composition.request import ComposeRequest, HeldRelease
from shoal.attack.composition.linked_people import ABSENT, PEOPLE, JointFigures, Placement, compose_people
from shoal.attack.composition.released_counts import ReleasedCounts
from shoal.attack.composition.released_pair import ExpectedCompany, PairComposer, PairFigures, company
from shoal.errors import DataError
from shoal.io import explained
from shoal.io.frames import source_at
from shoal.kernels.group_counts import count_groups
from shoal.randomness import now
from shoal.results.composition_result import (
    Collusion,
    ComposedRelease,
    CompositionBasis,
    CompositionResult,
    JointComposition,
    PairComposition,
)


def compose(request: ComposeRequest) -> CompositionResult:
    """What is found; what follows from it is for whoever has rules."""
    new = OpenedRelease.of(request.release, request.policies)
    earlier = [OpenedRelease.of(each, request.policies) for each in request.earlier]
    beside = [each for each in earlier if each is not None]
    everyone = [] if new is None else [new, *beside]
    counted = [each.counted([other for other in everyone if other is not each]) for each in everyone]
    epsilons = [each.epsilon for each in (request.release, *request.earlier) if each.epsilon is not None]
    told: dict[str, Any] = {
        "when": now().replace(microsecond=0),
        "release": _described(request.release, counted[0] if counted else None),
        "earlier": _described_all(request.earlier, earlier, counted[1:]),
        "k_required": request.k,
        "epsilon": float(sum(epsilons)),
        "beside_records": bool(epsilons) and (new is not None or bool(beside)),
        "collusion": tuple(_collusion(request.release, each) for each in request.earlier if each.recipients),
    }
    if new is None or not beside:
        return CompositionResult(basis=CompositionBasis.RELEASED, exact=True, **told)
    return _Composition(request, everyone, counted).result(told)


def _described(held: HeldRelease, counted: ReleasedCounts | None) -> ComposedRelease:
    known = {} if counted is None else {"records": counted.records, "k": counted.k}
    named = {name: getattr(held, name) for name in ("name", "kind", "sha256", "epsilon", "recipients")}
    return ComposedRelease(**named, **known)


def _described_all(
    held: Sequence[HeldRelease], opened: Sequence[OpenedRelease | None], counted: Sequence[ReleasedCounts]
) -> tuple[ComposedRelease, ...]:
    rest = iter(counted)
    return tuple(
        _described(each, None if one is None else next(rest, None)) for each, one in zip(held, opened, strict=True)
    )


def _collusion(new: HeldRelease, earlier: HeldRelease) -> Collusion:
    same = bool(set(new.recipients) & set(earlier.recipients))
    both = tuple(sorted({*new.recipients, *earlier.recipients}))
    return Collusion(earlier=earlier.name, recipients=both, same=same)


@dataclass(frozen=True)
class _Linked:
    placements: Sequence[Placement] = field(repr=False)
    people: np.ndarray[Any, Any] = field(repr=False)
    sensitive: Mapping[str, pl.Series] = field(default_factory=dict, repr=False)
    strangers: tuple[int, ...] = ()
    """The places of earlier releases in which nobody of the new one was found."""
    unfitted: tuple[int, ...] = ()
    """For each release, records that fit nobody of the table that was given."""


@dataclass(frozen=True)
class _Composition:
    """The new release first, everywhere."""

    request: ComposeRequest
    releases: Sequence[OpenedRelease]
    counted: Sequence[ReleasedCounts]

    def result(self, told: Mapping[str, Any]) -> CompositionResult:
        basis, linked = self._linked()
        k = self.request.k
        composer = PairComposer(self.counted[0], k)
        pairs = [composer.beside(other) for other in self.counted[1:]]
        shown = {
            "basis": basis,
            "pairs": tuple(self._pair(other, one) for other, one in zip(self.counted[1:], pairs, strict=True)),
            "narrowed": _worst([one.narrowed for one in pairs]),
            "unread": _worst([one.unread for one in pairs]),
            **told,
        }
        if linked is None:
            return CompositionResult(exact=False, **shown, **self._expected(pairs))
        joint = compose_people(linked.placements, linked.people, k, linked.sensitive)
        if not joint.people and self.counted[0].records:
            name = self.request.release.name
            raise DataError(
                f"release '{name}': nobody of the table that was given fits it: it was made from another one"
            )
        strangers = tuple(self.counted[place].name for place in linked.strangers)
        named = zip(self.counted, linked.unfitted, strict=False)
        unfitted = {one.name: number for one, number in named if number}
        return CompositionResult(exact=True, strangers=strangers, unfitted=unfitted, **shown, **_counted(joint))

    def _pair(self, other: ReleasedCounts, found: PairFigures) -> PairComposition:
        return PairComposition(
            earlier=other.name,
            by=found.by,
            most=found.most,
            expected_unique=round(found.expected.unique, 3),
            expected_below=round(found.expected.below, 3),
            certain=dict(found.certain),
            narrowed={name: round(share, 6) for name, share in found.narrowed.items()},
            looked_at=round(found.looked_at, 6),
        )

    def _expected(self, pairs: Sequence[PairFigures]) -> dict[str, Any]:
        """From releases alone, the worst of what any two say and what all say."""
        found = [one.expected for one in pairs] + ([self._all(pairs)] if len(pairs) > 1 else [])
        records = max(self.counted[0].records, 1)
        least = min([self.counted[0].k, *(one.most for one in pairs), *(one.least for one in found)])
        return {
            "effective_k": least,
            "unique": round(max(one.unique for one in found) / records, 6),
            "below": round(max(one.below for one in found) / records, 6),
            "certain": _worst([one.certain for one in pairs]),
        }

    def _all(self, pairs: Sequence[PairFigures]) -> ExpectedCompany:
        """Each release of its own cuts a class further, as far as nothing says otherwise."""
        sizes = pairs[0].shares["size"].to_numpy()
        chance = reduce(np.multiply, (np.where(one.shares["found"], one.shares["chance"], 1.0) for one in pairs))
        return company(sizes, chance, sizes.astype(np.float64), self.request.k)

    def _linked(self) -> tuple[CompositionBasis, _Linked | None]:
        if all(self._person(each) and self._original(each) for each in self.releases):
            return CompositionBasis.PERSON, self._by_original_people()
        if self.request.original:
            return CompositionBasis.ORIGINAL, self._by_values()
        key = self._common_key()
        if key is not None:
            return CompositionBasis.PERSON, self._by_key(key)
        return CompositionBasis.RELEASED, None

    def _original(self, release: OpenedRelease) -> str:
        return release.held.original or self.request.original

    def _person(self, release: OpenedRelease) -> str:
        return release.held.person or self.request.person

    def _common_key(self) -> str | None:
        """A column that names people alike in all releases: some of the same values, and mostly distinct ones."""
        for name in self.releases[0].keys:
            if not all(name in other.keys for other in self.releases[1:]):
                continue
            first, *others = (
                known_alike(each.data.select(pl.col(name)).drop_nulls().unique().collect().to_series()).implode()
                for each in self.releases
            )
            if all(first.explode().is_in(other).any() for other in others):
                return name
        return None

    def _by_key(self, key: str) -> _Linked:
        placed = [one.people(key, counts.classes) for one, counts in zip(self.releases, self.counted, strict=True)]
        sensitive = self.counted[0].sensitive
        return _joined(placed, sensitive, told_by_person(self.releases[0].data, key, sensitive))

    def _by_original_people(self) -> _Linked:
        """Each release's own original says who is in which class of it; its key says who is who."""
        placed = []
        for release, counts in zip(self.releases, self.counted, strict=True):
            original = source_at(self._original(release), self.request.reader)
            placed.append(classes_by_person(counts, original, self._person(release), mark=known_alike))
        new = self.releases[0]
        with explained(source := source_at(self._original(new), self.request.reader)):
            frame = source.scan()
            there = frame.collect_schema().names()
            sensitive = tuple(name for name in self.counted[0].sensitive if name in there)
            told = told_by_person(frame, self._person(new), sensitive)
        linked = _joined([each.people for each in placed], sensitive, told)
        return replace(linked, unfitted=tuple(each.unfitted for each in placed))

    def _by_values(self) -> _Linked:
        quasi = tuple(dict.fromkeys(name for each in self.counted for name in each.quasi))
        told = self._columns(self.request.original)
        sensitive = tuple(name for name in self.counted[0].sensitive if name in told and name not in quasi)
        people = self._counted_original((*quasi, *sensitive))
        values = typed(people.select(quasi)).with_columns(people[PEOPLE])
        placements = [Placement.by_values(each, values) for each in self.counted]
        rows = people[PEOPLE].to_numpy()
        unfitted = tuple(
            max(counts.records - int(rows[placement.own != ABSENT].sum()), 0)
            for counts, placement in zip(self.counted, placements, strict=True)
        )
        return _Linked(placements, rows, {name: people[name] for name in sensitive}, unfitted=unfitted)

    def _columns(self, place: str) -> tuple[str, ...]:
        return tuple(source_at(place, self.request.reader).scan().collect_schema())

    def _counted_original(self, names: tuple[str, ...]) -> pl.DataFrame:
        source = source_at(self.request.original, self.request.reader)
        with explained(source):
            frame = source.scan()
            need_columns(frame, names, "the original")
            counted = count_groups(frame, names, PEOPLE)
        return counted.with_columns(pl.col(PEOPLE).cast(pl.Int64)).sort(names)


def _joined(placed: Sequence[pl.DataFrame], sensitive: Sequence[str], told: pl.DataFrame) -> _Linked:
    """One row for each combination of classes and of what is ``told`` of people, and how many people have it."""
    said = {f"s{place}": name for place, name in enumerate(sensitive)}
    told = told.select("person", *(pl.col(name).alias(column) for column, name in said.items()))
    whole = joined_by_person(placed)
    classes = [name for name in whole.columns if name != "person"]
    whole = whole.join(told, on="person", how="left").drop("person")
    kinds = whole.group_by(whole.columns).agg(pl.len().cast(pl.Int64).alias(PEOPLE))
    new, *others = (kinds[name] != ABSENT for name in classes)
    return _Linked(
        [Placement(kinds[name].to_numpy()) for name in classes],
        kinds[PEOPLE].to_numpy(),
        {name: kinds[column] for column, name in said.items()},
        tuple(place for place, there in enumerate(others, 1) if not (there & new).any()),
    )


def _counted(joint: JointFigures) -> dict[str, Any]:
    people = max(joint.people, 1)
    return {
        "joint": JointComposition.model_validate(joint),
        "effective_k": joint.effective_k,
        "unique": round(joint.unique / people, 6),
        "below": round(joint.below / people, 6),
        "certain": dict(joint.certain),
    }


def _worst(told: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    names = dict.fromkeys(name for one in told for name in one)
    return {name: max(one[name] for one in told if name in one) for name in names}
