"""A synthetic table judged as a whole: what is left out, gates, several tables, the commands on a release folder."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import polars as pl
import pytest
from tests.support.commands import Call, in_process
from tests.support.synthetic_people import copying, people

from shoal.assess.synthetic import (
    KeyLink,
    TableRelations,
    assess_synthetic,
    assess_synthetic_tables,
    parse_gates,
    with_gates,
)
from shoal.errors import DataError, InputError
from shoal.randomness import Randomness
from shoal.results.synthesis import SyntheticAssessment

pytestmark = pytest.mark.requirement("T-25", "R-04", "R-06")


@pytest.fixture(scope="module")
def judged() -> SyntheticAssessment:
    original, control, fresh = (_with_names(people(400, seed), seed) for seed in (1, 2, 3))
    return assess_synthetic(original, fresh, control=control, randomness=Randomness(1))


def _with_names(table: pl.DataFrame, seed: int) -> pl.DataFrame:
    return table.with_columns(
        name=pl.Series([f"{seed} {row}" for row in range(table.height)]), number=pl.int_range(table.height)
    )


def test_what_names_or_numbers_people_is_left_out(judged: SyntheticAssessment) -> None:
    assert set(judged.left_out) == {"name", "number"}
    assert judged.attributes == tuple(people(1, 1).columns)
    assert any(each.attack == "copied_identifiers" and each.attribute == "name" for each in judged.attacks)
    assert judged.found == ()


def test_it_is_read_again_as_it_was_written(judged: SyntheticAssessment) -> None:
    assert SyntheticAssessment.model_validate(json.loads(judged.to_json())) == judged


def test_it_fits_its_schema(judged: SyntheticAssessment, root: Path) -> None:
    schema = json.loads((root / "docs" / "reference" / "schemas" / "synthetic.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(judged.to_dict())


def test_gates_hold_figures_and_what_attacks_get_beyond_strangers(judged: SyntheticAssessment) -> None:
    require = parse_gates(["found=0", "unjudged=0", "tv1=0.5", "tv2_mean=0", "prediction_ratio=0.5", "copies=1"])
    gates = {gate.name: gate for gate in with_gates(judged, require).gates}
    assert {name for name, gate in gates.items() if not gate.met} == {"tv2_mean"}
    assert gates["copies"].achieved == next(each.risk for each in judged.attacks if each.attack == "copies")
    assert not with_gates(judged.model_copy(update={"fidelity": None}), parse_gates(["tv1=0.5"])).met


@pytest.mark.parametrize("text", ["copis=1", "copies", "copies=x", "copies=-1", "tv2=inf"])
def test_senseless_gates_are_refused(text: str) -> None:
    with pytest.raises(InputError) as error:
        parse_gates([text])
    assert error.value.field is not None
    assert error.value.field.name == "require"


def test_the_two_halves_can_be_had_apart() -> None:
    original, fresh = people(200, 1), people(300, 2)
    told = assess_synthetic(original, fresh, attacks=False, randomness=Randomness(1))
    tried = assess_synthetic(original, fresh, control=people(200, 3), fidelity=False, randomness=Randomness(1))
    assert (told.attacks, tried.fidelity) == ((), None)
    assert told.fidelity is not None
    assert tried.attacks


def test_text_as_stored_in_files_is_read_as_what_it_is() -> None:
    original, fresh = (people(200, seed) for seed in (1, 2))
    text = [frame.select(pl.all().cast(pl.String)) for frame in (original, fresh)]
    told = assess_synthetic(text[0], text[1], attacks=False, randomness=Randomness(1)).fidelity
    assert told is not None
    assert told.columns["income"].kind == "number"
    assert told.figures == assess_synthetic(original, fresh, attacks=False, randomness=Randomness(1)).fidelity.figures


def test_numbers_at_the_end_of_the_scale_and_beyond_are_judged() -> None:
    """Differences of the largest numbers, and their squares, are none themselves."""
    amounts = [1.5, -1.7e308, 2.5, 1.7e308, float("inf"), float("-inf"), float("nan"), None]
    frame = pl.DataFrame({"paid": [amounts[row % 8] for row in range(400)], "town": [row % 3 for row in range(400)]})
    moved = frame.with_columns(pl.col("paid").reverse())
    found = assess_synthetic(frame, moved, control=frame.reverse(), randomness=Randomness(seed=1))
    assert found.fidelity is not None
    assert found.fidelity.columns["paid"].wasserstein == 0
    assert found.attacks


def test_targets_and_control_groups_that_can_not_be_are_refused() -> None:
    original, fresh = _with_names(people(200, 1), 1), _with_names(people(200, 2), 2)
    for target in ("name", "nothing"):
        with pytest.raises(DataError, match="can't be a target"):
            assess_synthetic(original, fresh, targets=(target,), randomness=Randomness(1))
    with pytest.raises(DataError, match="too few"):
        assess_synthetic(original, fresh, control=original[:20], randomness=Randomness(1))


def test_several_tables_are_judged_with_their_keys() -> None:
    def tables(seed: int, visits: int) -> dict[str, pl.DataFrame]:
        parents = people(100, seed).with_columns(id=pl.int_range(100))
        child = people(100 * visits, seed + 1).select("visits", "work")
        return {"patients": parents, "visits": child.with_columns(patient=pl.int_range(100 * visits) % 100)}

    link = KeyLink("patients", "id", "visits", "patient")
    found = assess_synthetic_tables(
        tables(1, 2), tables(5, 3), relations=TableRelations((link,)), randomness=Randomness(1), attacks=False
    )
    assert set(found.tables) == {"patients", "visits"}
    assert (found.keys[0].original.mean, found.keys[0].synthetic.mean, found.keys[0].total_variation) == (2, 3, 1)
    assert "patient" in found.tables["visits"].left_out


def test_a_record_is_attacked_with_what_it_hangs_on_one_of_each_person() -> None:
    patients = pl.DataFrame({"id": [1, 2, 3], "sex": ["F", "M", "F"]})
    visits = pl.DataFrame({"number": [7, 8, 9], "patient": [1, 1, 3], "ward": ["A", "B", "A"]})
    tables = {"patients": patients, "visits": visits}
    relations = TableRelations((KeyLink("patients", "id", "visits", "patient"),), keys={"visits": "number"})
    assert relations.joined(tables, "patients").to_dict(as_series=False) == {
        "sex": ["F", "M", "F"],
        "number of visits": [2, 0, 1],
    }
    joined = relations.joined(tables, "visits")
    assert joined.to_dict(as_series=False) == {
        "ward": ["A", "B", "A"],
        "patients.sex": ["F", "F", "F"],
        "patients.number of visits": [2, 2, 1],
    }
    one_each = relations.one_each(tables, "visits", Randomness(1).stream("test"))
    assert sorted(one_each["patients.number of visits"]) == [1, 2]
    some = relations.some_people(tables, pl.Series([3]))
    assert (some["patients"]["id"].to_list(), some["visits"]["number"].to_list()) == ([3], [9])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("synthetic")
    original, control, fresh = (people(600, seed) for seed in (11, 12, 13))
    original.write_csv(place / "original.csv")
    control.write_csv(place / "control.csv")
    for name, table in (("fresh", fresh), ("copied", copying(original, fresh, 0.2))):
        (place / name).mkdir()
        table.write_csv(place / name / "data.csv")
        (place / name / "release.json").write_text(json.dumps({"kind": "synthetic", "data": {"path": "data.csv"}}))
    return place


@pytest.fixture
def shoal(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    return in_process(monkeypatch, capfd)


def test_attacking_a_synthetic_release(folder: Path, shoal: Call) -> None:
    against = ("--original", f"{folder / 'original.csv'}", "--control", f"{folder / 'control.csv'}", "--seed", "1")
    clean = shoal("attack", f"{folder / 'fresh'}", *against, "--safe", "--json")
    assert clean.code == 0
    assert not any(each["found"] for each in clean.found["attacks"])
    copied = shoal("attack", f"{folder / 'copied'}", *against, "--require", "copies=0.05")
    assert copied.code == 1
    assert "FOUND" in copied.stdout
    assert "copies: required 0.05" in copied.stderr


def test_measuring_a_synthetic_release(folder: Path, shoal: Call) -> None:
    original = ("--original", f"{folder / 'original.csv'}")
    told = shoal("measure", f"{folder / 'fresh'}", *original, "--target", "work", "--require", "tv1=0.5")
    assert told.code == 0
    assert "Learning from it" in told.stdout
    found = shoal("measure", f"{folder / 'fresh'}", *original, "--require", "tv2=0.001", "--json")
    assert found.code == 1
    assert found.found["fidelity"]["figures"]["tv2_mean"] > 0.001


@pytest.mark.parametrize("option", ["--qi", "--person", "--auxiliary"])
def test_options_about_people_behind_records_are_refused(folder: Path, shoal: Call, option: str) -> None:
    for command in ("attack", "measure"):
        refused = shoal(command, f"{folder / 'fresh'}", "--original", f"{folder / 'original.csv'}", option, "age")
        assert refused.code == 2
        assert f"{option}: is about records that people are behind" in refused.stderr
