"""Templates of agreements as data: one file for each kind, clauses with what they answer, placeholders in braces.

>>> template = agreement_template("undertaking")
>>> template.title, template.clauses[2].id.value
('Undertaking of a researcher', 'permitted-purposes')
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

import yaml

from shoal.errors import BugError, InputError
from shoal.govern.kinds.request import AgreementClause
from shoal.schema.parameters import Parameters
from shoal.schema.registry import did_you_mean

PLACEHOLDER: Final = re.compile(r"\{([a-z0-9_]+)\}")
_PLACEHOLDERS: Final = "placeholders"
_ENDING: Final = ".yaml"


class AgreementPlaceholder(Parameters):
    """What a template names in braces, and where the registry knows it."""

    asks: str
    record: str = ""
    field: str = ""


class TemplateClause(Parameters):
    id: AgreementClause
    title: str
    source: tuple[str, ...]
    """Which clauses of which guides it answers."""
    text: str


class AgreementTemplate(Parameters):
    title: str
    used_for: str
    opening: str
    clauses: tuple[TemplateClause, ...]

    @property
    def placeholders(self) -> tuple[str, ...]:
        """Those that it names, in the order in which they come first."""
        texts = (self.opening, *(clause.text for clause in self.clauses))
        return tuple(dict.fromkeys(name for text in texts for name in PLACEHOLDER.findall(text)))


@cache
def placeholders() -> Mapping[str, AgreementPlaceholder]:
    return {name: AgreementPlaceholder.model_validate(told) for name, told in _read(_PLACEHOLDERS).items()}


@cache
def agreement_templates() -> Mapping[str, AgreementTemplate]:
    return {name: _checked(name, AgreementTemplate.model_validate(_read(name))) for name in _names()}


def agreement_template(name: str) -> AgreementTemplate:
    known = agreement_templates()
    if name not in known:
        advice = f"there are {', '.join(known)}"
        raise InputError(
            f"there is no template '{name}'{did_you_mean(name, tuple(known))}", field="template", advice=advice
        )
    return known[name]


def _checked(name: str, template: AgreementTemplate) -> AgreementTemplate:
    unknown = set(template.placeholders) - set(placeholders())
    if unknown or len({clause.id for clause in template.clauses}) != len(template.clauses):
        raise BugError(f"agreement template '{name}': {sorted(unknown) or 'a clause stands twice'}")
    return template


def _names() -> Iterator[str]:
    for one in sorted(files(__package__).iterdir(), key=lambda place: place.name):
        name = one.name.removesuffix(_ENDING)
        if one.name.endswith(_ENDING) and name != _PLACEHOLDERS:
            yield name


def _read(name: str) -> dict[str, Any]:
    text = files(__package__).joinpath(f"{name}{_ENDING}").read_text(encoding="utf-8")
    found: dict[str, Any] = yaml.safe_load(text)
    return found
