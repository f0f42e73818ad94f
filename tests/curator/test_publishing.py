"""A report appears period by period from one budget; what was told stays told."""

from __future__ import annotations

import datetime
import json
from pathlib import Path

import polars as pl
import pytest

from shoal.curator import publishing
from shoal.curator.budget_state import audited
from shoal.curator.curator import Curator
from shoal.curator.publishing import publish, write_report
from shoal.dp.report_description import ReportDescription
from shoal.errors import BudgetExhausted, InputError, PolicyError, RefusedQuestion

pytestmark = pytest.mark.requirement("C-05")

DATASET = """
shoal: 1
name: water
source: water.csv
person: house
rows_per_person: 2
columns:
  zip: {type: category, categories: ["560001", "560002"]}
  day: {type: date, bounds: [2025-01-01, 2025-06-30]}
  litres: {type: number, bounds: [0, 100]}
budget: {epsilon: EPSILON, delta: 1.0e-6}
accounting: ACCOUNTING
"""
REPORT = """
shoal: 1
name: water-by-zip
dataset: dataset.yaml
figure: FIGURE
by: [zip]
every: month
time: day
epsilon: 50
"""


@pytest.fixture(params=["zcdp", "approximate"])
def report(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    rows = [
        {"house": house, "zip": f"56000{1 + house % 2}", "day": f"2025-0{1 + month}-15", "litres": 10.0 + house % 5}
        for house in range(3000)
        for month in (house % 6, (house + 3) % 6)
    ]
    pl.DataFrame(rows).write_csv(tmp_path / "water.csv")
    text = DATASET.replace("EPSILON", "60").replace("ACCOUNTING", request.param)
    (tmp_path / "dataset.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "report.yaml").write_text(REPORT.replace("FIGURE", "SUM(litres)"), encoding="utf-8")
    return tmp_path / "report.yaml"


def day(month: int) -> datetime.date:
    return datetime.date(2025, month, 1)


def test_figures_are_near_the_truth_and_within_their_intervals(report: Path) -> None:
    made = publish(report, until=day(5))
    truth = (
        pl.read_csv(report.parent / "water.csv", schema_overrides={"zip": pl.String})
        .group_by("zip", pl.col("day").str.slice(0, 7).alias("month"))
        .agg(pl.col("litres").sum())
    )
    known = {(row["zip"], row["month"]): row["litres"] for row in truth.iter_rows(named=True)}
    assert [row["period"] for row in made.rows[:4]] == ["2025-01-01", "2025-02-01", "2025-03-01", "2025-04-01"]
    assert {row["zip"] for row in made.rows} == {"560001", "560002"}
    for row in made.rows:
        exact = known.get((row["zip"], row["period"][:7]), 0.0)
        assert row["value"] == pytest.approx(exact, abs=8 * (row["value_high"] - row["value_low"]) / 4 + 1)
        assert row["total_low"] < row["total"] < row["total_high"]


def test_the_budget_is_spent_once_and_what_was_told_stays(report: Path) -> None:
    first = publish(report, until=day(3))
    again = publish(report, until=day(3))
    later = publish(report, until=day(4))
    assert (first.epsilon_spent, again.epsilon_spent, later.epsilon_spent) == (50, 0, 0)
    assert again.rows == first.rows
    assert (first.periods, later.periods, later.periods_in_all) == (2, 3, 6)
    if later.strategy == "root":
        told = {(row["zip"], row["period"]): row["value"] for row in later.rows}
        for row in first.rows:
            assert told[row["zip"], row["period"]] == pytest.approx(row["value"], abs=1e-2)
    audit = audited(report.parent / "dataset.yaml")
    assert (audit.asked, audit.answered, audit.doubts) == (1, 1, ())


def test_a_report_is_written_whole(report: Path, tmp_path: Path) -> None:
    made = publish(report, until=day(3))
    write_report(made, tmp_path / "out.csv")
    written = pl.read_csv(tmp_path / "out.csv")
    assert written.columns == list(made.columns)
    assert written.height == 4


def test_a_budget_that_does_not_suffice_tells_nothing(report: Path) -> None:
    curator = Curator(report.parent / "dataset.yaml")
    curator.query("SELECT COUNT(*) FROM t", 19, analyst=None)
    curator.query("SELECT COUNT(litres) FROM t", 19, analyst=None)
    curator.query("SELECT COUNT(zip) FROM t", 19, analyst=None)
    with pytest.raises(BudgetExhausted):
        publish(report, until=day(3))


@pytest.mark.parametrize("figure", ["AVG(litres)", "MEDIAN(litres)", "MAX(litres)", "COUNT(*), SUM(litres)"])
def test_a_report_counts_or_adds_up(report: Path, figure: str) -> None:
    report.write_text(REPORT.replace("FIGURE", figure), encoding="utf-8")
    with pytest.raises(RefusedQuestion):
        publish(report, until=day(3))


def test_reports_together_use_no_more_rows_of_a_person_than_were_described(
    report: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody with a row in each month, two of which may be used: drawn anew each month, more would be."""
    rows = [{"house": 1, "zip": "560001", "day": f"2025-0{month}-15", "litres": 100} for month in range(1, 7)]
    pl.DataFrame(rows).write_csv(report.parent / "water.csv")
    used: dict[int, int] = {}
    real = publishing._drawn

    def noted(job: publishing._Report, figures: list[int], missing: list[int]) -> dict[str, list[int]]:
        for period, figure in enumerate(figures[:6]):
            used[period] = max(used.get(period, 0), figure)
        return real(job, figures, missing)

    monkeypatch.setattr(publishing, "_drawn", noted)
    for month in range(2, 8):
        publish(report, until=day(month))
    one_row = max(used.values())
    assert [used[period] // one_row for period in range(6)] == [1, 1, 0, 0, 0, 0]


def test_sums_that_were_told_by_another_process_are_not_told_again(report: Path) -> None:
    """One that publishes fewer periods, and is slower: what it has drawn meanwhile is thrown away."""
    described = ReportDescription.load(report)
    job = publishing._Report(described, Curator(described.dataset_path))
    three = publish(report, until=day(4))
    with job.curator.begun() as ledger:
        rows = [int(row) for row in job.strategy.told_by(2)]
        late = {job.key("sum", row): json.dumps([10**9, 10**9]) for row in rows}
        ledger.answered(1, late)
    assert publish(report, until=day(4)).rows == three.rows
    assert max(row["total"] for row in publish(report, until=day(3)).rows) < 10**8


def test_what_is_not_over_is_not_told(report: Path) -> None:
    with pytest.raises(InputError, match="in the future"):
        publish(report, until=datetime.date(9999, 1, 1))


def test_wrong_reports_are_refused(report: Path) -> None:
    with pytest.raises(InputError, match="no period has ended"):
        publish(report, until=day(1))
    report.write_text("shoal: 1\nname: x\nevery: weekly\nfigur: COUNT(*)\n", encoding="utf-8")
    with pytest.raises(PolicyError) as problems:
        publish(report, until=day(3))
    assert len(problems.value.problems) >= 4
    assert "did you mean 'figure'" in str(problems.value)
