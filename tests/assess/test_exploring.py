"""Exploring: every try is what a run with these settings would give, counted once, and the frontier is the frontier."""

from __future__ import annotations

import re
from dataclasses import replace

import polars as pl
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.assess.exploration import ExplorationSetting, explore, grid, own_setting
from shoal.engine.polars.counting import count
from shoal.errors import InfeasibleError, InputError, PolicyError
from shoal.policy import Policy
from shoal.results.exploration import Exploration, ExplorationOutcome, ExplorationTrial, frontier, steps

pytestmark = pytest.mark.requirement("S-11")

POLICY = {
    "shoal": 1,
    "name": "staff",
    "attributes": {
        "name": {"role": "direct"},
        "age": {"role": "quasi", "hierarchy": {"intervals": {"widths": [10, 20]}}},
        "pin": {"role": "quasi", "hierarchy": {"redact": {"side": "right", "char": "x"}}},
        "sex": {"role": "quasi"},
        "illness": {"role": "sensitive"},
    },
    "privacy": [{"k_anonymity": {"k": 3}}],
    "solve": {"suppression_limit": 0.1},
}


def policy(**changes: object) -> Policy:
    return Policy.from_text(yaml.safe_dump({**POLICY, **changes}))


def staff(number: int = 240) -> pl.DataFrame:
    places = pl.Series(range(number))
    return pl.DataFrame(
        {
            "name": "N" + (places // 2).cast(pl.String),
            "age": 20 + places * places * 7 % 61,
            "pin": (560_001 + places * places % 23).cast(pl.String),
            "sex": pl.Series(["f" if place % 3 else "m" for place in range(number)]),
            "illness": pl.Series(["flu", "flu", "asthma", "gout", "flu"] * (number // 5)),
        }
    )


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"person": "name"},
        {"privacy": [{"k_anonymity": {"k": 3}}, {"l_diversity": {"attribute": "illness", "kind": "distinct", "l": 2}}]},
        {"solve": {"utility": "discernibility"}},
        {"solve": {"drop_suppressed": True, "levels": {"age": [1, 2]}}},
    ],
    ids=["plain", "people", "diversity", "utility", "levels"],
)
def test_every_try_is_what_a_run_gives(changes: dict[str, object]) -> None:
    """Found by the counts alone; told by measuring the table that a run with the same settings makes."""
    base = policy(**changes)
    tries = explore(base, staff(), ks=[2, 7, 300], limits=[0, 0.08])
    assert {one.recoding for one in tries} >= {"global"}
    for one in tries:
        models = [{"k_anonymity": {"k": one.k}}, *changes.get("privacy", [])[1:]]  # type: ignore[index]
        solve = {**changes.get("solve", {}), "recoding": one.recoding, "suppression_limit": one.limit}  # type: ignore[dict-item]
        same = policy(**{**changes, "privacy": models, "solve": solve})
        try:
            release = shoal.anonymise(staff(), same)
        except InfeasibleError as error:
            assert (one.found, one.reason) == (None, str(error))
            continue
        assert one.found is not None
        assert one.reason is None
        solution, risk, manifest = release.solution, release.risk, release.manifest
        assert one.found.levels == solution.levels
        assert (one.found.loss, one.found.objective) == (solution.loss, solution.objective)
        assert (one.found.suppressed, one.found.optimal) == (solution.suppressed, solution.optimal)
        assert one.found.suppressed_share == solution.suppressed / 240
        assert one.found.smallest_class == risk.k
        assert one.found.average_class_size == manifest.utility["average_class_size"]
        assert (one.found.prosecutor_max, one.found.prosecutor_average) == (
            risk.prosecutor_max,
            risk.prosecutor_average,
        )
    assert any(one.found is None for one in tries)
    assert any(one.found is not None and one.found.suppressed for one in tries)


@pytest.mark.parametrize("recoding", ["cells", "rare", "clustered"])
def test_other_kinds_of_recoding_are_measured_alike(recoding: str) -> None:
    (one,) = explore(
        policy(solve={"recoding": recoding, "suppression_limit": 0.1}),
        staff(),
        ks=[3],
        limits=[0.1],
        recodings=[recoding],
    )
    release = shoal.anonymise(staff(), policy(solve={"recoding": recoding, "suppression_limit": 0.1}))
    assert one.wanted
    assert one.found is not None
    assert (one.found.smallest_class, one.found.loss) == (release.risk.k, release.manifest.solution.loss)
    assert one.found.average_class_size == release.utility["average_class_size"]


def test_the_data_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def counting(*arguments: object) -> object:
        calls.append(arguments)
        return count(*arguments)  # type: ignore[arg-type]  # passed on as it came

    monkeypatch.setattr("shoal.engine.polars.counting.count", counting)
    assert len(explore(policy(), staff(), ks=[2, 3, 4, 5], limits=[0, 0.1])) == 16
    assert len(calls) == 1


def test_a_proven_optimum_gets_worse_with_k_and_better_with_the_limit() -> None:
    tries = explore(policy(), staff(), ks=[2, 3, 5, 9, 20], limits=[0, 0.05, 0.1, 0.3], recodings=["global"])
    loss = {(one.k, one.limit): one.found.loss for one in tries if one.found is not None and one.found.optimal}
    assert len(loss) == 20
    for (k, limit), here in loss.items():
        assert all(here <= there for (other, same), there in loss.items() if same == limit and other > k)
        assert all(here >= there for (same, other), there in loss.items() if same == k and other > limit)
    assert len(set(loss.values())) >= 5


def test_all_may_be_suppressed() -> None:
    tries = explore(policy(), staff(), ks=[1000], limits=[1], recodings=["global"])
    everything = next(one.found for one in tries if one.k == 1000)
    assert everything is not None
    assert (everything.suppressed, everything.suppressed_share, everything.loss) == (240, 1.0, 1.0)
    assert (everything.smallest_class, everything.average_class_size, everything.prosecutor_max) == (0, 0.0, 0.0)


def test_models_that_are_not_varied_hold_in_every_try() -> None:
    strict = policy(privacy=[{"l_diversity": {"attribute": "illness", "kind": "distinct", "l": 4}}])
    tries = explore(strict, staff(), ks=[2], limits=[0.1])
    assert [one.k for one in tries if one.wanted] == [1]
    assert len(tries) == 3
    assert all(one.reason is not None and one.found is None for one in tries)
    assert any("l_diversity" in str(one.reason) for one in tries)


def test_the_policy_is_tried_even_outside_the_grid() -> None:
    tries = explore(policy(), staff(), ks=[2, 5], limits=[0], recodings=["local"])
    assert [(one.recoding, one.k, one.limit) for one in tries if one.wanted] == [("global", 3, 0.1)]
    assert len(tries) == 3


def test_the_strictest_k_is_the_policys_and_k_on_some_attributes_is_not_varied() -> None:
    models = [{"k_anonymity": {"k": 2}}, {"k_anonymity": {"k": 4}}, {"k_anonymity": {"k": 60, "attributes": ["sex"]}}]
    chosen = policy(privacy=models)
    assert own_setting(chosen) == ExplorationSetting("global", 4, 0.1)
    tries = explore(chosen, staff(), ks=[2], limits=[0.1], recodings=["global"])
    lower, own = (one.found for one in tries)
    assert lower is not None
    assert own is not None
    assert lower.smallest_class < 4 <= own.smallest_class
    split = policy(privacy=[*models[:2], {"k_anonymity": {"k": 100, "attributes": ["sex"]}}])
    tries = explore(split, staff(), ks=[2], limits=[0.1], recodings=["global"])
    assert [one.found.levels["sex"] for one in tries if one.found] == [1, 1]


def test_a_use_case_says_k_where_the_policy_does_not() -> None:
    assert own_setting(policy(privacy=[], use_case="external-sharing")).k == 5


def test_equal_settings_are_tried_once_and_in_order() -> None:
    settings = grid(policy(), [5, 3, 5], [0.1, 0.0, 0.1], ["local", "global"])
    assert [(one.recoding, one.k, one.limit) for one in settings] == [
        (recoding, k, limit) for recoding in ("local", "global") for k in (3, 5) for limit in (0.0, 0.1)
    ]


def test_another_utility_is_explored_with_global_recoding_only() -> None:
    other = policy(solve={"utility": "entropy"})
    assert {one.recoding for one in grid(other)} == {"global"}
    with pytest.raises(InputError, match="entropy"):
        grid(other, recodings=["global", "local"])


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"ks": [5, 0]}, "ks: 0"),
        ({"ks": [-3]}, "ks: -3"),
        ({"limits": [0.1, 1.01]}, "limits: 1.01"),
        ({"limits": [-0.1]}, "limits: -0.1"),
        ({"limits": [float("nan")]}, "limits: nan"),
        ({"ks": []}, "nothing to try"),
        ({"limits": []}, "nothing to try"),
        ({"recodings": []}, "nothing to try"),
        ({"recodings": ["globl"]}, "did you mean 'global'"),
    ],
)
def test_settings_that_make_no_sense(given: dict[str, list[object]], says: str) -> None:
    with pytest.raises(InputError, match=re.escape(says)):
        grid(policy(), **given)  # type: ignore[arg-type]  # that is the point


def test_a_policy_with_nothing_to_explore() -> None:
    with pytest.raises(InputError, match="no quasi-identifier"):
        grid(Policy.from_text("{shoal: 1, name: a, attributes: {b: {role: sensitive}}}"))
    with pytest.raises(InputError, match="aggregates"):
        grid(policy(privacy=[], aggregate={"by": ["sex"], "measures": {"n": "count"}}))
    with pytest.raises(PolicyError):
        policy(privacy=[{"k_anonymity": {"k": 0}}])


FOUND = ExplorationOutcome({"age": 1}, 0.0, 0.0, True, 0, 0.0, 5, 6.0, 0.2, 0.1)


def tried(
    k: int, loss: float | None, recoding: str = "global", limit: float = 0.0, *, wanted: bool = False
) -> ExplorationTrial:
    if loss is None:
        return ExplorationTrial(k, limit, recoding, 0.0, wanted, None, "it can't be")
    return ExplorationTrial(k, limit, recoding, 0.0, wanted, replace(FOUND, loss=loss))


@given(st.lists(st.tuples(st.integers(1, 6), st.none() | st.integers(0, 6)), max_size=14))
def test_the_frontier_is_what_nothing_beats(pairs: list[tuple[int, int | None]]) -> None:
    tries = [tried(k, None if loss is None else loss / 8) for k, loss in pairs]
    found = [(k, loss) for k, loss in pairs if loss is not None]
    expected = [
        (k, loss) for k, loss in found if not any((a > k and b <= loss) or (a >= k and b < loss) for a, b in found)
    ]
    assert [(one.k, one.found.loss * 8) for one in frontier(tries) if one.found] == expected
    climbing = steps(tries)
    assert [one.k for one, _ in climbing] == sorted({k for k, _ in expected})
    assert [loss for _, loss in climbing] == sorted({loss / 8 for _, loss in expected})


def test_losses_that_differ_by_rounding_are_equal() -> None:
    tries = [tried(5, 0.3), tried(5, 0.1 + 0.2, "local")]
    assert tries[0].found != tries[1].found
    assert frontier(tries) == tuple(tries)


def advice(*tries: ExplorationTrial) -> tuple[str, ...]:
    return Exploration("staff", "staff.csv", 240, tries).advice


def test_advice_says_what_a_step_costs() -> None:
    said = advice(tried(5, 0.20, limit=0.1), tried(5, 0.25, wanted=True), tried(10, 0.23, limit=0.1), tried(20, None))
    assert said == (
        "Global recoding, each k at its best limit: from k=5 to k=10 costs 0.030 loss.",
        "What the policy asks for (k=5, nothing suppressed, global) is beaten: "
        "k=5, at most 10% suppressed, global is as safe and loses 0.050 less.",
    )


def test_advice_names_the_best_of_each_recoding() -> None:
    (said,) = advice(tried(5, 0.25, wanted=True), tried(7, 0.2, "local"))
    assert said.endswith("is beaten: k=7, nothing suppressed, local is safer and loses 0.050 less.")


def test_advice_when_the_policy_is_as_good_as_it_gets() -> None:
    assert "is on the frontier" in advice(tried(5, 0.2, wanted=True), tried(4, 0.2), tried(6, 0.21))[-1]


def test_advice_when_the_policy_cannot_be_met() -> None:
    own = tried(5, None, wanted=True)
    assert advice(own) == (
        "What the policy asks for (k=5, nothing suppressed, global) can't be met; nor can any other that was tried.",
    )
    assert advice(own, tried(2, 0.1), tried(5, 0.3, limit=0.02), tried(9, 0.1, "local"))[-1].endswith(
        "the nearest that can is k=5, at most 2% suppressed, global."
    )


def test_a_small_cost_is_not_said_to_be_none() -> None:
    assert "costs under 0.001 loss" in advice(tried(2, 0.1), tried(3, 0.1001))[0]
