"""Noise at the device: as private as it says, estimates without bias, the same in Python and in JavaScript."""

from __future__ import annotations

import ast
import json
import secrets
import shutil
import subprocess
from collections import Counter
from math import exp, log, sqrt
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, chisquare

from shoal.dp.local import device
from shoal.dp.local.estimates import (
    LocalEstimate,
    consistent,
    hash_counts,
    number_mean,
    response_counts,
    subset_sum,
    unary_counts,
)
from shoal.errors import InputError

pytestmark = pytest.mark.requirement("C-03")

DEVICE_JS = Path(device.__file__).with_suffix(".js")
OPTIONS = ["bus", "train", "car", "foot"]
MANY = 40_000


def in_javascript(program: str) -> Any:
    node = shutil.which("node") or shutil.which("nodejs")
    if node is None:
        pytest.skip("NO NODE, SO THE DEVICE'S JAVASCRIPT IS NOT TESTED: scripts/test-machine installs it")
    code = f"const d = require({json.dumps(str(DEVICE_JS))});\n(async () => {{ {program} }})();"
    done = subprocess.run([node, "-e", code], capture_output=True, text=True, timeout=120, check=True)
    return json.loads(done.stdout)


def told_in_python(value: str, epsilon: float, number: int) -> Counter:
    return Counter(device.randomised_response(value, OPTIONS, epsilon) for _ in range(number))


def told_in_javascript(value: str, epsilon: float, number: int) -> Counter:
    program = (
        f"const told = {{}}; for (let i = 0; i < {number}; i++) {{"
        f" const one = d.randomisedResponse({json.dumps(value)}, {json.dumps(OPTIONS)}, {epsilon});"
        " told[one] = (told[one] || 0) + 1; } console.log(JSON.stringify(told));"
    )
    return Counter(in_javascript(program))


@pytest.mark.parametrize("told", [told_in_python, told_in_javascript], ids=["Python", "JavaScript"])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_answers_have_the_stated_chances(told, epsilon: float) -> None:
    found = told("car", epsilon, MANY)
    keep = exp(epsilon) / (exp(epsilon) + 3)
    expected = [keep if option == "car" else (1 - keep) / 3 for option in OPTIONS]
    assert chisquare([found[option] for option in OPTIONS], [MANY * one for one in expected]).pvalue > 1e-6
    for factor in (0.8, 1.25):  # and no other ones
        wrong = exp(epsilon * factor) / (exp(epsilon * factor) + 3)
        assert binom.cdf(found["car"], MANY, wrong) < 1e-6 or binom.sf(found["car"], MANY, wrong) < 1e-6


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_no_answer_tells_two_people_apart_by_more_than_epsilon(epsilon: float) -> None:
    """From the chances as the code computes them: two people, every answer."""
    keep = exp(epsilon) / (exp(epsilon) + len(OPTIONS) - 1)
    assert log(keep / ((1 - keep) / (len(OPTIONS) - 1))) == pytest.approx(epsilon)
    other = 1 / (exp(epsilon) + 1)
    assert log(0.5 / other) + log((1 - other) / 0.5) == pytest.approx(epsilon)
    inside = device.window(epsilon)
    each = 1 / (inside * exp(epsilon) + device.STEPS)
    assert each * (inside * exp(epsilon) + device.STEPS) == pytest.approx(1)
    assert log(each * exp(epsilon) / each) == pytest.approx(epsilon)


def test_a_bounded_number_falls_where_its_window_is() -> None:
    inside = device.window(1.0)
    found = Counter(device.bounded_number(30, 0, 100, 1.0) for _ in range(MANY))
    start = 0.3 * device.STEPS
    within = sum(number for point, number in found.items() if start - 1 <= point <= start + inside)
    share = inside * exp(1) / (inside * exp(1) + device.STEPS)
    assert within / MANY == pytest.approx(share, abs=4 * sqrt(share * (1 - share) / MANY) + 2 / device.STEPS)
    assert min(found) >= 0
    assert max(found) < device.STEPS + inside


@pytest.mark.parametrize("epsilon", [0.5, 36.0, 50.0])
def test_however_large_epsilon_is_any_answer_can_be_another_one(
    epsilon: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer that only one of two people can give tells them apart for sure, which no ε allows. So where chance is
    as rare as it can be, all of them stray."""
    low, high = 700, 700 + device.window(epsilon)
    program = (
        "globalThis.crypto.getRandomValues = (bytes) => bytes.fill(0);"
        f"const options = {json.dumps(OPTIONS)}; const hash = await d.localHash('bus', {epsilon});"
        f"const kept = await d.hashed('bus', hash.seed, d.bucketCount({epsilon}));"
        f"console.log(JSON.stringify([d.randomisedResponse('bus', options, {epsilon}), d.unary('bus', options, "
        f"{epsilon}), d.boundedNumber({low / device.STEPS}, 0, 1, {epsilon}), hash.bucket, kept]));"
    )
    told, bits, point, bucket, kept = in_javascript(
        "Object.defineProperty(globalThis, 'crypto', {value: {subtle: require('crypto').webcrypto.subtle}});" + program
    )
    monkeypatch.setattr(secrets, "randbits", lambda _: 0)
    hashed = device.local_hash("bus", epsilon)
    for answer in (told, device.randomised_response("bus", OPTIONS, epsilon)):
        assert answer in OPTIONS[1:]
    for answer in (bits, device.unary("bus", OPTIONS, epsilon)):
        assert answer == [1, 1, 1, 1]
    for answer in (point, device.bounded_number(low / device.STEPS, 0, 1, epsilon)):
        assert not low < answer < high
    assert bucket != kept
    assert hashed["bucket"] != device.hashed("bus", hashed["seed"], device.bucket_count(epsilon))


def survey(number: int = 6000) -> list[str]:
    return [OPTIONS[place * place % 7 % 4] for place in range(number)]


def z_scores(estimates: list[LocalEstimate], truth: Counter) -> list[float]:
    return [(one.value - truth[option]) / one.error for one, option in zip(estimates, OPTIONS, strict=True)]


def test_estimates_of_options_are_near_the_truth() -> None:
    people = survey()
    truth = Counter(people)
    responses = response_counts([device.randomised_response(one, OPTIONS, 1.0) for one in people], OPTIONS, 1.0)
    unary = unary_counts([device.unary(one, OPTIONS, 1.0) for one in people], OPTIONS, 1.0)
    hashes = hash_counts([device.local_hash(one, 1.0) for one in people], OPTIONS, 1.0)
    for estimates in (responses, unary, hashes):
        assert all(abs(score) < 5 for score in z_scores(estimates, truth))
        together = subset_sum(estimates[:2])
        assert together.low - 3 * together.error < truth["bus"] + truth["train"] < together.high + 3 * together.error


def test_intervals_cover_as_often_as_they_say() -> None:
    people = survey(400)
    truth = Counter(people)
    covered = 0
    for _ in range(500):
        told = [device.randomised_response(one, OPTIONS, 1.5) for one in people]
        estimate = response_counts(told, OPTIONS, 1.5)[0]
        covered += estimate.low <= truth["bus"] <= estimate.high
    assert 0.92 <= covered / 500 <= 0.98


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 4.0])
def test_the_mean_of_numbers_has_no_bias(epsilon: float) -> None:
    values = [float(place % 81) for place in range(4000)]
    told = [device.bounded_number(value, 0, 100, epsilon) for value in values]
    estimate = number_mean(told, 0, 100, epsilon)
    assert abs(estimate.value - sum(values) / len(values)) < 5 * estimate.error


@given(st.lists(st.floats(-500, 1500), min_size=2, max_size=12))
def test_consistent_counts_are_whole_and_add_up(values: list[float]) -> None:
    found = consistent([LocalEstimate(value, 1.0) for value in values], 1000)
    assert min(found) >= 0
    assert sum(found) == pytest.approx(1000)


def test_both_languages_hash_alike_and_have_the_same_sizes() -> None:
    seeds = [0, 1, 77, 2**40 + 5]
    program = (
        "const found = []; for (const seed of [0, 1, 77, 2 ** 40 + 5]) for (const word of ['bus', 'ट्रेन', '']) "
        "found.push(await d.hashed(word, seed, 5)); "
        "console.log(JSON.stringify([found, [0.1, 1, 2.5, 6].map(d.bucketCount), [0.1, 1, 2.5, 6].map(d.windowSize)]));"
    )
    hashes, buckets, windows = in_javascript(program)
    assert hashes == [device.hashed(word, seed, 5) for seed in seeds for word in ("bus", "ट्रेन", "")]
    assert buckets == [device.bucket_count(epsilon) for epsilon in (0.1, 1, 2.5, 6)]
    assert windows == [device.window(epsilon) for epsilon in (0.1, 1, 2.5, 6)]


def test_a_survey_in_javascript_is_read_in_python() -> None:
    people = survey(3000)
    program = (
        f"const people = {json.dumps(people)}; const options = {json.dumps(OPTIONS)}; const hashes = [];"
        "for (const one of people) hashes.push(await d.localHash(one, 1.5));"
        "const numbers = people.map((_, place) => d.boundedNumber(place % 81, 0, 100, 1.5));"
        "console.log(JSON.stringify([people.map((one) => d.unary(one, options, 1.5)), hashes, numbers]));"
    )
    unary, hashes, numbers = in_javascript(program)
    truth = Counter(people)
    assert all(abs(score) < 5 for score in z_scores(unary_counts(unary, OPTIONS, 1.5), truth))
    assert all(abs(score) < 5 for score in z_scores(hash_counts(hashes, OPTIONS, 1.5), truth))
    mean = number_mean(numbers, 0, 100, 1.5)
    assert abs(mean.value - sum(place % 81 for place in range(3000)) / 3000) < 5 * mean.error


def test_the_device_file_needs_nothing_but_the_standard_library() -> None:
    tree = ast.parse(Path(device.__file__).read_text(encoding="utf-8"))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imported <= {"__future__", "collections.abc", "hashlib", "math", "secrets", "typing"}


@pytest.mark.parametrize("epsilon", [0, -1, 51, float("nan")])
def test_an_epsilon_that_is_none_is_refused(epsilon: float) -> None:
    with pytest.raises(ValueError, match="epsilon"):
        device.unary("bus", OPTIONS, epsilon)
    with pytest.raises(InputError):
        response_counts(["bus"], OPTIONS, epsilon)


def test_wrong_answers_are_refused() -> None:
    with pytest.raises(ValueError, match="none of the options"):
        device.randomised_response("boat", OPTIONS, 1.0)
    with pytest.raises(InputError, match="none of the options"):
        response_counts(["boat"], OPTIONS, 1.0)
    with pytest.raises(InputError, match="0 and 1"):
        unary_counts([[0, 2, 0, 0]], OPTIONS, 1.0)
    with pytest.raises(InputError, match="grid"):
        number_mean([99_999], 0, 1, 1.0)
