"""What ends a run that has written its release: a risk above its limit, a public release that attacks break."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from tests.cli.conftest import Call, Ended
from tests.support.policies import policy_text

Release = Callable[..., Ended]


@pytest.fixture
def release(call: Call, tmp_path: Path) -> Release:
    """Four hundred people, run by a policy that says more; the end of the command."""
    pl.DataFrame(
        {
            "age": [20 + n % 40 for n in range(400)],
            "town": ["AB"[n % 2] for n in range(400)],
            "ill": [("flu", "cold", "gout")[n * 7 % 3] for n in range(400)],
            "code": [f"C{n * 7919 % 400:05}" for n in range(400)],
        }
    ).write_csv(tmp_path / "people.csv")

    def run(more: str, *flags: str, code: str = "") -> Ended:
        further = {"age": "hierarchy: {intervals: {widths: [10, 50]}}", "code": code}
        text = policy_text("people.csv", more, further, quasi="age town", sensitive="ill", direct="code")
        (tmp_path / "policy.yaml").write_text(text)
        return call("run", "policy.yaml", "--output", "release", *flags)

    return run


@pytest.mark.requirement("R-02")
def test_a_run_above_its_limit_ends_with_1(release: Release, tmp_path: Path) -> None:
    ended = release("privacy: [{k_anonymity: {k: 5}}]\nassess: {harm: high}")
    assert ended.code == 1
    assert "not met: reidentification: required 0.01" in ended.stderr
    assert (tmp_path / "release" / "release.json").exists()


@pytest.mark.requirement("G-02", "R-04")
def test_a_public_release_is_attacked_without_being_asked(release: Release) -> None:
    ended = release("use_case: public\nassess: {harm: low}", "--json", "--seed", "1")
    told = ended.found
    assert told["models"][0]["required"] == 11
    assert told["attacks"]
    assert "assessment" not in told
    assert "not public" in told["not_assessed"]
    found = any(attack["found"] for attack in told["attacks"]) or told["attacks_unjudged"]
    assert ended.code == (1 if found else 0)


@pytest.mark.requirement("G-02", "R-05")
def test_a_public_release_that_attacks_break_ends_with_1(release: Release, tmp_path: Path) -> None:
    """Four digits of a number are left, and nobody else has them: whoever knows the number finds the record."""
    ended = release("use_case: public", "--seed", "1", code="technique: {mask: {keep_last: 4}}")
    told = json.loads((tmp_path / "release" / "release.json").read_text())
    assert any(attack["found"] for attack in told["attacks"])
    assert ended.code == 1
    assert "attacks that succeed, or may (public)" in ended.stderr
    assert told["state"]["still_personal"]


@pytest.mark.requirement("S-07")
def test_starring_everything_is_a_loud_line(release: Release) -> None:
    ended = release("privacy: [{k_anonymity: {k: 400}}]")
    assert ended.code == 0
    assert "warning: NOTHING is left that tells records apart" in ended.stderr
    assert "NOTHING is left that tells records apart" in ended.stdout
    assert "the least loss possible" not in ended.stdout
    assert "age 3 (*), town 1 (*)" in ended.stdout
    assert "state: anonymised data" in ended.stdout


@pytest.mark.requirement("R-06")
def test_constant_columns_have_no_detail_to_keep(release: Release, tmp_path: Path) -> None:
    """The town is the same for all: half of the cells lose nothing, and that is no detail kept."""
    pl.read_csv(tmp_path / "people.csv").with_columns(town=pl.lit("A")).write_csv(tmp_path / "people.csv")
    found = release("privacy: [{k_anonymity: {k: 5}}]\nsolve: {levels: {age: 2, town: 0}}", "--json").found
    assert found["solution"]["levels"] == {"age": 2, "town": 0}
    assert found["utility"]["detail_kept"] == pytest.approx(1 - 2 * found["utility"]["loss"])
    page = (tmp_path / "release" / "report.html").read_text()
    assert "Detail kept" in page
    assert "Usefulness kept" not in page
