"""The five use cases of the PDPC guide, as named presets with their provenance.

The guide gives 3 and 5 as the usual thresholds for k; the lower one is taken where the data stay inside the
organisation under its controls, the higher one where they leave it or are kept for long.
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


SOURCE = "PDPC, Guide to Basic Anonymisation, use cases and step 4"

PRESETS: dict[UseCase, Preset] = {
    UseCase.INTERNAL_DEIDENTIFIED: Preset("Internal sharing of de-identified data", (1, 2, 5), False, None, True),
    UseCase.INTERNAL_ANONYMISED: Preset("Internal sharing of anonymised data", (1, 2, 3, 4, 5), True, 3, True),
    UseCase.EXTERNAL_SHARING: Preset("Sharing with an outside party", (1, 2, 3, 4, 5), True, 5, True),
    UseCase.RETENTION: Preset("Keeping data for long-term analysis", (1, 2, 3, 4, 5), True, 5, True),
    UseCase.TEST_DATA: Preset("Data for development and testing", (1, 2, 3), True, None, False, alter_everything=True),
}
