"""``shoal synth``: a release folder that says what it is, or one clear line and nothing written."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.support.commands import Call

import shoal
from shoal.errors import Cancelled
from shoal.results.manifest import Manifest
from shoal.schema.progress import CancelToken, PhaseStarted, ProgressEvent

pytestmark = pytest.mark.requirement("T-25")


def people(rows: int = 300) -> pl.DataFrame:
    numbers = np.random.default_rng(4)
    sex = numbers.choice(["F", "M"], rows, p=[0.1, 0.9])
    age = numbers.integers(18, 80, rows)
    return pl.DataFrame({"sex": sex, "age": age, "job": np.where(age > 60, "retired", "nurse")})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    people().write_csv(tmp_path / "people.csv")
    people().write_parquet(tmp_path / "people.parquet")
    return tmp_path


def manifest(folder: Path) -> dict[str, object]:
    read: dict[str, object] = json.loads((folder / "release.json").read_text())
    return read


def test_a_release_folder_like_any_other(folder: Path, call: Call) -> None:
    assert call("synth", "people.csv", "-o", "out", "--seed", "1").code == 0
    assert {path.name for path in (folder / "out").iterdir()} == {
        *("data.csv", "release.json", "report.html", "recipient.html"),
    }
    told = manifest(folder / "out")
    assert (told["kind"], told["method"], told["solution"]) == ("synthetic", "sequential", None)
    assert told["fidelity"]
    assert told["attacks"]
    assert told["synthesis"]["attacked"] == "rehearsal"  # type: ignore[index]
    assert told["source"]["name"] == "people.csv"  # type: ignore[index]
    owner, recipient = ((folder / "out" / f"{name}.html").read_text() for name in ("report", "recipient"))
    for page in (owner, recipient):
        assert "it is not differentially private" in page
    assert "Every column, original and synthetic" in owner
    assert "Every column, original and synthetic" not in recipient
    assert Manifest.load(folder / "out").kind == "synthetic"


def test_so_few_people_are_not_called_safe(folder: Path, call: Call) -> None:
    assert call("synth", "people.csv", "-o", "out", "--seed", "1").code == 0
    assert manifest(folder / "out")["state"]["still_personal"] is True  # type: ignore[index]
    assert "too few people" in (folder / "out" / "report.html").read_text()


def test_the_same_seed_gives_the_same_bytes_and_the_format_is_kept(folder: Path, call: Call) -> None:
    for name in ("one", "two"):
        assert call("synth", "people.parquet", "-o", name, "--seed", "5", "--no-evidence").code == 0
    one, two = ((folder / name / "data.parquet").read_bytes() for name in ("one", "two"))
    assert one == two
    drawn = pl.read_parquet(folder / "one" / "data.parquet")
    assert drawn.schema == people().schema


def test_conditions_and_balance(folder: Path, call: Call) -> None:
    quick = ("--seed", "1", "--no-evidence")
    assert call("synth", "people.csv", "-o", "f", "--where", "sex = 'F'", "--rows", "50", *quick).code == 0
    assert pl.read_csv(folder / "f" / "data.csv")["sex"].to_list() == ["F"] * 50
    assert call("synth", "people.csv", "-o", "b", "--balance", "sex", "--rows", "101", *quick).code == 0
    counts = dict(pl.read_csv(folder / "b" / "data.csv")["sex"].value_counts().iter_rows())
    assert counts == {"F": 51, "M": 50}


def test_a_kept_model_is_drawn_from_without_the_data(folder: Path, call: Call) -> None:
    assert call("synth", "people.csv", "-o", "a", "--save-model", "--no-evidence").code == 0
    (folder / "people.csv").unlink()
    assert call("synth", "--from-model", "a/model.npz", "-o", "b", "--rows", "9").code == 0
    assert pl.read_csv(folder / "b" / "data.csv").height == 9
    assert call("synth", "--from-model", "a/model.npz", "-o", "a", "--rows", "9", "--force").code == 0
    assert not (folder / "a" / "model.npz").exists()


def test_test_data_needs_no_data(folder: Path, call: Call) -> None:
    (folder / "schema.yaml").write_text("shoal: 1\ncolumns: {id: {nric: T, unique: true}, name: name}\n")
    asked = ("synth", "--method", "test-data", "--description", "schema.yaml", "--rows", "70", "-o", "out")
    assert call(*asked).code == 0
    drawn = pl.read_csv(folder / "out" / "data.csv")
    assert (drawn.height, drawn["id"].n_unique()) == (70, 70)
    assert manifest(folder / "out")["state"]["still_personal"] is False  # type: ignore[index]
    assert call("synth", "people.csv", "--method", "test-data", "-o", "named", "--rows", "5").code == 0
    assert pl.read_csv(folder / "named" / "data.csv").columns == ["sex", "age", "job"]
    assert "source" not in {key for key, value in manifest(folder / "named").items() if value}


def test_heavy_test_data_swaps_everything(folder: Path, call: Call) -> None:
    assert call("synth", "people.csv", "--method", "test-data", "--heavy", "-o", "out", "--seed", "1").code == 0
    drawn = pl.read_csv(folder / "out" / "data.csv")
    assert drawn.height == people().height
    assert (drawn["sex"] != people()["sex"]).any()


def test_gates_end_with_one(folder: Path, call: Call) -> None:
    ended = call("synth", "people.csv", "-o", "out", "--seed", "1", "--require", "tv1=0")
    assert (ended.code, "not met: tv1" in ended.stderr) == (1, True)
    assert (folder / "out" / "report.html").read_text().count("What was required is not met: tv1") == 1


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["people.csv", "--method", "sequental"], "did you mean 'sequential'?"),
        (["people.csv", "--epsilon", "1"], "--epsilon: 'sequential' is not differentially private"),
        (["people.csv", "--delta", "1e-9"], "--delta: 'sequential' is not differentially private"),
        ([], "learns from data, and none is named"),
        (["--method", "test-data"], "--description: test data needs a schema"),
        (["one.csv"], "too small to be synthesised"),
        (["empty.csv"], "empty.csv: is empty"),
        (["wide.csv"], "1,001 columns is too wide"),
        (["people.csv", "--where", "sx = 1"], "--where: there is no column 'sx'"),
        (["people.csv", "--balance", "age"], "--balance: column 'age' has"),
        (["people.csv", "--rows", "0"], "--rows: has to be at least 1"),
        (["people.csv", "--require", "copis=0"], "did you mean 'copies'?"),
        (["people.csv", "--description", "bad.yaml"], "did you mean 'constraints'?"),
        (["people.csv", "--from-model", "people.csv"], "is no model of a table"),
    ],
)
def test_bad_input_gets_one_clear_line_and_writes_nothing(
    folder: Path, call: Call, asked: list[str], said: str
) -> None:
    (folder / "one.csv").write_text("a,b\n1,2\n")
    (folder / "empty.csv").write_text("")
    (folder / "bad.yaml").write_text("constraint: {}\n")
    names = ",".join(f"c{place}" for place in range(1_001)) if "wide.csv" in asked else "a"
    (folder / "wide.csv").write_text(f"{names}\n" + f"{'1,' * names.count(',')}1\n" * 12)
    before = sorted(path.name for path in folder.iterdir())
    ended = call("synth", *asked, "-o", "out")
    assert ended.code == 2, ended.stderr
    assert said in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1
    assert sorted(path.name for path in folder.iterdir()) == before


def test_constant_and_missing_columns_are_kept() -> None:
    table = people(60).with_columns(same=pl.lit("x"), gone=pl.lit(None, dtype=pl.String))
    drawn = shoal.synthesise(table, seed=1, evidence=False).data
    assert drawn["same"].unique().to_list() == ["x"]
    assert drawn["gone"].null_count() == 60


def test_with_a_budget_nothing_of_the_source_is_published(folder: Path, call: Call) -> None:
    asked = (
        "synth",
        "people.csv",
        "--method",
        "network",
        "--epsilon",
        "1",
        "--require",
        "tv1=1",
        "-o",
        "out",
        "--json",
    )
    ended = call(*asked)
    assert ended.code == 0, ended.stderr
    told, whole = manifest(folder / "out"), json.loads(ended.stdout)
    assert told["differential_privacy"] == {"delta": 1e-9, "epsilon": 1.0, "seeded": False, "unit": "record"}
    assert {"fidelity", "attacks", "source", "warnings"} & told.keys() == set()
    assert told["models"] == []
    assert {"fidelity", "attacks", "source"} <= whole.keys()
    owner, recipient = ((folder / "out" / f"{name}.html").read_text() for name in ("report", "recipient"))
    assert "with a formal guarantee: ε = 1" in recipient
    assert "How alike" in owner
    for secret in ("How alike", "people.csv", "nothing found", "Real records"):
        assert secret not in recipient


@pytest.mark.parametrize("method", ["marginals", "network"])
def test_a_private_method_needs_a_budget(folder: Path, call: Call, method: str) -> None:
    for given in ([], ["--epsilon", "0"], ["--epsilon", "nan"]):
        ended = call("synth", "people.csv", "-o", "out", "--method", method, *given)
        assert (ended.code, "--epsilon: " in ended.stderr) == (2, True)
    assert not (folder / "out").exists()


def test_cancelling_leaves_nothing(folder: Path) -> None:
    token = CancelToken()

    def at_the_draw(event: ProgressEvent) -> None:
        if isinstance(event, PhaseStarted) and event.phase == "draw":
            token.cancel()

    with pytest.raises(Cancelled):
        shoal.synthesise(folder / "people.csv", output=folder / "out", progress=at_the_draw, cancel=token)
    assert sorted(path.name for path in folder.iterdir()) == ["people.csv", "people.parquet"]


def test_the_billionaire_is_gone_and_the_kind_of_table_comes_back() -> None:
    pandas = pytest.importorskip("pandas")
    pay = pl.Series([*(30_000 + place % 50 for place in range(399)), 10**9])
    table = people(400).with_columns(pay=pay).to_pandas()
    release = shoal.synthesise(table, rows=1000, seed=1, evidence=False)
    assert isinstance(release.data, pandas.DataFrame)
    assert release.data["pay"].max() < 31_000
    assert release.model.method == "sequential"


def test_names_that_many_share_are_not_learnt_and_tell_nothing_of_others() -> None:
    table = people(300).with_columns(name=pl.Series(["Asha Rao"] * 40 + [f"Person {place}" for place in range(260)]))
    drawn = shoal.synthesise(table, seed=1, evidence=False).data
    assert "Asha Rao" not in drawn["name"].to_list()
    assert abs((drawn["sex"] == "F").mean() - (table["sex"] == "F").mean()) < 0.02
