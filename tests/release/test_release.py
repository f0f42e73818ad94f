"""A release, from the outside: what comes back, what is written, what it promises."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.policies import policy_text

import shoal
from shoal.errors import DataError, InfeasibleError
from shoal.measurement import measure_classes

POLICY = """\
shoal: 1
name: staff
attributes:
  name: {role: direct}
  phone: {role: direct, technique: {mask: {keep_last: 2}}}
  age: {role: quasi, hierarchy: {intervals: {widths: [10, 20]}}}
  pin: {role: quasi, hierarchy: {redact: {side: right, char: "x"}}}
  salary: {role: sensitive, technique: [{round: {base: 100}}, {noise: {laplace: {scale: 200}}}]}
  visited: {role: insensitive, technique: {noise: {days: 10}}}
  ward: {role: insensitive, technique: {permute: {within: [pin]}}}
privacy: [{k_anonymity: {k: 3}}]
solve: {suppression_limit: 0.2}
"""

CONTRACT_KEYS = {
    "shoal", "policy_sha256", "data", "solution", "suppressed", "risk", "models", "utility", "timing", "peak_rss_mb",
}  # fmt: skip


def staff(number: int = 400) -> pl.DataFrame:
    places = pl.Series(range(number))
    return pl.DataFrame(
        {
            "name": "Secretname" + places.cast(pl.String),
            "phone": (9_000_000_000 + places * 7_919).cast(pl.String),
            "age": 20 + places * 7 % 60,
            "pin": (560_001 + places % 9).cast(pl.String),
            "salary": 20_000 + places * 31,
            "visited": pl.Series([f"2024-{1 + place % 12:02}-{1 + place % 28:02}" for place in range(number)]),
            "ward": "W" + (places % 5).cast(pl.String),
        }
    )


@pytest.mark.requirement("S-01", "T-01", "T-04", "T-09")
def test_the_python_way_for_every_kind_of_table() -> None:
    policy = shoal.Policy.from_text(POLICY)
    table = staff()
    release = shoal.anonymise(table, policy, seed=1)
    assert isinstance(release.data, pl.DataFrame)
    assert release.data.columns == ["phone", "age", "pin", "salary", "visited", "ward"]
    assert release.risk.k >= 3
    assert 0 < release.utility["loss"] < 1
    assert release.utility["loss"] == pytest.approx(release.manifest.solution.loss)
    assert type(shoal.anonymise(table.to_pandas(), policy, seed=1).data).__module__.startswith("pandas")
    assert shoal.anonymise(table.to_arrow(), policy, seed=1).data.num_rows == 400
    assert shoal.measure(release.data, quasi=["age", "pin"]).k == release.risk.k


@pytest.mark.requirement("V-05", "R-10")
def test_a_release_folder_holds_what_the_contract_says(tmp_path: Path) -> None:
    staff().write_csv(tmp_path / "staff.csv")
    (tmp_path / "policy.yaml").write_text(POLICY)
    policy = shoal.Policy.load(tmp_path / "policy.yaml")
    release = shoal.anonymise(tmp_path / "staff.csv", policy, output=tmp_path / "out", seed=3)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "data.csv",
        "recipient.html",
        "release.json",
        "report.html",
    ]
    manifest = json.loads((tmp_path / "out" / "release.json").read_text())
    assert set(manifest) >= CONTRACT_KEYS
    assert list(manifest) == sorted(manifest)
    assert manifest["data"]["rows"] == 400
    assert manifest["models"] == [{"name": "k_anonymity", "required": 3, "achieved": release.risk.k, "met": True}]
    assert set(manifest["solution"]["levels"]) == {"age", "pin"}
    for file in (tmp_path / "out").iterdir():
        assert "Secretname" not in file.read_text()


def written_with(folder: Path, *, threads: int, batch_rows: int, output: str) -> bytes:
    code = (
        "import sys, shoal.engine.polars.engine as e, shoal; from pathlib import Path\n"
        f"e.PolarsEngine.__init__.__kwdefaults__['batch_rows'] = {batch_rows}\n"
        "p = shoal.Policy.load('policy.yaml')\n"
        f"shoal.anonymise('staff.csv', p, output={output!r}, seed=20889)\n"
    )
    environment = {**os.environ, "POLARS_MAX_THREADS": str(threads)}
    subprocess.run([sys.executable, "-c", code], cwd=folder, check=True, env=environment)
    return (folder / output / "data.csv").read_bytes()


@pytest.mark.requirement("L-04")
def test_same_seed_same_bytes_for_any_batch_size_and_thread_count(tmp_path: Path) -> None:
    staff(5_000).write_csv(tmp_path / "staff.csv")
    policy = POLICY + "sample: {fraction: 0.8}\nshuffle_rows: true\n"
    (tmp_path / "policy.yaml").write_text(policy)
    first = written_with(tmp_path, threads=1, batch_rows=17, output="a")
    assert written_with(tmp_path, threads=2, batch_rows=1_000, output="b") == first
    assert written_with(tmp_path, threads=3, batch_rows=100_000, output="c") == first


def test_no_seed_no_repeat() -> None:
    policy = shoal.Policy.from_text(POLICY)
    assert not shoal.anonymise(staff(), policy).data.equals(shoal.anonymise(staff(), policy).data)


@pytest.mark.requirement("D-09", "S-01")
def test_k_counts_people_not_records() -> None:
    """One person with many records does not hide anybody, not even where the person column is left out."""
    policy = shoal.Policy.from_text("""
shoal: 1
name: visits
person: who
attributes:
  who: {role: direct}
  city: {role: quasi}
privacy: [{k_anonymity: {k: 2}}]
solve: {suppression_limit: 1, drop_suppressed: true}
""")
    table = pl.DataFrame({"who": ["a", "a", "a", "b", "c", "d"], "city": ["X", "X", "X", "Y", "Y", "Z"]})
    release = shoal.anonymise(table, policy)
    assert release.data["city"].to_list() == ["Y", "Y"]
    assert release.risk.k == 2


@pytest.mark.requirement("T-02", "S-01")
def test_suppressed_records_keep_their_place_as_stars() -> None:
    policy = shoal.Policy.from_text("""
shoal: 1
name: rare
attributes: {city: {role: quasi}, note: {role: insensitive}}
privacy: [{k_anonymity: {k: 2}}]
solve: {suppression_limit: 0.5}
""")
    table = pl.DataFrame({"city": ["X", "Z", "X"], "note": [1, 2, 3]})
    release = shoal.anonymise(table, policy)
    assert release.data.to_dict(as_series=False) == {"city": ["X", "*", "X"], "note": [1, 2, 3]}
    assert release.manifest.to_dict()["suppressed"] == {"records": 1, "cells": 0}


@pytest.mark.requirement("T-12", "T-29")
def test_combined_columns_are_quasi_identifiers_like_others() -> None:
    policy = shoal.Policy.from_text("""
shoal: 1
name: bodies
attributes:
  weight: {role: quasi, technique: {combine: {into: bmi, expression: "weight / (height * height)", decimals: 1}}}
  height: {role: quasi}
  bmi: {role: quasi, hierarchy: {intervals: {widths: [5, 10]}}}
privacy: [{k_anonymity: {k: 2}}]
""")
    table = pl.DataFrame({"weight": [52.0, 53.0, 90.0, 91.0], "height": [1.6, 1.6, 1.8, 1.8]})
    release = shoal.anonymise(table, policy)
    assert release.data.columns == ["bmi"]
    assert release.risk.k == 2


@pytest.mark.requirement("T-18")
def test_aggregated_release() -> None:
    groups = "aggregate: {by: [city], measures: {people: count, total: {sum: salary}}, minimum: 3}"
    policy = shoal.Policy.from_text(policy_text("sums.csv", groups, insensitive="city", sensitive="salary"))
    table = pl.DataFrame({"city": ["X"] * 4 + ["Y"], "salary": [1, 2, 3, 4, 100]})
    release = shoal.anonymise(table, policy)
    assert 100 not in release.data.to_numpy().ravel().tolist()
    assert "X" in release.data["city"].to_list()


@pytest.mark.requirement("T-18", "R-10")
def test_the_report_of_groups_says_what_became_of_each_column_and_claims_no_figure(tmp_path: Path) -> None:
    policy = shoal.Policy.from_text("""
shoal: 1
name: sums
attributes:
  city: {role: quasi}
  salary: {role: sensitive}
  note: {role: insensitive}
use_case: external-sharing
aggregate: {by: [city], measures: {people: count, total: {sum: salary}, mean: {mean: salary}}, minimum: 3}
""")
    rows = {"city": ["X"] * 6 + ["Y"] * 6, "salary": list(range(12)), "note": ["n"] * 12}
    release = shoal.anonymise(pl.DataFrame(rows), policy)
    page = release.report(tmp_path / "report.html").read_text()
    told = dict(
        re.findall(r'<code dir="auto">(\w+)</code></th><td role="cell" class="role">.*?class="line">(.*?)</span>', page)
    )
    assert told == {
        "city": "aggregate, makes the groups, of 3 people and more",
        "salary": "aggregate, sum, mean of each group",
        "note": "left out",
    }
    assert "2 groups" in page
    assert not {"Kinds of attacker", "What drives the risk", "2 records", "left as it is"} & set(
        re.findall(r"Kinds of attacker|What drives the risk|2 records|left as it is", page)
    )
    assert re.search(r'data-label="Achieved">–<', page)


def test_no_records_is_an_error() -> None:
    with pytest.raises(DataError, match="no records"):
        shoal.anonymise(staff(0), shoal.Policy.from_text(POLICY))


@given(
    ages=st.lists(st.integers(0, 99) | st.none(), min_size=1, max_size=60),
    k=st.integers(1, 8),
    limit=st.sampled_from([0.0, 0.3, 1.0]),
)
@settings(max_examples=40)
@pytest.mark.requirement("S-01", "S-07")
def test_whatever_the_table_the_output_keeps_the_promise(ages: list[int | None], k: int, limit: float) -> None:
    policy = shoal.Policy.from_text(f"""
shoal: 1
name: any
attributes:
  age: {{role: quasi, hierarchy: {{intervals: {{widths: [10, 50]}}}}}}
  pin: {{role: quasi}}
privacy: [{{k_anonymity: {{k: {k}}}}}]
solve: {{suppression_limit: {limit}}}
""")
    pins = [None if age is None else str(age % 3) for age in ages]
    table = pl.DataFrame({"age": ages, "pin": pins}, schema={"age": pl.Int64, "pin": pl.String})
    try:
        release = shoal.anonymise(table, policy)
    except InfeasibleError:
        assert k > len(ages)
        return
    if release.solution.suppressed == len(ages):
        assert set(release.data["age"]) == set(release.data["pin"]) == {"*"}
        return
    measured = measure_classes(release.data.lazy(), ("age", "pin"))
    assert measured.suppressed <= limit * len(ages)
    assert not len(measured.classes.people) or measured.risk.k >= k


@pytest.mark.requirement("T-02")
def test_records_suppressed_by_rule_are_accounted_for() -> None:
    policy = shoal.Policy.from_text(POLICY + 'suppress_records: {where: "age > 60"}\nsample: {fraction: 0.5}\n')
    table = staff()
    release = shoal.anonymise(table, policy, seed=4)
    beyond = table.filter(pl.col("age") > 60).height
    assert release.manifest.suppressed.records == beyond + release.solution.suppressed


@pytest.mark.requirement("T-18", "R-01")
def test_an_aggregated_table_claims_no_k() -> None:
    policy = shoal.Policy.from_text("""
shoal: 1
name: sums
attributes: {city: {role: quasi}}
aggregate: {by: [city], measures: {people: count}, minimum: 2}
""")
    release = shoal.anonymise(pl.DataFrame({"city": ["X", "X", "Y", "Y", "Z", "Z"]}), policy)
    assert release.risk.k == 0
    assert release.data.height == 3
