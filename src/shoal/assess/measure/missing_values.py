"""How the stars of a table are to be read when it is measured."""

from __future__ import annotations

from shoal.measurement import Measurement
from shoal.measurement.risk.wildcard_matches import WildcardMeasurement
from shoal.policy import Policy


def read_stars_by_policy(measurement: Measurement, policy: Policy | None) -> Measurement:
    """By matches where the policy's stars match anything; by classes otherwise, and without a policy."""
    if policy is None or policy.solve.starred == "value":
        return measurement
    return WildcardMeasurement.of(measurement)
