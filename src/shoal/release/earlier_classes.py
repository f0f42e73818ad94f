"""Earlier releases as a run takes them into account: who of the people is in which of their classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import polars as pl

from shoal.assess.composition.opened_release import OpenedRelease
from shoal.assess.composition.person_classes import classes_by_person, joined_by_person, one_class_each
from shoal.assess.composition.request import HeldRelease
from shoal.errors import DataError, FieldName, FieldText, InputError
from shoal.io import Source
from shoal.plan.hidden_columns.earlier_class import EarlierClasses
from shoal.policy import Policy
from shoal.pseudonyms.person_marks import PersonMarks
from shoal.release.membership import MembershipList

_HASHED: Final = PersonMarks()

_LIST: Final = FieldText("a list of who is in it would tell: keep one with ", FieldName("members"), " when it is made")


def earlier_classes(
    policy: Policy,
    releases: Mapping[Path, Source | MembershipList],
    policies: Sequence[Policy] = (),
    *,
    marks: PersonMarks = _HASHED,
) -> EarlierClasses:
    """``releases`` has the folder of each, and the list of who is in it or the table that it was made from.

    A list is read with the ``marks`` that it was made with.
    """
    if policy.person is None:
        raise InputError("earlier releases are found again by `person`, which the policy has to name", field="after")
    placed, names = [], []
    for folder, original in releases.items():
        name = folder.resolve().name
        opened = OpenedRelease.of(HeldRelease(name=name, folder=folder), (policy, *policies))
        if opened is None:
            raise InputError(f"{folder}: has no records of people", field="after")
        if isinstance(original, MembershipList):
            if marks.key is None:
                raise InputError(f"{original.path}: is read with the key of the vault that it was made with")
            placed.append(one_class_each(original.of(opened.manifest, marks)))
        else:
            placed.append(_by_values(opened, original, policy.person, marks))
        names.append(name)
    return EarlierClasses.of(tuple(names), policy.person, joined_by_person(placed), marks)


def _by_values(opened: OpenedRelease, original: Source, person: str, marks: PersonMarks) -> pl.DataFrame:
    folder, released = opened.held.folder, opened.manifest.data.rows
    try:
        found, ambiguous, _ = classes_by_person(opened.counted(), original, person, released=released, mark=marks.of)
    except DataError as error:
        raise DataError(f"{folder}: {error}", advice=_LIST) from None
    if ambiguous:
        raise InputError(
            f"{folder}: of {ambiguous} people it can't be told in which class they are: it was recoded locally",
            field="after",
        )
    return found
