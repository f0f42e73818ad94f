"""The attack on traces in a battery: it finds the homes of a release by pseudonyms, and not those of a cloaked one."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from tests.support.traces import made_up_traces

import shoal
from shoal.attack.attacks.home_and_work import TraceLayout, usual_places

TRACE = {"latitude": "latitude", "longitude": "longitude", "time": "time"}


def policy(**more: Any) -> dict[str, Any]:
    attributes = {
        "who": {"role": "direct", "technique": {"pseudonymise": {"domain": "walkers"}}},
        "latitude": {"role": "insensitive", "type": "decimal"},
        "longitude": {"role": "insensitive", "type": "decimal"},
        "time": {"role": "insensitive", "type": "datetime"},
    }
    return {"shoal": 1, "name": "walks", "person": "who", "attributes": attributes, **more}


@pytest.fixture(scope="module")
def traces() -> pl.DataFrame:
    return made_up_traces(15, days=3)[0]


def found(report: Any) -> dict[str, float]:
    return {attack["attack"]: attack["success"]["share"] for attack in report.to_dict()["attacks"]}


@pytest.mark.requirement("D-12")
def test_homes_are_found_where_only_the_name_was_replaced(traces):
    release = shoal.anonymise(traces, policy(), seed=1)
    shares = found(shoal.attack(release.data, traces, policy=policy(), person="who", seed=1))
    assert shares["home_places"] > 0.8
    assert shares["work_places"] > 0.8


@pytest.mark.requirement("D-12")
def test_homes_are_not_found_where_stays_were_cut(traces):
    cut = {"cut_stays": {**TRACE, "radius": 800}}
    release = shoal.anonymise(traces, policy(**cut), seed=1)
    assert 0 < release.data.height < traces.height
    shares = found(shoal.attack(release.data, traces, policy=policy(), person="who", seed=1))
    assert shares["home_places"] < 0.25
    assert shares["work_places"] < 0.25


@pytest.mark.requirement("D-12")
def test_cloaked_points_have_k_people_by_the_measurement(traces):
    chosen = policy(cloak_traces={**TRACE, "k": 3, "metres": 1000, "largest": 16000, "minutes": 120})
    for name in TRACE:
        chosen["attributes"][name] |= {"role": "quasi"}
    chosen["attributes"]["who"] = {"role": "direct", "technique": "suppress"}
    chosen["privacy"] = [{"k_anonymity": {"k": 3}}]
    release = shoal.anonymise(traces, chosen, seed=1)
    assert release.data.height > traces.height / 2
    assert release.risk.k >= 3


def test_places_are_those_of_most_nights():
    traces, homes = made_up_traces(8, days=4)
    nights, _ = usual_places(traces)
    beside = nights.join(homes, on="who", suffix="_true")
    assert len(beside) == 8
    assert (beside["latitude"] - beside["latitude_true"]).abs().max() < 0.001


def test_columns_are_told_by_their_names_and_values():
    assert TraceLayout.found_in(pl.DataFrame({"lat": [1.0], "lon": [2.0], "day": ["Monday"]})) is None
    assert TraceLayout.found_in(pl.DataFrame({"lat": [1.0], "time": ["2026-03-02 10:00"]})) is None
    assert TraceLayout.found_in(pl.DataFrame({"lat": [1.0], "lon": [2.0], "at": ["02/03/2026 10:00"]})) is not None
