"""The circumstances of a release: who might try, what could happen, what the data is for."""

from __future__ import annotations

from enum import StrEnum


class Motive(StrEnum):
    """Motivation and resources of the attacker (PDPC, annex D)."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Controls(StrEnum):
    """Extent of the controls that mitigate: organisational, legal, technical (PDPC, annex D)."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    NONE = "none"


class Procedure(StrEnum):
    """By whose procedure a risk is held against its threshold: at most that (PDPC), or less (MeitY, step 13)."""

    PDPC = "pdpc"
    MEITY = "meity"


class Harm(StrEnum):
    """What re-identification could do to the person and to the organisation (PDPC, annex D)."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Purpose(StrEnum):
    """What de-identified data is used for (ISO/IEC 20889, clause 8)."""

    TEST_DATA = "test_data"
    STATISTICS = "statistics"
    RESEARCH = "research"
    ANALYTICS = "analytics"
    INTERNAL = "internal"
    LINKING_BACK = "linking_back"
