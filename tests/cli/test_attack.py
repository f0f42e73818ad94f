"""``shoal attack`` and ``shoal measure --auxiliary`` as users call them: what is found, what is refused, exit codes."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest
from tests.support.commands import Call
from tests.support.policies import policy_text

from shoal.assess.attack import table_attack

pytestmark = pytest.mark.requirement("R-04")

SHY = "Zyxwvut"
"""A value that stands in the data and must never stand in any message."""
QI = ("--qi", "age,city", "--sensitive", "ill", "--trials", "200", "--seed", "1")
POLICY = policy_text(
    "people.csv",
    "privacy: [{k_anonymity: {k: 10}}]\nsolve: {suppression_limit: 0.05}\n",
    direct="name",
    quasi="age city",
    sensitive="ill",
)


def people(size: int = 400, first: int = 0) -> pl.DataFrame:
    """Everybody is alone with age and city. Of ten people in a decade and a city two have each illness: ten who are
    alike by age and city alone would still give away what is commoner among them."""
    # In no order, since that would tell what is generalised.
    place = [first + each * 239 % size for each in range(size)]
    return pl.DataFrame(
        {
            "name": [f"{SHY} person {each}" for each in place],
            "age": [20 + each % 80 for each in place],
            "city": [f"{SHY}{'abcde'[each // 80 % 5]}" for each in place],
            "ill": ["ABCDE"[each % 5] for each in place],
        }
    )


@pytest.fixture
def shoal(call: Call, monkeypatch: pytest.MonkeyPatch) -> Call:
    """The command, in this process and in a folder with data, policy and some wrong files."""
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    people().write_csv("people.csv")
    people().drop("name").write_csv("nameless.csv")
    people(400, 400).write_csv("others.csv")
    Path("policy.yaml").write_text(POLICY)
    Path("empty.csv").touch()
    Path("head.csv").write_text("name,age,city,ill\n")
    Path("shoes.csv").write_text("shoe\n41\n42\n")
    Path("folder").mkdir()
    return call


def junit() -> ElementTree.Element:
    return ElementTree.parse("out.xml").getroot()  # noqa: S314  # written by the command under test


def test_a_file_without_names_gives_people_away(shoal: Call) -> None:
    done = shoal("attack", "nameless.csv", "--original", "people.csv", *QI)
    assert done.code == 0
    assert done.stderr == ""
    assert "the attacker knows of people: age, city" in done.stdout
    assert "FOUND: gets more out of" in done.stdout
    assert "attacks found something" in done.stdout
    assert "no control group" in done.stdout
    assert SHY not in done.stdout


def test_the_original_is_found_by_its_name_and_checksum(shoal: Call) -> None:
    assert shoal("run", "policy.yaml", "--output", "release", "--seed", "1").code == 0
    call = ("attack", "release", "--trials", "50", "--seed", "1", "--json")
    found = shoal(*call)
    assert found.code == 0, found.stderr
    assert found.stdout == shoal(*call, "--original", "people.csv").stdout
    assert re.search(r"\b0%\s+0% to", shoal(*call[:-1]).stdout), "an interval from nothing begins with nothing"
    people(399).write_csv("people.csv")
    other = shoal(*call[:-1])
    assert (other.code, other.stdout) == (2, "")
    assert other.stderr.startswith("error [SHOAL-100]: --original: is not known: no file with the name and checksum")
    assert shoal("attack", "nameless.csv", *QI).code == 2


def test_a_release_of_ten_alike_gives_nobody_away(shoal: Call) -> None:
    assert shoal("run", "policy.yaml", "--output", "release", "--seed", "1").code == 0
    done = shoal("attack", "release", "--original", "people.csv", "--control", "others.csv", "--safe", "--seed", "1")
    assert done.code == 0, done.stdout + done.stderr
    assert "no attack found more than guessing" in done.stdout
    assert "(Holm)" in done.stdout
    ran = shoal("run", "policy.yaml", "--output", "again", "--seed", "1", "--safe")
    assert ran.code == 0, ran.stdout + ran.stderr
    assert "tried, none found something" in ran.stdout
    assert "FOUND" not in done.stdout
    assert "not tried" not in done.stdout
    assert SHY not in done.stdout + done.stderr


def test_gates_and_their_exit_codes(shoal: Call) -> None:
    call = ("attack", "nameless.csv", "--original", "people.csv", *QI)
    assert shoal(*call, "--require", "linking=1").code == 0
    missed = shoal(*call, "--require", "linking=0.05", "--require", "homogeneity=1", "--junit", "out.xml")
    assert missed.code == 1
    assert missed.stderr == "not met: linking: required 0.05, found 1\n"
    suite = junit()
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    safe = shoal(*call, "--safe")
    assert safe.code == 1
    assert "not met: linking against guessing: required 0.0025, found 1\n" in safe.stderr


def test_annotations_in_ci_only(shoal: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    call = ("attack", "nameless.csv", "--original", "people.csv", *QI, "--require", "linking=0.05", "--json")
    assert "::error" not in (done := shoal(*call)).stderr + done.stdout
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    done = shoal(*call)
    assert done.stderr == "::error title=shoal attack nameless.csv::linking: required 0.05, found 1\n"
    assert json.loads(done.stdout)["rows"] == 400


def test_json_is_one_object_and_the_same_for_the_same_seed(shoal: Call) -> None:
    call = ("attack", "nameless.csv", "--original", "people.csv", *QI, "--json")
    first, second = shoal(*call), shoal(*call)
    assert first == second
    assert first.stderr == ""
    told = json.loads(first.stdout)
    assert {each["attack"] for each in told["attacks"]} >= {"linking", "singling_out", "homogeneity", "skewness"}
    assert SHY not in first.stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("nameless.csv",), "--original"),
        (("nameless.csv", "--original", "people.csv"), "say what an attacker knows"),
        (("absent.csv", "--original", "people.csv", *QI), "absent.csv"),
        (("nameless.csv", "--original", "absent.csv", *QI), "absent.csv"),
        (("folder", "--original", "people.csv", *QI), "folder"),
        (("empty.csv", "--original", "people.csv", *QI), "empty"),
        (("nameless.csv", "--original", "empty.csv", *QI), "empty"),
        (("head.csv", "--original", "people.csv", *QI), "no records"),
        (("shoes.csv", "--original", "people.csv", *QI), "no column in common"),
        (("nameless.csv", "--original", "shoes.csv", *QI), "no column in common"),
        (("strange.csv", "--original", "people.csv", *QI), "no value in common"),
        (("nameles.csv",), "nameles.csv: there is no such file; did you mean 'nameless.csv'?"),
        (("nameles.csv", "--original", "people.csv"), "nameles.csv: there is no such file"),
        (("nameless.csv", "--original", "people.csv", "--qi", "agee"), "did you mean 'age'?"),
        (("nameless.csv", "--original", "people.csv", "--qi", ","), "--qi names no column"),
        (("nameless.csv", "--original", "people.csv", "--qi", "age", "--sensitive", "il"), "did you mean 'ill'?"),
        (("nameless.csv", "--original", "people.csv", "--qi", "age", "--sensitive", "age"), "'age'"),
        (("nameless.csv", "--original", "people.csv", *QI, "--control", "shoes.csv"), "control group"),
        (("nameless.csv", "--original", "people.csv", *QI, "--control", "people.csv"), "are in the original"),
        (("nameless.csv", "--original", "people.csv", *QI, "--control", "odd.csv"), "another type"),
        (("nameless.csv", "--original", "people.csv", *QI, "--auxiliary", "shoes.csv"), "auxiliary table"),
        (("nameless.csv", "--original", "people.csv", *QI, "--require", "linkin=0.1"), "did you mean 'linking'?"),
        (("nameless.csv", "--original", "people.csv", *QI, "--require", "linking=nan"), "from 0 to 1"),
        (("nameless.csv", "--original", "people.csv", *QI, "--trials", "0"), "--trials"),
        (("nameless.csv", "--original", "people.csv", "--policy", "shoes.csv"), "shoes.csv"),
        (("nameless.csv", "--original", "people.csv", "--policy", "absent.yaml"), "absent.yaml"),
        (("nameless.csv", "--original", "people.csv", *QI, "--trials", "5", "--junit", "no/out.xml"), "no/out.xml"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_wrong_use_gets_one_line(shoal: Call, arguments: tuple[str, ...], says: str) -> None:
    strange = people().with_columns(age=pl.col("age") + 500, city=pl.lit("Elsewhere"), ill=pl.lit("F"))
    strange.write_csv("strange.csv")
    people(9, 400).with_columns(age=pl.format("{} {}", pl.lit(SHY), "age")).write_csv("odd.csv")
    done = shoal("attack", *arguments)
    assert done.code == 2, done.stderr
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert SHY not in done.stderr + done.stdout


@pytest.mark.parametrize(
    ("release", "found"),
    [
        (people().drop("name").reverse(), 400),
        (people().drop("name").head(150), 150),
        (pl.concat([people(), people(100).with_columns(age=pl.col("age") + 100)]).drop("name"), 400),
        (people().group_by("city").len("people"), None),
    ],
    ids=["shuffled", "fewer", "decoys", "aggregated"],
)
def test_releases_of_all_shapes(shoal: Call, release: pl.DataFrame, found: int | None) -> None:
    release.write_parquet("release.parquet")
    sensitive = ("--sensitive", "ill") if "ill" in release.columns else ()
    call = ("--original", "people.csv", "--qi", "age,city", *sensitive, "--trials", "100", "--seed", "1", "--json")
    done = shoal("attack", "release.parquet", *call)
    assert done.code == 0, done.stderr
    told = json.loads(done.stdout)
    linked = {each["attack"]: each for each in told["attacks"]}["linking"]
    assert found is None or linked["success"]["right"] == pytest.approx(found)
    assert SHY not in done.stdout


def test_an_auxiliary_table_with_one_column(shoal: Call) -> None:
    people(5).select("city").write_csv("aux.csv")
    done = shoal("attack", "nameless.csv", "--original", "people.csv", *QI, "--auxiliary", "aux.csv", "--json")
    linked = {each["attack"]: each for each in json.loads(done.stdout)["attacks"]}["auxiliary_linking"]
    assert (linked["success"]["right"], linked["success"]["trials"]) == (0, 5)


@pytest.fixture
def heard() -> Iterator[None]:
    """An interrupt is heard, also where it is ignored, as in a shell's background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heard")
def test_an_interrupt_ends_it(shoal: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_attack, "run_attacks", lambda *_, **__: signal.raise_signal(signal.SIGINT))
    done = shoal("attack", "nameless.csv", "--original", "people.csv", *QI, "--junit", "out.xml", "--json")
    assert (done.code, done.stdout) == (130, "")
    assert done.stderr == "interrupted: nothing was written\n"
    assert not Path("out.xml").exists()


@pytest.mark.requirement("R-09")
def test_a_release_is_looked_at_again(shoal: Call) -> None:
    assert shoal("run", "policy.yaml", "--output", "release", "--seed", "1").code == 0
    people(50).select("age", "city").write_csv("aux.csv")
    done = shoal("measure", "release", "--auxiliary", "aux.csv")
    assert done.code == 1
    assert "4 released labels can't be read" in done.stdout
    call = ("measure", "release", "--auxiliary", "aux.csv", "--policy", "policy.yaml")
    done = shoal(*call)
    assert done.code == 0
    assert "50 of 50 people fit" in done.stdout
    assert "nobody is among fewer than the 10 that the release promised" in done.stdout
    missed = shoal(*call, "--require", "k=400", "--json", "--junit", "out.xml")
    assert missed.code == 1
    assert json.loads(missed.stdout)["fewest"] >= 10
    assert junit().get("failures") == "1"
    history = Path("release/history.json").read_text()
    assert [entry["people"] for entry in json.loads(history)] == [50, 50, 50]
    for wrong, says in {
        ("aux.csv", "--require", "kk=5"): "only k and uniques",
        ("aux.csv", "--require", "k=nan"): "needs a number",
        ("shoes.csv",): "no column in common",
        ("empty.csv",): "empty",
        ("absent.csv",): "absent.csv",
    }.items():
        done = shoal("measure", "release", "--auxiliary", *wrong)
        assert (done.code, done.stdout) == (2, "")
        assert says in done.stderr
        assert len(done.stderr.splitlines()) == 1
    assert Path("release/history.json").read_text() == history
    assert SHY not in history


@pytest.mark.requirement("R-09")
def test_new_data_that_finds_nobody(shoal: Call) -> None:
    assert shoal("run", "policy.yaml", "--output", "release", "--seed", "1").code == 0
    pl.DataFrame({"age": [-7]}).write_csv("aux.csv")
    done = shoal("measure", "release", "--auxiliary", "aux.csv")
    assert done.code == 1
    assert "0 of 1 person fit" in done.stdout
    assert "it shows nothing about the release" in done.stdout
    assert "fewest" not in done.stdout


VISITS = """\
shoal: 1
name: clinic
source: visits.csv
person: name
attributes:
  name: {role: direct}
  age: {role: quasi, hierarchy: {intervals: {widths: [10, 20, 40]}}}
  city: {role: quasi}
  ill: {role: sensitive}
privacy:
  - k_anonymity: {k: 2}
"""


def test_people_with_several_records_are_no_safer_for_it(shoal: Call) -> None:
    """Everybody is alone with age and city and has two records: linking finds all of them."""
    visits = pl.concat([people(), people().with_columns(ill=pl.lit("F"))])
    visits.write_csv("visits.csv")
    visits.drop("name").write_csv("nameless.csv")
    Path("visits.yaml").write_text(VISITS)
    call = ("attack", "nameless.csv", "--original", "visits.csv", "--trials", "200", "--require", "linking=0")
    for named in (("--policy", "visits.yaml"), ("--qi", "age,city", "--person", "name")):
        done = shoal(*call, *named)
        assert done.code == 1
        assert done.stderr == "not met: linking: required 0, found 1\n"
        assert "the attacker knows of people, told apart by 'name': age, city" in done.stdout
    assert shoal(*call, "--qi", "age,city").code == 0
    assert "did you mean 'name'?" in shoal(*call, "--qi", "age,city", "--person", "nam").stderr


def test_a_release_says_itself_by_what_people_are_told_apart(shoal: Call) -> None:
    pl.concat([people(), people().with_columns(ill=pl.lit("F"))]).write_csv("visits.csv")
    Path("visits.yaml").write_text(VISITS)
    assert shoal("run", "visits.yaml", "--output", "release", "--seed", "1").code == 0
    done = shoal("attack", "release", "--original", "visits.csv", "--trials", "200", "--json")
    told = json.loads(done.stdout)
    assert told["person"] == "name"
    linked = {each["attack"]: each for each in told["attacks"]}["linking"]
    assert (linked["success"]["right"], linked["success"]["trials"]) == (0, 400)
    assert linked["details"]["fewest_people"] >= 2


NOISY = """\
shoal: 1
name: clinic
source: bills.csv
attributes:
  name: {role: direct}
  age: {role: quasi, hierarchy: {intervals: {widths: [10, 20, 40]}}}
  city: {role: quasi}
  ill: {role: sensitive}
  bill: {role: insensitive, technique: {noise: {gaussian: {sd: 10}}}}
privacy:
  - k_anonymity: {k: 10}
shuffle_rows: true
solve: {drop_suppressed: true, suppression_limit: 0.05}
"""


@pytest.mark.requirement("R-10")
def test_shuffled_rows_do_not_hide_who_is_nearest(shoal: Call) -> None:
    """The run knows the order, and finds people; who has the two files only sees that records are too near."""
    people().with_columns(bill=pl.row_index() * 100.0 + 7).write_csv("bills.csv")
    Path("noisy.yaml").write_text(NOISY)
    assert shoal("run", "noisy.yaml", "--output", "release", "--seed", "1", "--evidence").code == 0
    told = json.loads(Path("release/release.json").read_text())
    found = {each["attack"]: each for each in told["attacks"]}["distance_linking"]
    assert found["success"]["share"] > 0.95
    assert (list(told["attacks_skipped"]), told["attacks_unjudged"]) == (["membership"], [])
    assert 'class="verdict unmet"' in Path("release/report.html").read_text()
    safe = shoal("run", "noisy.yaml", "--output", "release", "--seed", "1", "--safe", "--force")
    assert safe.code == 1
    assert "FOUND: Linking by the nearest numbers, certain links only of bill" in safe.stdout
    assert "not met: distance_linking of bill: required" in safe.stderr
    assert SHY not in safe.stdout + safe.stderr
    assert not list(Path("release").glob(".*"))
    call = ("attack", "release", "--original", "bills.csv", "--policy", "noisy.yaml", "--trials", "200")
    done = shoal(*call, "--safe")
    assert done.code == 1
    assert "distance_linking of bill against guessing" in done.stderr
    assert "NOT JUDGED: combined_linking: it makes claims" in done.stdout
    assert "1 could not be judged" in done.stdout
    assert "not met: combined_linking: what it finds: required 0, no figure could be found\n" in done.stderr
    assert json.loads(shoal(*call, "--json").stdout)["unjudged"] == ["combined_linking"]


@pytest.mark.parametrize(
    ("release", "says"),
    [
        (
            people().drop("name").with_columns(city=pl.lit(None, pl.String)),
            "column 'city' of the release has no values",
        ),
        (people().drop("name").head(1), "the release has one record"),
        (pl.concat([people()] * 3), "they can't belong together"),
        (people().with_columns(age=pl.col("age") + 1000, city=pl.lit(5)), "no value in common"),
    ],
    ids=["a column without a value", "one record", "three times the records", "other people"],
)
def test_releases_that_say_nothing_are_refused(shoal: Call, release: pl.DataFrame, says: str) -> None:
    release.write_parquet("release.parquet")
    done = shoal("attack", "release.parquet", "--original", "people.csv", "--qi", "age,city", "--safe")
    assert done.code == 2
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


def test_labels_that_can_not_be_read_are_no_proof_of_safety(shoal: Call) -> None:
    """Without the hierarchy a word may stand for anybody: the attacker is weak, and the gate stays shut."""
    people().with_columns(city=pl.lit("Somewhere"), age=pl.lit("*")).write_csv("release.csv")
    done = shoal("attack", "release.csv", "--original", "people.csv", "--qi", "age,city", "--safe")
    assert done.code == 1
    assert "can't be read without" in done.stdout
    assert "not met: labels that can't be read without --policy: required 0, found 1" in done.stderr


@pytest.mark.parametrize("command", ["attack", "measure"])
def test_strangers_are_no_original(shoal: Call, command: str) -> None:
    """Refused where the release says what was done to it; else there is a warning, and nothing is safe."""
    assert shoal("run", "policy.yaml", "--output", "release", "--seed", "1").code == 0
    people().with_columns(ill=pl.lit("A")).write_csv("strangers.csv")
    roles = ("--qi", "age,city", "--sensitive", "ill")
    done = shoal(command, "release", "--original", "strangers.csv", *roles)
    assert done.code == 2
    assert done.stderr.count("\n") == 1
    assert "have no counterpart in the original by 'ill', left as it was in the release" in done.stderr
    people().with_columns(city=pl.lit("*")).write_csv("alone.csv")
    ill = pl.when(pl.int_range(pl.len()) < 5).then(pl.lit("A")).otherwise("ill").alias("ill")
    people().with_columns(pl.col("age").replace(20, 21), ill).write_csv("strangers.csv")
    call = (command, "alone.csv", "--original", "strangers.csv", *roles)
    done = shoal(*call, *(("--safe",) if command == "attack" else ()))
    assert done.code == (1 if command == "attack" else 0)
    assert "warning: more records of the release than of the original have some values of 'age', 'ill'" in done.stderr
    assert ("not met: doubts whether the tables belong together" in done.stderr) == (command == "attack")
    told = json.loads(shoal(*call, "--json").stdout)
    assert len(told["doubts"]) == 1
    assert SHY not in done.stdout + done.stderr


def test_identifiers_in_the_clear_are_named(shoal: Call) -> None:
    done = shoal("attack", "people.csv", "--original", "people.csv", "--qi", "city", "--safe", "--json")
    assert done.code == 1
    named = [each for each in json.loads(done.stdout)["attacks"] if each["attack"] == "identifier_linking"]
    assert "name" in {each["attribute"] for each in named if each["found"]}
