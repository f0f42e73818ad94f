"""Suppressed, kept, invented: one definition, of the source's records, in manifest, report, `measure` and a recount."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.support.policies import policy_text

import shoal
from shoal.assess.measure.request import MeasureRequest
from shoal.assess.measure.table_measurement import measure_data

pytestmark = pytest.mark.requirement("R-06")

POLICY = policy_text("staff.csv", "privacy: [{k_anonymity: {k: 4}}]\n", quasi="age town", insensitive="pay")
CASES = {
    "starred": "solve: {suppression_limit: 0.2, levels: {age: [0, 1], town: 0}}",
    "dropped": "solve: {suppression_limit: 0.2, levels: {age: [0, 1], town: 0}, drop_suppressed: true}",
    "rule": 'suppress_records: {where: "pay == 1"}\nsolve: {suppression_limit: 0.2, levels: {age: [0, 1], town: 0}}',
    "sampled": "sample: {fraction: 0.7}\nsolve: {suppression_limit: 0.3, levels: {age: [0, 1], town: 0}}",
    "decoys": "solve: {suppression_limit: 0.2, levels: {age: [0, 1], town: 0}, decoys: {limit: 0.1}}",
}
SUPPRESSING = ("starred", "dropped", "rule")


def staff() -> pl.DataFrame:
    """Three towns of many and four people in small ones."""
    return pl.DataFrame(
        {
            "age": [20 + n * 7 % 30 for n in range(100)],
            "town": ["ABC"[n % 3] for n in range(92)] + ["D"] * 5 + ["E"] * 3,
            "pay": [n * 7 % 10 for n in range(100)],
        }
    )


def released(at: Path, case: str) -> Path:
    staff().write_csv(at / "staff.csv")
    (at / "policy.yaml").write_text(POLICY + CASES[case] + "\n")
    policy = shoal.Policy.load(at / "policy.yaml")
    shoal.anonymise(at / "staff.csv", policy, output=at / "release", seed=3)
    return at / "release"


def manifest(release: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((release / "release.json").read_text())
    return found


def recount(release: Path) -> dict[str, float]:
    """By hand, from the two files: who of the source is in a class, and what the classes cost."""
    rows = [tuple(line.split(",")[:2]) for line in (release / "data.csv").read_text().splitlines()[1:]]
    classes = Counter(row for row in rows if row != ("*", "*"))
    told = manifest(release)
    kept = sum(classes.values()) - told["decoys"]["records"]
    suppressed = 100 - kept - (told["records"]["not_sampled"])
    return {
        "suppressed": suppressed,
        "records_kept": kept / 100,
        "discernibility": sum(size**2 for size in classes.values()) + suppressed * 100,
    }


@pytest.mark.parametrize("case", CASES)
def test_manifest_measure_and_recount_agree(tmp_path: Path, case: str) -> None:
    release = released(tmp_path, case)
    told, expected = manifest(release), recount(release)
    found = measure_data(str(release), MeasureRequest.parse(policy=None, quasi="age,town")).to_dict()
    assert told["suppressed"]["records"] == found["suppressed"] == expected["suppressed"]
    assert told["records"] == found["records"]
    assert told["records"]["source"] == 100
    assert sum(told["records"][name] for name in ("kept", "suppressed", "not_sampled")) == 100
    for name in ("records_kept", "discernibility", "average_class_size"):
        assert told["utility"][name] == pytest.approx(found["utility"][name])
    assert told["utility"]["records_kept"] == expected["records_kept"]
    assert told["utility"]["discernibility"] == expected["discernibility"]


@pytest.mark.parametrize("case", SUPPRESSING)
def test_the_report_says_how_many_of_the_source_were_suppressed(tmp_path: Path, case: str) -> None:
    release = released(tmp_path, case)
    suppressed = manifest(release)["suppressed"]["records"]
    assert suppressed > 0
    page = " ".join(re.sub(r"<[^>]*>", " ", (release / "report.html").read_text()).split())
    assert re.search(rf"Suppressed {suppressed} of 100 records, {suppressed}%", page)


@pytest.mark.parametrize("case", SUPPRESSING)
def test_cells_of_records_that_were_left_out_are_lost(tmp_path: Path, case: str) -> None:
    """The same loss whether suppressed records are starred or left out, in the manifest and beside the original."""
    release = released(tmp_path, case)
    request = MeasureRequest.parse(policy=tmp_path / "policy.yaml", quasi=None)
    found = measure_data(str(release), request, original=str(tmp_path / "staff.csv")).to_dict()["utility"]
    told = manifest(release)["utility"]
    assert told["loss"] == pytest.approx(found["loss"])
    assert told["precision"] == pytest.approx(found["precision"])


def test_dropping_costs_what_starring_costs(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    starred, dropped = (manifest(released(tmp_path / at, case)) for at, case in (("a", "starred"), ("b", "dropped")))
    assert starred["utility"] == pytest.approx(dropped["utility"])
    assert starred["suppressed"] == dropped["suppressed"]


def test_invented_records_are_nobody_kept_and_nothing_lost(tmp_path: Path) -> None:
    release = released(tmp_path, "decoys")
    told = manifest(release)
    assert told["records"]["invented"] == told["decoys"]["records"] > 0
    assert told["data"]["rows"] == 100 + told["decoys"]["records"]
    assert told["utility"]["loss"] == pytest.approx(told["solution"]["loss"])


def test_a_manifest_of_another_file_tells_nothing(tmp_path: Path) -> None:
    release = released(tmp_path, "dropped")
    data = release / "data.csv"
    data.write_text(data.read_text() + data.read_text().splitlines()[1] + "\n")
    found = measure_data(str(release), MeasureRequest.parse(policy=None, quasi="age,town")).to_dict()
    assert found["suppressed"] == 0
    assert found["records"]["source"] == found["rows"]
