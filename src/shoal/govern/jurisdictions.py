"""What follows from an incident, as data: by what was lost, and by whose law."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import yaml

from shoal.errors import InputError
from shoal.schema.parameters import Parameters
from shoal.schema.registry import did_you_mean


class LossCombination(Parameters):
    lost: frozenset[str]
    consequence: str
    tasks: tuple[str, ...]
    reportable: bool


class Jurisdiction(Parameters):
    authority: str
    notify_within_hours: int
    act_within_days: int
    answer_people_within_days: int
    """Who asks to see, correct or delete data of their own, or that it is not used any more."""
    people_told: str
    """When those who are affected have to be told of a loss."""
    anonymised_reportable: bool
    """Whether the loss of properly anonymised data has to be told all the same."""
    source: str


class IncidentLaw(Parameters):
    acknowledge_within_days: int
    resolve_within_days: dict[str, int]
    """By severity."""
    tasks: dict[str, str]
    before_telling: tuple[str, ...]
    """Tasks that decide whether somebody has to be told."""
    combinations: tuple[LossCombination, ...]
    """The most telling first."""
    jurisdictions: dict[str, Jurisdiction]


@dataclass(frozen=True)
class IncidentRule:
    """What the law of a place asks after the loss of certain things."""

    consequence: str
    actions: tuple[str, ...]
    before_telling: frozenset[str]
    """Of the actions, those that decide whether somebody has to be told."""
    authority: str
    notify_within_hours: int | None
    """None where nobody has to be told."""
    act_within_days: int
    source: str


@cache
def incident_law() -> IncidentLaw:
    text = files("shoal.govern").joinpath("jurisdictions.yaml").read_text(encoding="utf-8")
    return IncidentLaw.model_validate(yaml.safe_load(text))


def jurisdiction_named(name: str) -> Jurisdiction:
    known = incident_law().jurisdictions
    if name not in known:
        raise InputError(f"no rules for '{name}'{did_you_mean(name, tuple(known))}", field="jurisdiction")
    return known[name]


def incident_rule(jurisdiction: str, lost: frozenset[str]) -> IncidentRule:
    """
    >>> incident_rule("india", frozenset({"mapping"})).notify_within_hours is None
    True
    >>> incident_rule("india", frozenset({"mapping", "de-identified"})).notify_within_hours
    72
    """
    law, place = incident_law(), jurisdiction_named(jurisdiction)
    found = next((one for one in law.combinations if one.lost <= lost), None)
    if found is None:
        raise InputError("nothing was lost", field="lost")
    return IncidentRule(
        found.consequence,
        tuple(law.tasks[task] for task in found.tasks),
        frozenset(law.tasks[task] for task in found.tasks if task in law.before_telling),
        place.authority,
        place.notify_within_hours if _reportable(found, place) else None,
        place.act_within_days,
        place.source,
    )


def _reportable(found: LossCombination, place: Jurisdiction) -> bool:
    return found.reportable or (found.lost == {"anonymised"} and place.anonymised_reportable)
