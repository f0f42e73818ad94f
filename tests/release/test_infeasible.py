"""Requests that can't be met, contradict themselves or make no sense: one clear message that says what would help.

Exit code 2, nothing written, nothing of the data shown.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.support.commands import Call, Ended, in_process
from tests.support.policies import policy_text

pytestmark = pytest.mark.requirement("V-05", "S-01", "S-02", "S-03", "S-04", "S-07")

POLICY = policy_text(
    "clinic.csv",
    "  ward: {role: sensitive, technique: suppress}\n  bill: {role: insensitive}\n",
    direct="name",
    quasi="age pin sex",
    sensitive="ill drug",
)
SHY = "Zyx"
"""How every text in the data begins; no message may hold it."""
POPULATION = "population: everyone.csv"


def rows(number: int) -> str:
    lines = ["name,age,pin,sex,ill,drug,ward,bill"]
    for place in range(number):
        texts = [f"{SHY}{what}{place % of}" for what, of in (("sex", 2), ("ill", 3), ("drug", 5), ("ward", 4))]
        lines.append(f"{SHY}{place},{20 + place * 7 % 60},{560001 + place % 9},{','.join(texts)},{1000 + place * 14}")
    return "\n".join(lines) + "\n"


@pytest.fixture
def clinic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """300 people, three illnesses, and files that go with it more or less well."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "clinic.csv").write_text(rows(300))
    (tmp_path / "everyone.csv").write_text(rows(900))
    (tmp_path / "others.csv").write_text(rows(900))
    (tmp_path / "narrow.csv").write_text(f"age,sexx\n30,{SHY}sex0\n")
    (tmp_path / "header.csv").write_text("age,pin,sex\n")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "no-tree.csv").write_text(f"{SHY}sex0;{SHY}A;*\n{SHY}sex1;{SHY}A;{SHY}B\n")
    (tmp_path / "half-tree.csv").write_text(f"{SHY}sex0;*\n")
    return tmp_path


@pytest.fixture
def shoal(clinic: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    """A command on the policy."""
    call = in_process(monkeypatch, capfd)
    return lambda command, *arguments: call(command, "policy.yaml", *arguments)


def write(folder: Path, privacy: str, solve: str = "", attribute: str = "") -> None:
    """The policy with these models and settings; ``attribute`` is the line that describes ``sex``."""
    text = POLICY.replace("  sex: {role: quasi}\n", f"  sex: {attribute or '{role: quasi}'}\n")
    (folder / "policy.yaml").write_text(f"{text}privacy: [{privacy}]\nsolve: {{{solve}}}\n")


def assert_refused(shoal: Call, folder: Path, command: str, says: str) -> Ended:
    before = sorted(path.name for path in folder.iterdir())
    done = shoal(command, *(("--output", "out") if command == "run" else ()))
    assert done.code == 2, done.stderr
    assert done.stdout == ""
    assert says in done.stderr
    for never in (SHY, "56000", "Traceback", "bug", "pydantic"):
        assert never not in done.stderr
    assert sorted(path.name for path in folder.iterdir()) == before
    return done


K = "{k_anonymity: {k: 3}}"


def beside_k(model: str) -> str:
    return f"{K}, {{{model}}}"


WRONG_POLICIES = {
    "limit above 1": (K, "suppression_limit: 2", "solve.suppression_limit: has to be at most 1"),
    "limit below 0": (K, "suppression_limit: -1", "suppression_limit: has to be at least 0"),
    "limit in words": (K, "suppression_limit: 10%", "suppression_limit: has to be a number"),
    "misspelt setting": (K, "supression_limit: 0.1", "did you mean 'suppression_limit'?"),
    "bounds crossed": (K, "levels: {age: [2, 1]}", "solve.levels.age: the bounds [2, 1] are crossed"),
    "bounds negative": (K, "levels: {age: [-1, 1]}", "solve.levels.age: the bounds [-1, 1]"),
    "bounds of no attribute": (K, "levels: {agee: 1}", "is not a quasi-identifier; did you mean 'age'?"),
    "bounds of a sensitive attribute": (K, "levels: {drug: 1}", "solve.levels.drug: is not a quasi-identifier"),
    "no time": (K, "time_limit: 0", "solve.time_limit: has to be above 0"),
    "unknown recoding": (K, "recoding: lokal", "'global', 'local', 'cells', 'rare'"),
    "unknown utility": (K, "utility: entropie", "'entropy'"),
    "local recoding for another utility": (K, "recoding: local, utility: entropy", "others need recoding: global"),
    "k below 1": ("{k_anonymity: {k: 0}}", "", "k_anonymity.k: has to be at least 1"),
    "half a person": ("{k_anonymity: {k: 2.5}}", "", "k_anonymity.k: has to be a whole number"),
    "k of no attribute": ("{k_anonymity: {k: 3, attributes: [agee]}}", "", "'agee' is not a quasi-identifier; did you"),
    "k of a sensitive attribute": ("{k_anonymity: {k: 3, attributes: [drug]}}", "", "'drug' is not a quasi-identifier"),
    "misspelt model": ("{k_anonimity: {k: 3}}", "", "did you mean 'k_anonymity'?"),
    "two models as one": ("{k_anonymity: {k: 3}, average_risk: {maximum: 0.1}}", "", "exactly one key here; write a"),
    "t below 0": (beside_k("t_closeness: {attribute: ill, t: -0.1, distance: equal}"), "", "t_closeness.t: has to be"),
    "t above 1": (beside_k("t_closeness: {attribute: ill, t: 20, distance: equal}"), "", "at most 1"),
    "t without a distance": (beside_k("t_closeness: {attribute: ill, t: 0.2}"), "", "t_closeness.distance: is missing"),
    "hierarchical without a hierarchy": (
        beside_k("t_closeness: {attribute: ill, t: 0.2, distance: hierarchical}"),
        "",
        "a hierarchical distance needs a hierarchy of 'ill'",
    ),
    "unknown attribute": (
        beside_k("l_diversity: {attribute: drugs, l: 2, kind: distinct}"),
        "",
        "there is no attribute 'drugs'; did you mean 'drug'?",
    ),
    "model of a quasi-identifier": (
        beside_k("l_diversity: {attribute: sex, l: 2, kind: distinct}"),
        "",
        "'sex' has to be a sensitive attribute",
    ),
    "model of a suppressed attribute": (
        beside_k("l_diversity: {attribute: ward, l: 2, kind: distinct}"),
        "",
        "'ward' has to be a sensitive attribute that is released",
    ),
    "recursive without c": (beside_k("l_diversity: {attribute: ill, l: 2, kind: recursive}"), "", "needs c"),
    "c without recursive": (
        beside_k("l_diversity: {attribute: ill, l: 2, kind: distinct, c: 2}"),
        "",
        "only recursive",
    ),
    "half a value": (beside_k("l_diversity: {attribute: ill, l: 2.5, kind: distinct}"), "", "has to be a whole number"),
    "l below 1": (beside_k("l_diversity: {attribute: ill, l: 0, kind: distinct}"), "", "at least 1"),
    "beta of 0": (beside_k("beta_likeness: {attribute: ill, beta: 0, kind: basic}"), "", "above 0"),
    "delta of 0": (beside_k("delta_disclosure: {attribute: ill, delta: 0}"), "", "above 0"),
    "confidence of 0": ("{lkc: {attribute: ill, l: 2, k: 3, c: 0}}", "", "lkc.c: has to be above 0"),
    "map of no population": (
        beside_k("k_map: {k: 3}"),
        "",
        "either population (a table) or population_size (a number)",
    ),
    "map of two populations": (
        beside_k(f"k_map: {{k: 3, {POPULATION}, population_size: 1000}}"),
        "",
        "either population (a table) or population_size (a number)",
    ),
    "test of a population that is counted": (
        beside_k(f"k_map: {{k: 3, {POPULATION}, significance: 0.1}}"),
        "",
        "a population table is counted, it doesn't take significance",
    ),
    "sample above its population": (
        beside_k("k_map: {k: 3, population_size: 1000, sample_size: 2000}"),
        "",
        "population_size is smaller than sample_size",
    ),
    "presence bounds crossed": (
        beside_k(f"delta_presence: {{minimum: 0.9, maximum: 0.1, {POPULATION}}}"),
        "",
        "minimum is above maximum",
    ),
    "different populations": (
        beside_k(f"k_map: {{k: 3, {POPULATION}}}}}, {{delta_presence: {{maximum: 0.5, population: others.csv}}"),
        "",
        "all models have to compare with the same population",
    ),
}


@pytest.mark.parametrize("command", ["run", "check"])
@pytest.mark.parametrize(("privacy", "solve", "says"), WRONG_POLICIES.values(), ids=WRONG_POLICIES)
def test_a_wrong_policy_is_refused_with_its_line(
    clinic: Path, shoal: Call, command: str, privacy: str, solve: str, says: str
) -> None:
    write(clinic, privacy, solve)
    done = assert_refused(shoal, clinic, command, says)
    line = 14 if solve else 13
    assert all(f"policy.yaml: line {line}, column " in problem for problem in done.stderr.splitlines())


WRONG_FOR_THE_DATA = {
    "level above the top": (K, "levels: {age: [0, 9]}", "'age' has levels 0 to 4, there is no 9"),
    "level that is not there": (K, "levels: {age: 9}", "'age' has levels 0 to 4, there is no 9"),
    "no such population": ("{k_map: {k: 3, population: nobody.csv}}", "", "nobody.csv: there is no such file"),
    "population is a folder": ("{k_map: {k: 3, population: .}}", "", "is a folder"),
    "population is empty": ("{k_map: {k: 3, population: empty.csv}}", "", "empty.csv: is empty"),
    "population without people": ("{k_map: {k: 3, population: header.csv}}", "", "header.csv: there is a header but"),
    "population lacks a column": (
        "{k_map: {k: 3, population: narrow.csv}}",
        "",
        "population: there is no column 'pin'",
    ),
    "population below the table": ("{k_map: {k: 3, population_size: 100}}", "", "give the size of the population"),
}


@pytest.mark.parametrize("command", ["run", "check"])
@pytest.mark.parametrize(("privacy", "solve", "says"), WRONG_FOR_THE_DATA.values(), ids=WRONG_FOR_THE_DATA)
def test_what_does_not_fit_the_data_is_refused(
    clinic: Path, shoal: Call, command: str, privacy: str, solve: str, says: str
) -> None:
    write(clinic, privacy, solve)
    assert_refused(shoal, clinic, command, says)


@pytest.mark.parametrize("command", ["run", "check"])
@pytest.mark.parametrize(
    ("hierarchy", "says"),
    [
        ("{csv: no-tree.csv}", "no-tree.csv: lines 1, 2: same on level 1, different on level 2"),
        ("{csv: half-tree.csv}", "1 distinct value(s), 150 record(s), are not in the hierarchy (add them"),
        ("{csv: nowhere.csv}", "nowhere.csv: No such file"),
    ],
)
def test_a_hierarchy_that_is_none_is_refused(
    clinic: Path, shoal: Call, command: str, hierarchy: str, says: str
) -> None:
    write(clinic, K, attribute=f"{{role: quasi, hierarchy: {hierarchy}}}")
    assert_refused(shoal, clinic, command, says)


def test_a_population_can_not_be_compared_with_what_was_altered(clinic: Path, shoal: Call) -> None:
    write(clinic, f"{{k_map: {{k: 3, {POPULATION}}}}}", attribute="{role: quasi, technique: {mask: {keep_last: 1}}}")
    assert_refused(shoal, clinic, "check", "can't be compared with a population: sex would be altered before")


IMPOSSIBLE = {
    "k above the people": "{k_anonymity: {k: 301}}",
    "l above the values": beside_k("l_diversity: {attribute: ill, l: 4, kind: distinct}"),
    "l above the values by entropy": beside_k("l_diversity: {attribute: ill, l: 3.5, kind: entropy}"),
    "p above the values": beside_k("p_sensitive: {attribute: ill, p: 4, k: 5}"),
    "alpha below the largest share": beside_k("alpha_k: {attribute: ill, alpha: 0.1, k: 5}"),
    "c below the largest share": "{lkc: {attribute: ill, l: 1, k: 3, c: 0.1}}",
    "risk below one in all": "{average_risk: {maximum: 0.001}}",
    "k above the population": f"{{k_map: {{k: 901, {POPULATION}}}}}",
    "presence that is certain": beside_k(f"delta_presence: {{maximum: 0.1, {POPULATION}}}"),
}
"""What no generalisation of the table can reach."""


@pytest.mark.parametrize("privacy", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_the_impossible_is_named_counted_and_comes_with_advice(clinic: Path, shoal: Call, privacy: str) -> None:
    write(clinic, privacy, "suppression_limit: 0.5")
    done = assert_refused(shoal, clinic, "run", "SHOAL-150")
    assert "150 records may be suppressed" in done.stderr
    assert "fails for 300 of 300 records" in done.stderr
    assert "lower what the model asks for" in done.stderr


@pytest.mark.parametrize("recoding", ["local", "cells", "rare", "clustered"])
@pytest.mark.parametrize("privacy", [IMPOSSIBLE["k above the people"], IMPOSSIBLE["l above the values"]])
def test_no_recoding_reaches_the_impossible(clinic: Path, shoal: Call, recoding: str, privacy: str) -> None:
    write(clinic, privacy, f"recoding: {recoding}")
    done = assert_refused(shoal, clinic, "run", "SHOAL-150")
    assert "lower" in done.stderr


def test_bounds_that_forbid_what_would_help_are_named(clinic: Path, shoal: Call) -> None:
    write(clinic, "{k_anonymity: {k: 50}}", "levels: {age: 0, pin: 0}")
    assert_refused(shoal, clinic, "run", "allow higher solve.levels for age, pin")


def test_the_share_that_would_have_to_be_suppressed_is_said_and_is_enough(clinic: Path, shoal: Call) -> None:
    rare = rows(300) + "".join(f"{SHY}{place},30,560001,{SHY}sex2,{SHY}ill0,x,x,1\n" for place in range(2))
    (clinic / "clinic.csv").write_text(rare)
    write(clinic, K, "levels: {sex: 0}")
    assert_refused(shoal, clinic, "run", "raise solve.suppression_limit to 0.007")
    write(clinic, K, "levels: {sex: 0}, suppression_limit: 0.007")
    assert shoal("run", "--output", "out").code == 0


def test_a_population_smaller_than_the_table(clinic: Path, shoal: Call) -> None:
    write(clinic, "{population_uniqueness: {maximum: 0.1, population_size: 100}}")
    assert_refused(shoal, clinic, "run", "give the size of the population")


def test_clusters_need_a_k(clinic: Path, shoal: Call) -> None:
    write(clinic, "{average_risk: {maximum: 0.2}}", "recoding: clustered")
    assert_refused(shoal, clinic, "run", "clustered needs k_anonymity among the privacy models")


def test_models_need_quasi_identifiers(clinic: Path, shoal: Call) -> None:
    kept = "".join(line for line in POLICY.splitlines(keepends=True) if "role: quasi" not in line)
    (clinic / "policy.yaml").write_text(f'{kept}  "*": suppress\nprivacy: [{K}]\n')
    assert_refused(shoal, clinic, "run", "there is no quasi-identifier that a privacy model could protect")


@pytest.mark.parametrize("recoding", ["global", "local", "cells", "rare"])
def test_nothing_asked_changes_nothing_and_warns(clinic: Path, shoal: Call, recoding: str) -> None:
    write(clinic, "", f"recoding: {recoding}")
    done = shoal("run", "--output", "out", "--json")
    assert done.code == 0, done.stderr
    manifest = json.loads(done.stdout)
    assert (manifest["solution"]["loss"], manifest["models"]) == (0, [])
    assert "no privacy model" in manifest["warnings"][0]


@pytest.mark.parametrize(
    ("privacy", "solve"),
    [
        (beside_k("p_sensitive: {attribute: ill, p: 3, k: 2}"), ""),
        ("{lkc: {attribute: ill, l: 30, k: 3, c: 0.9}}", ""),
        ("{k_anonymity: {k: 301}}", "suppression_limit: 1"),
        ("{k_anonymity: {k: 300}}", ""),
    ],
    ids=["p above k", "an attacker who knows more than there is", "all may be suppressed", "all people in one class"],
)
def test_odd_but_possible_requests_are_met(clinic: Path, shoal: Call, privacy: str, solve: str) -> None:
    write(clinic, privacy, solve)
    done = shoal("run", "--output", "out", "--json")
    assert done.code == 0, done.stderr
    assert all(model["met"] for model in json.loads(done.stdout)["models"])
