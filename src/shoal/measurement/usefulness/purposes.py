"""Which figures matter for what the data is to be used for.

The six uses are those of ISO/IEC 20889, clause 8. It asks for the wanted usefulness to be settled before techniques are
chosen; so a policy declares its purpose and the report shows the figures that this purpose stands or falls with.
"""

from __future__ import annotations

from dataclasses import dataclass

from shoal.measurement.usefulness.base import readings
from shoal.schema.circumstances import Purpose

CLAUSE = "ISO/IEC 20889, 8"


@dataclass(frozen=True)
class DataUse:
    """One use of de-identified data and what it needs of the release."""

    title: str
    needs: str
    clause: str = CLAUSE


USES: dict[Purpose, DataUse] = {
    Purpose.TEST_DATA: DataUse(
        "Testing software",
        "Values that look and spread like real ones, gaps included; single records need not be true.",
    ),
    Purpose.STATISTICS: DataUse(
        "Statistical reporting",
        "Counts, means and spreads of the population.",
    ),
    Purpose.RESEARCH: DataUse(
        "Publishing for research",
        "Relations between attributes, for questions that nobody knows yet.",
    ),
    Purpose.ANALYTICS: DataUse(
        "Analytics on behalf of others",
        "Models that work on real records, and the statistics they rest on.",
    ),
    Purpose.INTERNAL: DataUse(
        "Trusted internal use",
        "True values, record by record.",
    ),
    Purpose.LINKING_BACK: DataUse(
        "Lawful linking back",
        "Every record still there, to be led back to its person by those appointed.",
    ),
}


def figures_for(purpose: Purpose) -> tuple[str, ...]:
    """The figures that a use stands or falls with, as they say themselves."""
    places = {name: reading.purposes[purpose] for name, reading in readings().items() if purpose in reading.purposes}
    return tuple(sorted(places, key=lambda name: places[name]))
