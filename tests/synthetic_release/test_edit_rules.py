"""Edit rules of a synthetic table: counted before and after, kept where they must be (ISO/IEC 20889, 9.7.3)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.support.commands import Call

import shoal
from shoal.errors import DataError, InputError, PolicyError

pytestmark = pytest.mark.requirement("T-30", "T-25")

NEVER = "sex = 'male' and ward = 'gynaecology'"


def rules(on_violation: str = "report", never: str = NEVER) -> dict[str, Any]:
    return {"shoal": 1, "rules": [{"name": "no-male-gynaecology", "never": never, "on_violation": on_violation}]}


@pytest.fixture(scope="module")
def patients() -> pl.DataFrame:
    """Wards that have nothing to do with sexes, so that a draw breaks the rule as often as the source does."""
    draw = np.random.default_rng(3)
    return pl.DataFrame(
        {
            "sex": draw.choice(["male", "female"], 600),
            "ward": draw.choice(["gynaecology", "surgery", "urology"], 600),
            "age": draw.integers(18, 90, 600),
        }
    )


def broken(table: pl.DataFrame) -> int:
    return table.filter((pl.col("sex") == "male") & (pl.col("ward") == "gynaecology")).height


def test_both_tables_are_counted(patients: pl.DataFrame) -> None:
    release = shoal.synthesise(patients, edit_rules=rules(), seed=1, evidence=False)
    (rule,) = release.manifest.rules or ()
    assert rule.before is not None
    assert rule.after is not None
    assert (rule.before.records, rule.before.violations) == (600, broken(patients))
    assert (rule.after.records, rule.after.violations) == (600, broken(release.data))
    assert rule.after.violations > 50
    assert any("'no-male-gynaecology' is broken by" in told for told in release.manifest.warnings)
    assert "Edit rules" in release.html
    assert "no-male-gynaecology" in release.html


@pytest.mark.parametrize("wishes", [{}, {"where": "age > 40"}, {"balance": "ward", "rows": 400}])
def test_records_that_break_a_rule_are_drawn_again(patients: pl.DataFrame, wishes: dict[str, Any]) -> None:
    release = shoal.synthesise(patients, edit_rules=rules("suppress"), seed=1, evidence=False, **wishes)
    (rule,) = release.manifest.rules or ()
    assert rule.after is not None
    assert broken(release.data) == rule.after.violations == 0
    assert release.data.height == wishes.get("rows", 600)
    assert set(release.data["ward"]) == {"gynaecology", "surgery", "urology"}
    if "where" in wishes:
        assert release.data["age"].min() > 40


def test_what_can_not_be_told_is_no_breach(patients: pl.DataFrame) -> None:
    gaps = patients.with_columns(pl.when(pl.int_range(600) % 3 > 0).then("sex").alias("sex"))
    release = shoal.synthesise(gaps, edit_rules=rules("suppress"), seed=1, evidence=False)
    (rule,) = release.manifest.rules or ()
    assert rule.after is not None
    assert rule.after.violations == 0
    assert rule.after.undecided > 20


def test_a_rule_that_must_hold_stops_the_synthesis(patients: pl.DataFrame, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="'no-male-gynaecology' is broken by") as raised:
        shoal.synthesise(patients, edit_rules=rules("refuse"), seed=1, evidence=False, output=tmp_path / "release")
    assert "drawn again" in str(raised.value)
    assert not list(tmp_path.iterdir())


def test_a_private_table_tells_nothing_of_the_source(patients: pl.DataFrame, tmp_path: Path) -> None:
    shoal.synthesise(
        patients, method="network", epsilon=1, edit_rules=rules("suppress"), evidence=False, output=tmp_path / "release"
    )
    written = json.loads((tmp_path / "release" / "release.json").read_text())
    assert "rules" not in written
    assert "no-male-gynaecology" not in (tmp_path / "release" / "recipient.html").read_text()
    assert broken(pl.read_parquet(tmp_path / "release" / "data.parquet")) == 0


def test_rows_of_real_people_are_counted_and_not_drawn_again(patients: pl.DataFrame) -> None:
    release = shoal.synthesise(patients, method="partial", columns=["ward"], edit_rules=rules(), seed=1, evidence=False)
    (rule,) = release.manifest.rules or ()
    assert rule.after is not None
    assert rule.after.violations == broken(release.data) > 0
    with pytest.raises(InputError, match="draws again"):
        shoal.synthesise(patients, method="partial", columns=["ward"], edit_rules=rules("suppress"), evidence=False)


@pytest.mark.parametrize(
    ("given", "kind", "said"),
    [
        (rules(never="wrad = 'x'"), InputError, "there is no column 'wrad'; did you mean 'ward'?"),
        (rules(never="1 = 1"), PolicyError, "names no column"),
        ({"shoal": 1, "rules": []}, PolicyError, "rules"),
        ({"shoal": 1, "rules": [{"never": NEVER}]}, PolicyError, "name"),
        ("no-such.yaml", shoal.errors.SourceError, "no-such.yaml"),
    ],
)
def test_rules_that_are_none_are_refused(
    patients: pl.DataFrame, given: object, kind: type[Exception], said: str
) -> None:
    with pytest.raises(kind, match=said.replace("?", r"\?")):
        shoal.synthesise(patients, edit_rules=given, evidence=False)


def test_what_was_suggested_is_counted(call: Call, patients: pl.DataFrame, tmp_path: Path) -> None:
    """Found by ``suggest --rules`` in a table that keeps it, and counted in what is drawn of that table."""
    kept = patients.filter(~((pl.col("sex") == "male") & (pl.col("ward") == "gynaecology")))
    kept.write_csv(tmp_path / "patients.csv")
    assert call("suggest", "patients.csv", "-o", "policy.yaml", "--rules").code == 0
    assert "never:" in (tmp_path / "policy.yaml").read_text()
    found = call("synth", "patients.csv", "-o", "out", "--edit-rules", "policy.yaml", "--no-evidence", "--seed", "1")
    assert found.code == 0
    assert "rule " in found.stdout
    told = json.loads((tmp_path / "out" / "release.json").read_text())["rules"]
    assert told[0]["before"]["violations"] == 0
    assert NEVER not in json.dumps(told)


def test_several_tables_and_heavy_test_data_have_none(call: Call, patients: pl.DataFrame, tmp_path: Path) -> None:
    patients.write_csv(tmp_path / "one.csv")
    patients.write_csv(tmp_path / "two.csv")
    (tmp_path / "rules.yaml").write_text(json.dumps(rules()))
    for more in (["two.csv"], ["--method", "test-data", "--heavy"]):
        refused = call("synth", "one.csv", *more, "-o", "out", "--edit-rules", "rules.yaml")
        assert refused.code == 2
        assert "--edit-rules" in refused.stderr
