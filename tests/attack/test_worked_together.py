"""Figures of attacks that compare many things at once, as others have printed them; else reckoned step by step."""

from __future__ import annotations

import hashlib
from math import comb

import numpy as np
import polars as pl
import pytest
from scipy.stats import gaussian_kde, norm

from shoal.attack import Attack, Rate
from shoal.attack.attacks.combined_linking import combined_linking
from shoal.attack.attacks.learned_inference import learned
from shoal.attack.attacks.linkability import linkability
from shoal.attack.attacks.membership_by_density import NARROWER, density, membership_by_density
from shoal.attack.codes.code_recipes import Codes, recognise
from shoal.attack.ground_truth.record_order import recovered
from shoal.attack.ground_truth.targets import TrialDesign
from shoal.attack.matching.value_parts import read_parts
from shoal.attack.registry import attack_keys
from shoal.attack.result import LEVEL, holm, holm_adjusted
from shoal.randomness import Randomness

pytestmark = pytest.mark.requirement("R-04")


def attack(right: float, baseline: float, trials: int = 100) -> Attack:
    return Attack("linking", "Linking", "age", Rate(right, trials), Rate(baseline, trials))


def test_holm_as_wikipedia_prints_it() -> None:
    """Holm–Bonferroni method: 0.01, 0.04, 0.03 and 0.005 become 0.03, 0.06, 0.06 and 0.02."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []


def test_a_p_value_is_the_level_at_which_the_interval_touches_nothing() -> None:
    """Newcombe's first example: 56 of 70 against 48 of 80. At the level of its p-value the lower bound is 0."""
    one = Attack("linking", "", "", Rate(56, 70), Rate(48, 80))
    z = norm.isf(one.p_value)
    (low, _), (_, high) = one.success.within(z), one.baseline.within(z)
    gap = one.success.share - one.baseline.share
    assert gap == pytest.approx(np.hypot(one.success.share - low, high - one.baseline.share), abs=1e-6)
    assert one.found and one.p_value < LEVEL
    assert attack(10, 20).p_value == 1


def test_what_is_found_alone_is_not_found_among_many() -> None:
    weak = attack(65, 50)
    assert weak.p_value < LEVEL
    assert weak.found
    among = holm_adjusted([weak, *[attack(50, 50)] * 9])
    assert among[0].adjusted == pytest.approx(10 * weak.p_value)
    assert not any(each.found for each in among)
    assert holm_adjusted([attack(95, 50), *[attack(50, 50)] * 9])[0].found


@pytest.mark.parametrize(("neighbours", "linked"), [(1, 1), (2, 4), (3, 4), (4, 4)])
def test_linkability_as_anonymeter_prints_it(neighbours: int, linked: int) -> None:
    """Anonymeter, test_linkability_evaluator.py: with one neighbour one of four is linked, with two all are.

    Its baseline, by random neighbours among four: 1/4 with one, 5/6 with two.
    """
    original = pl.DataFrame({"col0": [0, 0, 4, 0], "col1": [0, 1, 9, 4]})
    release = pl.DataFrame({"col0": [0, 1, 4, 9], "col1": [0, 1, 4, 9]})
    found = linkability(
        release, original, (["col0"], ["col1"]), TrialDesign(Randomness(1), trials=4), neighbours=neighbours
    )
    assert found.success == Rate(linked, 4)
    assert found.baseline.share == pytest.approx(1 - comb(4 - neighbours, neighbours) / comb(4, neighbours))


def test_linkability_without_the_own_record() -> None:
    """Everybody's own record is the only one that links; left out, nobody is linked."""
    table = pl.DataFrame({"a": range(40), "b": [each * 7 % 41 for each in range(40)], "who": range(40)})
    found = linkability(table, table, (["a"], ["b"]), TrialDesign(Randomness(1), owner="who"))
    assert (found.success.share, found.control and found.control.share) == (1, 0)
    assert found.left_out


def test_density_as_scipy_has_it() -> None:
    lots = np.random.default_rng(1)
    sample, asked = lots.normal(0, 2, 50), lots.normal(0, 2, 20)
    frames = [pl.DataFrame({"x": each}) for each in (asked, sample)]
    scipy = gaussian_kde(sample, bw_method=lambda kernel: kernel.scotts_factor() * NARROWER)
    expected = scipy.logpdf(asked)
    there = expected > -500
    assert density(frames[0], frames[1], frames[0], ["x"])[there] == pytest.approx(expected[there])


def test_the_half_where_the_release_is_denser_as_domias_says() -> None:
    """Van Breugel et al.: "in" of those whose ratio is above the median. Members lie where only the release is."""
    lots = np.random.default_rng(2)
    members, others = (pl.DataFrame({"x": lots.normal(centre, 1, 200)}) for centre in (10, 0))
    found = membership_by_density(members, members, ["x"], TrialDesign(Randomness(1), control=others))
    assert found.success == Rate(200, 200)
    same = membership_by_density(others, members, ["x"], TrialDesign(Randomness(1), control=members.reverse()))
    assert not same.found


def test_what_a_tree_has_not_learnt_from_it_does_not_know() -> None:
    """Everybody is alone with an age and has a value that follows from nothing else."""
    lots = np.random.default_rng(3)
    table = pl.DataFrame({"age": range(200), "ill": lots.choice(list("ABCDE"), 200), "who": range(200)})
    found = learned(table, table, ["age"], "ill", TrialDesign(Randomness(1), owner="who"))
    assert found.success.share > 0.95
    assert found.control is not None and found.control.share < 0.4
    assert found.left_out and found.found


def test_rows_are_put_in_order_only_if_others_would_not_fit_as_well() -> None:
    """Good: of new people as many are like one of the old as of the old are like another. Here that is everybody."""
    lots = np.random.default_rng(4)
    fine = pl.DataFrame({"a": lots.integers(0, 10**6, 300)})
    assert recovered(fine[:100], fine) is not None
    assert recovered(pl.DataFrame({"a": lots.integers(0, 10**6, 100)}), fine) is None
    coarse = pl.DataFrame({"a": lots.integers(0, 3, 300)})
    assert recovered(coarse[:100], coarse) is None


def test_all_that_is_known_together_with_pencil() -> None:
    """Two classes of four. In the first the sums 10, 20, 30, 40 became the mean 25: equally near. In the second each
    moved by 1 where others are 10 apart: clearly nearest, and right. By class alone one in four would be."""
    original = pl.DataFrame({"class": ["a"] * 4 + ["b"] * 4, "sum": [10.0, 20, 30, 40] * 2, "who": range(8)})
    release = original.with_columns(sum=pl.Series([25.0] * 4 + [11.0, 21, 31, 41]))
    found = combined_linking(
        release, original, ["class"], numbers=["sum"], owner="who", randomness=Randomness(1), trials=8
    )
    assert found.success == Rate(4, 8)
    assert found.baseline == Rate(1, 8)
    assert found.details is not None and found.details["precision"] == 1


@pytest.mark.requirement("R-05")
@pytest.mark.parametrize(
    ("released", "first"),
    [
        (["1098", "9012", "5555"], "1098"),
        (["9876", "1234", "4444"], "9876"),
        (["5432", "5678", "0000"], "5432"),
        (["+98765432 1098", "+12345678 9012", "+44440000 5555"], "+98765432 1098"),
    ],
)
def test_parts_are_read_wherever_they_stand(released: list[str], first: str) -> None:
    numbers = pl.Series("id", ["9876 5432 1098", "1234 5678 9012", "4444 0000 5555"])
    read = read_parts(pl.Series("id", released), numbers, numbers)
    assert read is not None
    assert read["label"][0] == first


@pytest.mark.requirement("R-05")
def test_leading_zeros_that_a_reader_of_numbers_dropped_are_put_back() -> None:
    numbers = pl.Series("id", ["9876 5432 0098", "1234 5678 9012", "4444 0000 5555"])
    read = read_parts(pl.Series("id", [98, 9012, 5555]), numbers, numbers)
    assert read is not None
    assert read["label"].to_list() == ["98", "9012", "5555"]


@pytest.mark.requirement("R-05")
def test_what_is_no_part_is_not_read_as_one() -> None:
    words = pl.Series("id", ["north", "south", "east", "west"])
    for released in (["a1", "b2", "c3", "d4"], ["*"] * 4, words.to_list()):
        assert read_parts(pl.Series("id", released), words, words) is None
        assert read_parts(pl.Series("id", released), words, None) is None


@pytest.mark.requirement("R-05")
def test_codes_of_all_ways_are_read() -> None:
    digest = hashlib.sha256(b"1").hexdigest()
    assert [codes.way for codes in Codes.of(pl.Series([digest, digest[::-1]]))] == ["hex", "base64"]
    assert Codes.of(pl.Series([f"ID-{digest}", f"ID-{digest[::-1]}"]))[-1].prefix == "ID-"
    assert Codes.of(pl.Series([1.5, 2.5])) == []
    assert Codes.of(pl.Series(["a", "bb", "*"])) == []


@pytest.mark.requirement("R-05")
def test_short_codes_that_fit_by_chance_are_no_recipe() -> None:
    """Of 9,000 codes of four digits, nearly any number leads to one."""
    lots = np.random.default_rng(5)
    numbers = pl.Series("id", [str(each) for each in lots.integers(10**9, 10**10, 20_000)])
    assert recognise(pl.Series("id", lots.integers(1000, 10_000, 20_000)), numbers, None) is None


def test_one_file_adds_an_attack() -> None:
    keys = attack_keys()
    assert len(keys) == len(set(keys))
    assert {"linkability", "combined_linking", "membership_by_density", "dictionary"} <= set(keys)
