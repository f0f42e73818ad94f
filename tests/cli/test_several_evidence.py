"""``shoal measure`` and ``shoal attack`` on releases of several tables, as users call them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import polars as pl
import pytest
from tests.cli.conftest import Call

from shoal.assess.multi_table.attack import attack_tables
from shoal.assess.multi_table.table_set import table_set_at
from shoal.policy.multi_table import MultiTablePolicy, load_any
from shoal.release.multi_table.run import release_tables
from shoal.results.release_folder import ReleaseFolder
from shoal.schema.progress import Advanced, Monitor, PhaseStarted

POLICY = """\
shoal: 1
name: clinic
use_case: external-sharing
joined: {accept: two analysts under contract}
tables:
  people:
    source: data/people.csv
    person: id
    attributes:
      id: {role: direct, technique: {pseudonymise: {domain: people}}}
      age: {role: quasi, hierarchy: {intervals: {widths: [10, 20]}}}
      illness: {role: sensitive}
  visits:
    source: data/visits.csv
    person: person
    attributes:
      person: {role: direct, technique: {pseudonymise: {domain: people}}}
      ward: {role: quasi}
  beds:
    source: data/beds.csv
    attributes:
      bed: {role: insensitive}
"""
MET = ("--require", "joined_k=1", "--require", "k=5", "--require", "people.distinct_l.illness=2")


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Forty people of two age groups, who were in four wards; 0 and 1 are the only ones of theirs in W3 twice."""
    folder = tmp_path_factory.mktemp("clinic")
    (folder / "data").mkdir()
    ages = [20 + place % 20 for place in range(40)]
    ids, illnesses = [f"P{n:03}" for n in range(40)], [f"I{n % 5}" for n in range(40)]
    people = pl.DataFrame({"id": ids, "age": ages, "illness": illnesses})
    people.write_csv(folder / "data" / "people.csv")
    seen = [(f"P{n:03}", f"W{n % 4}") for n in range(40)] + [("P000", "W3"), ("P001", "W3"), ("P001", "W3")]
    pl.DataFrame(seen, schema=["person", "ward"], orient="row").sort("ward").write_csv(folder / "data" / "visits.csv")
    pl.DataFrame({"bed": range(3)}).write_csv(folder / "data" / "beds.csv")
    (folder / "policy.yaml").write_text(POLICY)
    chosen = load_any(folder / "policy.yaml")
    assert isinstance(chosen, MultiTablePolicy)
    release_tables(chosen, folder / "out", seed=1)
    return folder


@pytest.fixture(autouse=True)
def clinic(call: Call, released: Path) -> None:
    """In the folder that the command is called in."""
    shutil.copytree(released, Path.cwd(), dirs_exist_ok=True)


@pytest.mark.requirement("R-01")
@pytest.mark.parametrize("policy", [(), ("--policy", "policy.yaml")])
def test_every_table_is_measured_and_all_of_them_joined(call: Call, policy: tuple[str, ...]) -> None:
    told = call("measure", "out", *policy, *MET, "--json")
    assert told.code == 0, told.stderr
    assert told.found["joined"]["k"] == 1
    assert told.found["joined"]["alone"] == 2
    assert told.found["joined"]["people"] == 40
    assert {name: table["risk"]["k"] >= 5 for name, table in told.found["tables"].items()} == {
        "people": True,
        "visits": True,
    }
    assert told.found["without_quasi_identifiers"] == ["beds"]
    names = [model["name"] for model in told.found["models"]]
    assert {"joined_k", "people.k", "visits.k", "people.distinct_l.illness"} <= set(names)
    shown = call("measure", "out", *policy, *MET)
    assert shown.stdout.splitlines()[0].endswith("accepted: two analysts under contract" if policy else "told of them")
    assert "2 of 40 people stand alone" in shown.stdout.splitlines()[0]


def test_gates_on_the_joined_tables_and_on_each(call: Call) -> None:
    shut = call("measure", "out", "--require", "joined_k=5", "--junit", "gates.xml")
    assert shut.code == 1
    assert "not met: joined_k: required 5, found 1" in shut.stderr
    assert 'failures="1"' in Path("gates.xml").read_text()
    assert call("measure", "out", "--require", "joined_alone=1").code == 1
    assert call("measure", "out", "--require", "joined_alone=2").code == 0
    assert "not met: people.k: required 100" in call("measure", "out", "--require", "people.k=100").stderr
    both = call("measure", "out", "--require", "k=100").stderr
    assert "people.k" in both
    assert "visits.k" in both


def test_what_was_accepted_is_what_the_policy_is_held_against(call: Call) -> None:
    assert call("measure", "out", "--policy", "policy.yaml").code == 0
    Path("strict.yaml").write_text(POLICY.replace("joined: {accept: two analysts under contract}\n", ""))
    assert "joined_k: required 5, found 1" in call("measure", "out", "--policy", "strict.yaml").stderr


def test_the_tables_before_can_be_measured_too(call: Call) -> None:
    told = call("measure", "data", "--policy", "policy.yaml", "--json").found
    assert told["joined"]["alone"] > 2, "nothing is generalised yet"
    useful = call("measure", "out", "--policy", "policy.yaml", "--original", "data", "--json").found
    assert useful["tables"]["people"]["utility"]["loss"] > 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("measure", "out", "--qi", "age"), "--qi: is about one table"),
        (("measure", "out", "--suda"), "--suda: is about one table"),
        (("measure", "out", "--require", "joined_k=0"), "'joined_k' needs a number from 1 on"),
        (("measure", "out", "--require", "joined_k=many"), "'joined_k' needs a number"),
        (("measure", "out", "--require", "beds.k=5"), "'beds' has no quasi-identifier"),
        (("measure", "out", "--require", "distinct_l.age=2"), "can be measured of none of the tables"),
        (("measure", "out", "--require", "joind_k=5"), "unknown figure 'joind_k'"),
        (("measure", "out", "--policy", "one.yaml"), "is a policy of one table"),
        (("measure", "out", "--policy", "other.yaml"), "has other tables"),
        (("measure", "out/people", "--policy", "policy.yaml"), "a policy of several tables can't be used here"),
        (("attack", "out", "--original", "data/people.csv"), "--original FOLDER"),
        (("attack", "out", "--original", "data", "--qi", "age"), "--qi: is about one table"),
        (("attack", "out", "--original", "nowhere"), "--original FOLDER"),
        (("attack", "out", "--original", "out"), "has no file of the table"),
        (("attack", "data", "--original", "data", "--policy", "policy.yaml"), "is not a release of several tables"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(call: Call, arguments: tuple[str, ...], says: str) -> None:
    Path("one.yaml").write_text("shoal: 1\nname: a\nattributes: {age: {role: quasi}}\n")
    Path("other.yaml").write_text(POLICY.replace("  beds:", "  chairs:").replace("beds.csv", "chairs.csv"))
    done = call(*arguments)
    assert done.code == 2
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("manifest", "says"),
    [
        ({}, "is not a release of several tables"),
        ({"../people": ""}, "is not a release of several tables"),
        ({"nowhere": ""}, "no such file"),
    ],
)
def test_a_manifest_that_names_other_tables_is_refused(call: Call, manifest: dict[str, str], says: str) -> None:
    Path("out/release.json").write_text(json.dumps({"tables": manifest, "joined": {"keys": []}}))
    done = call("measure", "out")
    assert (done.code, says in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        (None, "doesn't say what its tables are joined by"),
        ([1], "doesn't say what its tables are joined by"),
        ([{"columns": [5], "names_people": True}], "doesn't say what its tables are joined by"),
        ([{"columns": ["people.nr"], "names_people": True}], "has no column 'nr'"),
    ],
)
def test_a_manifest_whose_keys_make_no_sense_is_refused(call: Call, keys: object, says: str) -> None:
    told = json.loads(Path("out/release.json").read_text())
    told["joined"] = {} if keys is None else {"keys": keys}
    Path("out/release.json").write_text(json.dumps(told))
    done = call("measure", "out")
    assert (done.code, says in done.stderr) == (2, True)
    assert call("measure", "out", "--policy", "policy.yaml").code == 0, "which says it itself"


@pytest.mark.requirement("R-04")
def test_people_are_linked_over_the_joined_tables(call: Call) -> None:
    told = call("attack", "out", "--original", "data", "--policy", "policy.yaml", "--seed", "1", "--json")
    assert told.code == 0, told.stderr
    (attack,) = told.found["joined"]["attacks"]
    assert (attack["attack"], attack["success"]["right"], attack["found"]) == ("joined_linking", 2, True)
    assert set(told.found["tables"]) == {"people", "visits", "beds"}
    assert told.found["nothing_to_attack"] == []
    safe = call("attack", "out", "--original", "data", "--policy", "policy.yaml", "--seed", "1", "--safe")
    assert safe.code == 1
    assert "not met: joined_linking against guessing" in safe.stderr
    asked = ("--require", "joined_linking=0", "--require", "linking=0")
    gate = call("attack", "out", "--original", "data", "--policy", "policy.yaml", "--seed", "1", *asked)
    assert gate.code == 1
    assert gate.stderr.splitlines() == ["not met: joined_linking: required 0, found 0.05"]


def test_where_nothing_joins_there_is_nobody_to_link(call: Call) -> None:
    Path("apart.yaml").write_text(POLICY.replace("{accept: two analysts under contract}", "{unlink: true}"))
    assert call("run", "apart.yaml", "--output", "apart", "--seed", "1").code == 0
    told = call("attack", "apart", "--original", "data", "--seed", "1", "--json").found
    assert told["joined"]["attacks"] == []
    assert told["joined"]["unjudged"] is False
    assert call("measure", "apart", "--policy", "apart.yaml", "--require", "joined_k=5").code == 0


def test_a_run_is_safe_only_if_every_table_is_and_nobody_stands_out_by_joining(call: Call) -> None:
    """What the policy accepts is no excuse for whoever asks."""
    assert call("run", "policy.yaml", "--output", "plain", "--seed", "1").code == 0
    safe = call("run", "policy.yaml", "--output", "safe", "--seed", "1", "--safe")
    assert safe.code == 1
    assert "not met: joined_k" in safe.stderr
    assert "attacks:  people:" in safe.stdout
    accepted = "joined: {accept: two analysts under contract}\n"
    parted = POLICY.replace(accepted, "").replace("{pseudonymise: {domain: people}}", "suppress")
    Path("policy.yaml").write_text(parted)
    assert "joined" not in call("run", "policy.yaml", "--output", "apart", "--seed", "1", "--safe").stderr


def test_a_sample_is_said_to_be_one_and_drawn_again_by_its_seed(call: Call) -> None:
    shown = call("attack", "out", "--original", "data", "--trials", "8", "--seed", "1")
    assert "of 40 people joined_linking tried 8 (--trials" in shown.stdout
    assert "a sample was drawn: of 40 people" in shown.stdout.partition("\npeople\n")[2].partition("\nvisits\n")[0]
    again = [call("attack", "out", "--original", "data", "--trials", "8", "--seed", "1", "--json") for _ in range(2)]
    assert again[0].found == again[1].found
    assert "joined_linking tried" not in call("attack", "out", "--original", "data").stdout


def test_every_table_is_a_phase_of_its_own(released: Path) -> None:
    heard: list[object] = []
    tables = table_set_at(ReleaseFolder.at(str(released / "out")), None, None)
    assert tables is not None
    attack_tables(tables, str(released / "data"), trials=8, monitor=Monitor(heard.append))
    phases = [event.phase for event in heard if isinstance(event, PhaseStarted)]
    assert phases == ["join", "attack beds", "attack people", "attack visits"]
    told = {event.task: event.total for event in heard if isinstance(event, Advanced) and event.done}
    assert {"attack people", "attack visits"} <= {task for task, total in told.items() if total}
