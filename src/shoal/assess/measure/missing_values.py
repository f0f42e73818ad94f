"""How the stars and the empty cells of a table are to be read when it is measured."""

from __future__ import annotations

from typing import get_args

from shoal.errors import InputError
from shoal.measurement import Measurement
from shoal.measurement.risk.key_frequencies import Missing
from shoal.measurement.risk.wildcard_matches import WildcardMeasurement
from shoal.policy import Policy


def read_stars_by_policy(measurement: Measurement, policy: Policy | None) -> Measurement:
    """By matches where the policy's stars match anything; by classes otherwise, and without a policy."""
    if policy is None or policy.solve.starred == "value":
        return measurement
    return WildcardMeasurement.of(measurement)


def missing_as(said: str | None) -> Missing | None:
    """From the command line; what is not said is left to the policy."""
    for reading in get_args(Missing):
        if said == reading:
            return reading  # type: ignore[no-any-return]  # one of the literals
    if said is None:
        return None
    raise InputError(f"unknown reading '{said}'", field="missing", advice="a missing cell is a 'value' or a 'wildcard'")


def read_missing_as_asked(measurement: Measurement, policy: Policy | None, missing: Missing | None) -> Measurement:
    """As the caller says, to whom a star and an empty cell are both missing; else as the policy reads its stars."""
    if missing is None:
        return read_stars_by_policy(measurement, policy)
    return WildcardMeasurement.of(measurement, empty_too=True) if missing == "wildcard" else measurement
