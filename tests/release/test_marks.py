"""A star in a release is Shoal's: values of the data that look like it are told apart, whoever counts."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.policies import policy_text

import shoal
from shoal.assess.measure.request import MeasureRequest
from shoal.assess.measure.table_measurement import measure_data
from shoal.errors import InfeasibleError
from shoal.hierarchy.base import escape_top

pytestmark = pytest.mark.requirement("T-02")


def text(*, privacy: str, solve: str, hierarchy: str = "") -> str:
    rest = f"privacy: [{privacy}]\nsolve: {solve}\n"
    return policy_text("table.csv", rest, {"town": hierarchy}, quasi="town job", sensitive="ill")


def run(at: Path, table: pl.DataFrame, *, privacy: str, solve: str, hierarchy: str = "") -> Path:
    table.write_csv(at / "table.csv")
    (at / "policy.yaml").write_text(text(privacy=privacy, solve=solve, hierarchy=hierarchy))
    policy = shoal.Policy.load(at / "policy.yaml")
    shoal.anonymise(at / "table.csv", policy, output=at / "release", seed=1, force=True)
    return at / "release"


def told(release: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((release / "release.json").read_text())
    return found


def rows(path: Path) -> list[tuple[str, str, str]]:
    with path.open(newline="") as lines:
        return [(row["town"], row["job"], row["ill"]) for row in csv.DictReader(lines)]


def literal() -> pl.DataFrame:
    """Ten people of whom nothing is known, ten who are too few for k, eighty others."""
    towns = ["*"] * 10 + [f"lone {n}" for n in range(10)] + ["A"] * 40 + ["B"] * 40
    jobs = ["*"] * 10 + ["cook"] * 90
    return pl.DataFrame({"town": towns, "job": jobs, "ill": ["flu", "cold"] * 50})


def without_reading(risk: dict[str, float]) -> dict[str, float]:
    """A bare file doesn't say what was taken out of it, so nobody can say what is read back."""
    return {name: figure for name, figure in risk.items() if name != "k_effective"}


def test_manifest_and_measure_suppress_the_same_records(tmp_path: Path) -> None:
    release = run(
        tmp_path,
        literal(),
        privacy="{k_anonymity: {k: 5}}",
        solve="{suppression_limit: 0.2, levels: {town: 0, job: 0}}",
    )
    found = told(release)
    assert found["suppressed"]["records"] == 10
    bare = tmp_path / "elsewhere.csv"
    bare.write_bytes((release / "data.csv").read_bytes())
    for data in (release, bare):
        measured = measure_data(str(data), MeasureRequest.parse(policy=None, quasi="town,job")).to_dict()
        assert measured["suppressed"] == 10
        assert without_reading(measured["risk"]) == pytest.approx(without_reading(found["risk"]))
    assert Counter(row[:2] for row in rows(release / "data.csv"))[("\\*", "\\*")] == 10
    assert any("reads like the mark" in warning for warning in found["warnings"])


def test_a_class_of_literal_stars_is_judged_like_any_other(tmp_path: Path) -> None:
    """Three in four of them have the same illness, which α = 0.6 forbids: they can't be released as they are."""
    table = pl.DataFrame(
        {
            "town": ["*"] * 8 + ["A"] * 8,
            "job": ["*"] * 8 + ["cook"] * 8,
            "ill": ["flu"] * 6 + ["cold"] * 2 + ["flu", "cold"] * 4,
        }
    )
    model = "{alpha_k: {attribute: ill, alpha: 0.6, k: 2}}"
    with pytest.raises(InfeasibleError):
        run(tmp_path, table, privacy=model, solve="{levels: {town: 0, job: 0}}")
    release = run(tmp_path, table, privacy=model, solve="{suppression_limit: 0.5, levels: {town: 0, job: 0}}")
    assert told(release)["suppressed"]["records"] == 8
    assert {row[:2] for row in rows(release / "data.csv")} == {("*", "*"), ("A", "cook")}


def test_a_label_of_a_hierarchy_is_told_apart_too(tmp_path: Path) -> None:
    """The hierarchy calls the small towns * on its first level: that is a group of towns, not everything."""
    (tmp_path / "towns.csv").write_text("A;big;*\nB;big;*\nC;*;*\nD;*;*\n")
    table = pl.DataFrame({"town": ["A", "B", "C", "D"] * 5, "job": ["cook"] * 20, "ill": ["flu", "cold"] * 10})
    release = run(
        tmp_path,
        table,
        privacy="{k_anonymity: {k: 10}}",
        solve="{levels: {town: 1, job: 0}}",
        hierarchy="hierarchy: {csv: towns.csv}",
    )
    assert Counter(row[0] for row in rows(release / "data.csv")) == {"big": 10, "\\*": 10}
    assert told(release)["risk"]["k"] == 10


def test_a_star_in_the_original_is_a_value(tmp_path: Path) -> None:
    release = run(tmp_path, literal(), privacy="{k_anonymity: {k: 5}}", solve="{suppression_limit: 0.2}")
    request = MeasureRequest.parse(policy=tmp_path / "policy.yaml", quasi=None)
    found = measure_data(str(release), request, original=str(tmp_path / "table.csv"))
    assert found.before is not None
    assert (found.before.suppressed, found.before.k) == (0, 1)
    assert found.to_dict()["risk_before"] == pytest.approx(told(release)["risk_before"])
    assert found.to_dict()["utility"]["loss"] == pytest.approx(told(release)["utility"]["loss"])


def test_a_column_that_a_technique_generalises_keeps_our_star(tmp_path: Path) -> None:
    policy = """\
shoal: 1
name: marks
attributes:
  town: {role: quasi, technique: {generalise: {hierarchy: {redact: {char: x}}, level: 2}}}
  job: {role: quasi}
privacy: [{k_anonymity: {k: 5}}]
"""
    table = pl.DataFrame({"town": ["AB", "CD"] * 5, "job": ["cook"] * 10})
    data = shoal.anonymise(table, shoal.Policy.from_text(policy)).data
    assert set(data["town"]) == {"*"}


def test_nothing_and_an_empty_text_stay_two_values(tmp_path: Path) -> None:
    table = pl.DataFrame({"town": [None, ""] * 6, "job": ["cook"] * 12, "ill": ["flu", "cold"] * 6})
    policy = text(privacy="{k_anonymity: {k: 6}}", solve="{levels: {town: 0, job: 0}}")
    release = shoal.anonymise(table, shoal.Policy.from_text(policy))
    assert release.risk.k == 6
    assert Counter(release.data["town"]) == {None: 6, "": 6}


@given(st.lists(st.text("\\*x", max_size=4), min_size=1, max_size=20))
def test_no_two_values_become_one(values: list[str]) -> None:
    labels = escape_top(pl.Series(values, dtype=pl.String)).to_list()
    assert len(set(labels)) == len(set(values))
    assert "*" not in labels


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    cells=st.lists(st.tuples(st.sampled_from("*AB"), st.sampled_from(["*", "\\*", "cook"])), min_size=4, max_size=24),
    k=st.integers(2, 4),
    recoding=st.sampled_from(["global", "local", "cells", "rare", "clustered"]),
)
def test_whoever_counts_finds_the_same(tmp_path: Path, cells: list[tuple[str, str]], k: int, recoding: str) -> None:
    table = pl.DataFrame({"town": [a for a, _ in cells], "job": [b for _, b in cells], "ill": ["flu"] * len(cells)})
    solve = f"{{recoding: {recoding}, suppression_limit: 0.5}}"
    try:
        release = run(tmp_path, table, privacy=f"{{k_anonymity: {{k: {k}}}}}", solve=solve)
    except InfeasibleError:
        return
    found = told(release)
    written = Counter(row[:2] for row in rows(release / "data.csv"))
    starred = written.pop(("*", "*"), 0)
    measured = measure_data(str(release), MeasureRequest.parse(policy=None, quasi="town,job")).to_dict()
    assert found["risk"]["k"] == measured["risk"]["k"] == (min(written.values()) if written else measured["risk"]["k"])
    assert found["suppressed"]["records"] == measured["suppressed"]
    if written:
        assert measured["suppressed"] == starred


def test_a_value_called_like_a_label_does_not_hide_what_the_label_stands_for(tmp_path: Path) -> None:
    """Two villages are called Others on the first level, and a town is called that already: the cells stand for all."""
    (tmp_path / "towns.csv").write_text("A;A;*\nOthers;Others;*\nC;Others;*\nD;Others;*\n")
    table = pl.DataFrame({"town": ["A", "Others", "C", "D"] * 5, "job": ["cook"] * 20, "ill": ["flu", "cold"] * 10})
    hierarchy = "hierarchy: {csv: towns.csv}"
    release = run(
        tmp_path, table, privacy="{k_anonymity: {k: 5}}", solve="{levels: {town: 1, job: 0}}", hierarchy=hierarchy
    )
    found = told(release)
    assert found["utility"]["loss"] == pytest.approx(found["solution"]["loss"]) == pytest.approx(15 / 20 * 2 / 3 / 2)
