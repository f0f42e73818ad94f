"""The five use cases of the PDPC guide, as named presets with their provenance, and public release beside them.

The guide gives 3 and 5 as the usual thresholds for k; it suggests the higher one for data that leave the organisation
and the lower one for data that stay inside or are kept for long. It has no case for data that anybody may have: k = 11
is what regulators ask of those (a risk of at most 0.09: European Medicines Agency, policy 0070; Health Canada), and
since nobody can be held to anything afterwards, the release is attacked before.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class UseCase(StrEnum):
    INTERNAL_DEIDENTIFIED = "internal-deidentified"
    INTERNAL_ANONYMISED = "internal-anonymised"
    EXTERNAL_SHARING = "external-sharing"
    RETENTION = "retention"
    TEST_DATA = "test-data"
    PUBLIC = "public"


@dataclass(frozen=True)
class Preset:
    title: str
    steps: tuple[int, ...]
    """Which of the guide's five steps apply: know, de-identify, anonymise, compute risk, manage risk."""
    anonymised: bool
    """Whether the result counts as anonymised data."""
    k: int | None
    """The k that is aimed at when the policy names no privacy model."""
    controls: bool
    """Whether the guide asks for further controls around the result."""
    alter_everything: bool = False
    destroys_mappings: bool = False
    """Whether what leads from pseudonyms back to people is to be destroyed."""
    attacks: bool = False
    """Whether nothing is released unless it was attacked in vain."""


SOURCE = "PDPC, Guide to Basic Anonymisation, use cases and step 4"

_ALL_STEPS = (1, 2, 3, 4, 5)

PRESETS: dict[UseCase, Preset] = {
    UseCase.INTERNAL_DEIDENTIFIED: Preset(
        "Internal sharing of de-identified data", steps=(1, 2, 5), anonymised=False, k=None, controls=True
    ),
    UseCase.INTERNAL_ANONYMISED: Preset(
        "Internal sharing of anonymised data", steps=_ALL_STEPS, anonymised=True, k=3, controls=True
    ),
    UseCase.EXTERNAL_SHARING: Preset(
        "Sharing with an outside party", steps=_ALL_STEPS, anonymised=True, k=5, controls=True
    ),
    UseCase.RETENTION: Preset(
        "Keeping data for long-term analysis",
        steps=_ALL_STEPS,
        anonymised=True,
        k=3,
        controls=True,
        destroys_mappings=True,
    ),
    UseCase.PUBLIC: Preset(
        "Release to the public", steps=_ALL_STEPS, anonymised=True, k=11, controls=False, attacks=True
    ),
    UseCase.TEST_DATA: Preset(
        "Data for development and testing",
        steps=(1, 2, 3),
        anonymised=True,
        k=None,
        controls=False,
        alter_everything=True,
    ),
}
