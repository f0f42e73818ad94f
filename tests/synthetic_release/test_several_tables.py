"""Several synthetic tables in one release: joined as the real ones are, judged together, or one clear line."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from tests.support.commands import Call
from tests.synth.related_tables.hospital import DESCRIBED, hospital

import shoal
from shoal.errors import Cancelled, DataError
from shoal.schema.progress import CancelToken, PhaseStarted, ProgressEvent

pytestmark = pytest.mark.requirement("T-25")


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("hospital")
    for name, frame in hospital(300).items():
        frame.write_csv(place / f"{name}.csv")
    return place


@pytest.fixture(scope="module")
def released(sources: Path) -> Path:
    shoal.synthesise_tables(sources, seed=3, output=sources.parent / "released")
    return sources.parent / "released"


def read(folder: Path, name: str) -> pl.DataFrame:
    return pl.read_csv(folder / name / "data.csv")


def test_the_release_is_joined_as_the_source_is(released: Path) -> None:
    patients, visits, drugs = (read(released, name) for name in ("patients", "visits", "prescriptions"))
    assert patients.height == 300
    assert visits["patient"].is_in(patients["id"].implode()).all()
    assert drugs["visit"].is_in(visits["number"].implode()).all()
    of_visit = drugs.join(visits, left_on="visit", right_on="number", suffix="_of_visit")
    assert (of_visit["patient"] == of_visit["patient_of_visit"]).all()
    assert not set(patients["id"]) & set(hospital(300)["patients"]["id"])


def test_what_was_found_and_how_it_hangs_together_is_said(released: Path) -> None:
    told = json.loads((released / "release.json").read_text())
    assert (told["kind"], told["synthesis"]["main"]) == ("tables", "patients")
    assert {(one["from"], one["to"]) for one in told["references"]} >= {
        ("visits.patient", "patients.id"),
        ("prescriptions.visit", "visits.number"),
    }
    assert all("names fit" in one["found"] for one in told["references"])
    assert told["synthesis"]["orders"]["visits"] == "start"
    children = next(
        one for one in told["synthesis"]["keys"] if one["child"] == "visits" and one["parent"] == "patients"
    )
    assert abs(children["original"]["mean"] - children["synthetic"]["mean"]) < 1
    assert children["synthetic"]["orphans"] == 0
    assert all(bar["original"] * 300 >= 10 for bar in children["bars"])
    assert told["synthesis"]["attacked"] == "rehearsal"
    own = json.loads((released / "visits" / "release.json").read_text())
    assert own["synthesis"]["shapes"]["diagnosis"]["kind"] == "category"
    assert own["attacks"]
    owner, recipient = ((released / page).read_text() for page in ("report.html", "recipient.html"))
    assert "visits per record of patients" in owner
    assert "visits per record of patients" not in recipient
    for page in (owner, recipient):
        assert "they are not differentially private" in page


def test_measured_again_and_attacked_by_the_commands(released: Path, sources: Path, call: Call) -> None:
    ended = call("measure", str(released), "--original", str(sources), "--require", "children=0", "--json")
    assert ended.code == 1
    assert {one["child"] for one in ended.found["keys"]} == {"visits", "prescriptions"}
    ended = call("attack", str(released), "--original", str(sources), "--json", "--trials", "50")
    assert set(ended.found["tables"]) >= {"patients", "visits", "prescriptions"}


def test_declared_tables_by_files_and_the_same_seed(sources: Path, tmp_path: Path, call: Call) -> None:
    described = {**DESCRIBED, "tables": dict(DESCRIBED["tables"])}  # type: ignore[call-overload]
    (tmp_path / "tables.yaml").write_text(json.dumps(described))
    files = [str(sources / f"{name}.csv") for name in DESCRIBED["tables"]]  # type: ignore[attr-defined]
    for name in ("one", "two"):
        asked = ("--description", "tables.yaml", "--rows", "50", "--seed", "2", "--no-evidence", "-o", name)
        ended = call("synth", *files, *asked)
        assert ended.code == 0, ended.stderr
    assert read(tmp_path / "one", "patients").height == 50
    for table in DESCRIBED["tables"]:  # type: ignore[attr-defined]
        one, two = ((tmp_path / name / table / "data.csv").read_bytes() for name in ("one", "two"))
        assert one == two
    told = json.loads((tmp_path / "one" / "release.json").read_text())
    assert all(reference["found"] is None for reference in told["references"])


def test_nothing_is_left_of_what_was_cancelled(sources: Path, tmp_path: Path) -> None:
    token = CancelToken()

    def at_the_draw(event: ProgressEvent) -> None:
        if isinstance(event, PhaseStarted) and event.phase == "draw":
            token.cancel()

    with pytest.raises(Cancelled):
        shoal.synthesise_tables(sources, output=tmp_path / "out", evidence=False, progress=at_the_draw, cancel=token)
    assert list(tmp_path.iterdir()) == []


def test_tables_in_memory_come_back_as_they_came() -> None:
    pandas = pytest.importorskip("pandas")
    tables = {name: frame.to_pandas() for name, frame in hospital(120).items()}
    release = shoal.synthesise_tables(tables, DESCRIBED, seed=1, evidence=False)
    assert all(isinstance(frame, pandas.DataFrame) for frame in release.data.values())
    with pytest.raises(DataError, match="nothing joins"):
        shoal.synthesise_tables({"a": hospital(60)["patients"], "b": hospital(60)["doctors"]})


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["--method", "marginals", "--epsilon", "1"], "--method: is about one table"),
        (["--where", "sex = 'f'"], "--where: is about one table"),
        (["--description", "bad.yaml"], "there is no table 'visit'"),
    ],
)
def test_what_makes_no_sense_is_one_line(
    sources: Path, tmp_path: Path, call: Call, asked: list[str], said: str
) -> None:
    (tmp_path / "bad.yaml").write_text(
        "shoal: 1\ntables: {patients: {key: id}, visits: {}}\nreferences: [{from: visit.patient, to: patients.id}]\n"
    )
    ended = call("synth", str(sources), *asked, "-o", "out")
    assert (ended.code, said in ended.stderr) == (2, True), ended.stderr
    assert not (tmp_path / "out").exists()
