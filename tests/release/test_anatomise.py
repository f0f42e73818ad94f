"""An anatomised release, from the outside: two files, joined by class, as diverse as the manifest says."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.support.policies import policy_text

import shoal
from shoal.assess.attack.request import AttackRequest
from shoal.assess.attack.table_attack import attack_data
from shoal.assess.measure.request import MeasureRequest
from shoal.assess.measure.table_measurement import measure_data
from shoal.engine.polars import PolarsEngine
from shoal.errors import BugError, DataError, InfeasibleError, PolicyError
from shoal.io import open_source
from shoal.io.options import FileOptions
from shoal.measurement.risk.anatomy import Diversity
from shoal.release.run import release_folder
from shoal.results.attack_roles import AttackRoles
from shoal.techniques.anatomisation import anatomise

pytestmark = pytest.mark.requirement("T-24")

REST = """\
privacy: [{k_anonymity: {k: 2}}]
solve: {suppression_limit: 0.2}
anatomise: {sensitive: [disease], l: 3}
shuffle_rows: true
"""
POLICY = policy_text("clinic.csv", REST, direct="name", quasi="age town", sensitive="disease")
DISEASES = ("flu", "gout", "cold", "asthma", "", None)


def clinic(number: int = 300) -> pl.DataFrame:
    """Sorted by disease, as it should not be: the order must not tell it."""
    rows = range(number)
    return pl.DataFrame(
        {
            "name": [f"Secretname{row}" for row in rows],
            "age": [20 + row * 7 % 60 for row in rows],
            "town": [f"town {row % 4}" for row in rows],
            "disease": [DISEASES[row * len(DISEASES) // number] for row in rows],
        }
    )


def read(path: Path) -> pl.DataFrame:
    return open_source(FileOptions(path=str(path))).scan().collect()


@pytest.mark.parametrize("ending", ["csv", "parquet", "xlsx", "jsonl"])
def test_two_files_joined_by_class_alone(tmp_path: Path, ending: str) -> None:
    table, path = clinic(), tmp_path / f"in.{ending}"
    {"csv": table.write_csv, "parquet": table.write_parquet, "xlsx": table.write_excel, "jsonl": table.write_ndjson}[
        ending
    ](path)
    release = shoal.anonymise(path, shoal.Policy.from_text(POLICY), output=tmp_path / "out", seed=1)
    out = tmp_path / "out"
    assert sorted(file.name for file in out.iterdir()) == sorted(
        [f"attributes.{ending}", f"data.{ending}", "recipient.html", "release.json", "report.html"]
    )
    assert release.files == {"attributes": out / f"attributes.{ending}"}
    data, attributes = read(out / f"data.{ending}"), read(out / f"attributes.{ending}")
    assert data.columns == ["age", "town", "class"]
    assert attributes.columns == ["class", "disease", "count"]
    sizes = data.group_by("class").len().sort("class")
    assert sizes["len"].min() >= 3
    listed = attributes.group_by("class").agg(pl.col("disease").fill_null("").n_unique().alias("len")).sort("class")
    assert listed.equals(sizes), "all values of a class differ, also where a missing one looks like an empty text"
    as_before = attributes["disease"].fill_null("").value_counts().sort("disease")
    assert as_before.equals(table["disease"].fill_null("").value_counts().sort("disease"))


def test_the_manifest_and_the_reports_say_what_was_recounted(tmp_path: Path) -> None:
    clinic().write_csv(tmp_path / "in.csv")
    release_folder(
        shoal.Policy.from_text(POLICY), tmp_path / "out", data=str(tmp_path / "in.csv"), seed=1, evidence=True
    )
    manifest = json.loads((tmp_path / "out" / "release.json").read_text())
    assert manifest["anatomy"] == {
        "classes": 100,
        "distinct": 3,
        "largest_share": pytest.approx(1 / 3),
        "attributes": {"disease": {"distinct": 3, "largest_share": pytest.approx(1 / 3)}},
    }
    assert manifest["models"][1] == {"name": "anatomise", "required": 3, "achieved": 3, "met": True}
    assert [(file["path"], file["rows"]) for file in manifest["files"]] == [("attributes.csv", 300)]
    assert "disease" not in manifest["roles"]
    assert manifest["warnings"] == []
    report, recipient = ((tmp_path / "out" / name).read_text() for name in ("report.html", "recipient.html"))
    assert "at most 1 in 3" in report
    assert "anatomise, in the file attributes, 3 values and more for each class" in report
    assert "Kept in a table of its own" in recipient
    assert "attributes.csv" in recipient
    assert "at most 1 in 3." not in recipient
    for file in (tmp_path / "out").iterdir():
        assert "Secretname" not in file.read_text()


def test_in_memory(tmp_path: Path) -> None:
    release = shoal.anonymise(clinic(), shoal.Policy.from_text(POLICY), seed=1)
    assert release.data.columns == ["age", "town", "class"]
    assert release.risk.k >= 2
    attributes = release.files["attributes"]
    assert attributes["disease"].value_counts(sort=True).sort("disease").equals(
        clinic()["disease"].value_counts(sort=True).sort("disease")
    )  # fmt: skip
    assert release.manifest.anatomy is not None
    found = release.manifest.anatomy
    assert Diversity(found.distinct, found.largest_share).reaches(3)
    assert release.manifest.met


def test_same_seed_same_bytes_for_any_batch_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clinic().write_csv(tmp_path / "in.csv")
    policy = shoal.Policy.from_text(POLICY.replace("l: 3", "l: 2") + "sample: {fraction: 0.7}\n")
    written = []
    for batch_rows in (7, 64, 100_000):
        monkeypatch.setitem(PolarsEngine.__init__.__kwdefaults__, "batch_rows", batch_rows)  # type: ignore[arg-type]
        out = tmp_path / str(batch_rows)
        release_folder(policy, out, data=str(tmp_path / "in.csv"), seed=8)
        written.append([(out / name).read_bytes() for name in ("data.csv", "attributes.csv")])
    assert written[0] == written[1] == written[2]
    assert written[0][1].count(b"\n") == 211


def test_the_attributes_own_technique_comes_first() -> None:
    text = policy_text(
        "pay.csv",
        "anatomise: {sensitive: [pay], l: 2, class_name: group, count_name: records, file: pay/by group}\n"
        "shuffle_rows: true",
        {"pay": "technique: {round: {base: 1000}}"},
        insensitive="town",
        sensitive="pay",
    )
    table = pl.DataFrame({"town": ["a", "b"] * 20, "pay": [1_000 * (row % 5) + row for row in range(40)]})
    release = shoal.anonymise(table, shoal.Policy.from_text(text), seed=1)
    assert release.data.columns == ["town", "group"]
    assert release.files["pay/by group"].columns == ["group", "pay", "records"]
    assert set(release.files["pay/by group"]["pay"]) == {0, 1_000, 2_000, 3_000, 4_000}


def test_values_that_are_too_frequent_leave_nothing(tmp_path: Path) -> None:
    clinic().write_csv(tmp_path / "in.csv")
    policy = shoal.Policy.from_text(POLICY.replace("l: 3", "l: 4"))
    with pytest.raises(InfeasibleError, match="100 of 300 records have the same value of disease, and 75 may"):
        release_folder(policy, tmp_path / "out", data=str(tmp_path / "in.csv"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.csv"]


def test_a_broken_promise_is_our_bug_and_nothing_leaves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Were values of a class alike, or the class of records another than that of their values, it would be seen."""
    clinic().write_csv(tmp_path / "in.csv")

    def one_after_the_other(kinds: np.ndarray, least: int, _stream: object) -> np.ndarray:
        return (1 + np.arange(len(kinds)) // least).astype(np.uint32)

    monkeypatch.setattr(anatomise, "assign_classes", one_after_the_other)
    with pytest.raises(BugError, match="not as diverse"):
        release_folder(shoal.Policy.from_text(POLICY), tmp_path / "out", data=str(tmp_path / "in.csv"))
    monkeypatch.undo()

    def shifted(step: anatomise.AnatomiseStep, frame: pl.DataFrame) -> pl.DataFrame:
        classes = np.minimum(np.arange(frame.height) // 2 + 1, 100).astype(np.uint32)
        return frame.drop("disease").with_columns(pl.Series("class", classes))

    monkeypatch.setattr(anatomise.AnatomiseStep, "apply", shifted)
    with pytest.raises(BugError, match="don't fit together"):
        release_folder(shoal.Policy.from_text(POLICY), tmp_path / "out", data=str(tmp_path / "in.csv"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.csv"]


def test_one_column_of_several_may_be_less_diverse_and_that_is_said() -> None:
    table = clinic().with_columns(pl.Series("cost", range(300)), pl.lit("flu").alias("disease"))
    policy = POLICY.replace("[disease]", "[disease, cost]").replace(
        "  disease:", "  cost: {role: sensitive}\n  disease:"
    )
    release = shoal.anonymise(table, shoal.Policy.from_text(policy), seed=1)
    assert release.manifest.warnings == (
        "anatomise: 'disease' by itself has as few as 1 different values in a class, one of them on up to 100% of its "
        "records; l = 3 is of the combined values",
    )


@pytest.mark.requirement("D-09")
def test_l_counts_people() -> None:
    policy = shoal.Policy.from_text(POLICY.replace("attributes:", "person: name\nattributes:", 1))
    assert shoal.anonymise(clinic(), policy, seed=1).manifest.met
    twice = clinic().with_columns(pl.Series("name", [f"p{row // 2}" for row in range(300)]))
    with pytest.raises(DataError, match="300 records are of people who have several"):
        shoal.anonymise(twice, policy, seed=1)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("shuffle_rows: true", "", "anatomise: needs `shuffle_rows: true`"),
        ("role: sensitive", "role: insensitive", "'disease' has to be a sensitive attribute that is released"),
        ("role: sensitive", "role: quasi", "'disease' has to be a sensitive attribute that is released"),
        ("role: sensitive", "role: sensitive, technique: suppress", "has to be a sensitive attribute"),
        ("[disease]", "[diseas]", "did you mean 'disease'"),
        (
            "k: 2}",
            "k: 2}}, {l_diversity: {attribute: disease, kind: distinct, l: 2}",
            "can't look at disease, which anatomise cuts",
        ),
        ("suppression_limit: 0.2", "suppression_limit: 0.2, decoys: {limit: 0.1}", "leave solve.decoys out"),
        ("privacy: [{k_anonymity: {k: 2}}]", "aggregate: {by: [town], minimum: 2}", "an aggregated table has none"),
    ],
)
def test_what_does_not_go_with_it(old: str, new: str, said: str) -> None:
    assert old in POLICY
    with pytest.raises(PolicyError) as raised:
        shoal.Policy.from_text(POLICY.replace(old, new))
    assert said in str(raised.value)


def test_a_column_that_is_called_like_the_class() -> None:
    with pytest.raises(DataError, match="choose another class_name"):
        shoal.anonymise(clinic(), shoal.Policy.from_text(POLICY.replace("l: 3", "l: 3, class_name: town")))


@pytest.mark.requirement("R-04")
def test_attacks_find_no_sensitive_value_in_the_data(tmp_path: Path) -> None:
    clinic().write_csv(tmp_path / "in.csv")
    release_folder(shoal.Policy.from_text(POLICY), tmp_path / "out", data=str(tmp_path / "in.csv"), seed=1)
    roles = AttackRoles.of(str(tmp_path / "out"), policy=None, qi=None, sensitive=None)
    report = attack_data(str(tmp_path / "out"), AttackRequest(roles=roles, original=str(tmp_path / "in.csv"), seed=1))
    assert report.roles.sensitive == ()
    assert {attack.key for attack in report.done.attacks}.isdisjoint({"homogeneity", "skewness", "learned_inference"})


def test_it_can_be_measured_by_its_policy(tmp_path: Path) -> None:
    """The sensitive column is not in the data that is measured, and is in the original that it is compared with."""
    clinic().write_csv(tmp_path / "in.csv")
    (tmp_path / "policy.yaml").write_text(POLICY)
    release_folder(shoal.Policy.from_text(POLICY), tmp_path / "out", data=str(tmp_path / "in.csv"), seed=1)
    request = MeasureRequest.parse(quasi=None, policy=tmp_path / "policy.yaml")
    found = measure_data(str(tmp_path / "out" / "data.csv"), request, original=str(tmp_path / "in.csv"))
    assert found.k >= 2
    assert dict(found.measurement.classes.sensitive) == {}
    assert set(measure_data(str(tmp_path / "in.csv"), request).measurement.classes.sensitive) == {"disease"}
