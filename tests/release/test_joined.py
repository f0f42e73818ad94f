"""The joined tables of a release as a model like others: it leads the verdict, and what breaks it does not leave."""

from __future__ import annotations

import json
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.policies import PATIENTS

from shoal.assess.multi_table import joined_risk as counting
from shoal.errors import InfeasibleError, PolicyError
from shoal.policy.multi_table import MultiTablePolicy, any_from_text, load_any
from shoal.release.multi_table.run import release_tables
from shoal.release.multi_table.summary import MultiTableRelease

pytestmark = pytest.mark.requirement("D-09", "S-01")

POLICY = (
    """\
shoal: 1
name: clinic
use_case: external-sharing
"""
    + PATIENTS
    + """\
      age: {role: quasi}
    privacy: [{k_anonymity: {k: 5}}]
  visits:
    source: visits.csv
    person: patient
    attributes:
      patient: {role: direct, technique: {pseudonymise: {domain: patients}}}
      ward: {role: quasi}
      fee: {role: sensitive}
    privacy: [{k_anonymity: {k: 2}}]
"""
)


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    """Ten of each age, and five to each ward; but only one person has this age and was in that ward."""
    pl.DataFrame({"id": [f"P{n}" for n in range(20)], "age": [30 + n % 2 for n in range(20)]}).write_csv(
        tmp_path / "patients.csv"
    )
    wards = [f"W{n % 4}" for n in range(20)]
    wards[0], wards[1] = "W1", "W0"
    visits = pl.DataFrame({"patient": [f"P{n}" for n in range(20)], "ward": wards, "fee": [n // 4 for n in range(20)]})
    visits.reverse().write_csv(tmp_path / "visits.csv")
    return tmp_path


def policy(folder: Path, text: str = POLICY, more: str = "") -> MultiTablePolicy:
    (folder / "policy.yaml").write_text(text + more)
    found = load_any(folder / "policy.yaml")
    assert isinstance(found, MultiTablePolicy)
    return found


def run(folder: Path, text: str = POLICY, more: str = "") -> MultiTableRelease:
    return release_tables(policy(folder, text, more), folder / "out")


def released(folder: Path, table: str) -> pl.DataFrame:
    return pl.read_csv(folder / "out" / table / "data.csv", infer_schema=False)


def test_tables_that_are_k_anonymous_each_do_not_leave_when_joined_people_stand_alone(clinic: Path) -> None:
    with pytest.raises(InfeasibleError, match=r"k = 1: 2 of 20 people stand alone .* 5 is required") as caught:
        run(clinic)
    assert "joined by patients.id, visits.patient" in str(caught.value)
    assert all(advised in str(caught.value) for advised in ("unlink: true", "suppress the keys", "accept"))
    assert sorted(path.name for path in clinic.iterdir()) == ["patients.csv", "policy.yaml", "visits.csv"]


def test_the_joined_k_that_holds_is_told_first(clinic: Path) -> None:
    visits = pl.read_csv(clinic / "visits.csv").with_columns(ward=pl.Series([f"W{n % 2}" for n in range(20)]))
    visits.write_csv(clinic / "visits.csv")
    whole = run(clinic)
    told = json.loads((clinic / "out" / "release.json").read_text())["joined"]
    assert {name: told[name] for name in ("k", "people", "alone", "required", "met")} == {
        "k": 10,
        "people": 20,
        "alone": 0,
        "required": 5,
        "met": True,
    }
    assert told["keys"] == [{"columns": ["patients.id", "visits.patient"], "names_people": True}]
    assert whole.joined.result().to_dict() == told
    page = (clinic / "out" / "report.html").read_text()
    assert page.index('class="verdict met"') < page.index("<table")
    assert "The joined tables meet what is asked of them: k = 10" in page
    assert "k = 10" not in (clinic / "out" / "recipient.html").read_text()
    table = (clinic / "out" / "visits" / "report.html").read_text()
    assert table.index("The joined tables meet what is asked of them: k = 10") < table.index('class="verdict met"')
    assert "All of them, joined" in page
    assert "patients.id, visits.patient" in page
    assert "All of them, joined" not in (clinic / "out" / "recipient.html").read_text()


def test_what_is_accepted_leads_the_report_with_its_reason(clinic: Path) -> None:
    whole = run(clinic, more="joined: {accept: two analysts under contract}\n")
    assert (whole.joined.met, whole.joined.accepted) == (False, "two analysts under contract")
    assert whole.warnings[0].startswith("joined by patients.id, visits.patient, the tables leave k = 1: 2 of 20 people")
    assert "accepted: two analysts under contract" in whole.warnings[0]
    page = (clinic / "out" / "report.html").read_text()
    assert page.index('class="verdict unmet"') < page.index("<table")
    assert "do not have the k = 5 that is required" in page
    assert "Accepted, for this reason: two analysts under contract" in page
    for name in ("patients", "visits"):
        own = (clinic / "out" / name / "report.html").read_text()
        assert own == whole.releases[name].html
        assert 0 < own.index("do not have the k = 5 that is required") < own.index("The privacy model is met")
        assert "k = 5" not in (clinic / "out" / name / "recipient.html").read_text()


def test_less_than_what_is_accepted_does_not_leave(clinic: Path) -> None:
    with pytest.raises(InfeasibleError, match="2 is required"):
        run(clinic, more="joined: {accept: two analysts, k: 2}\n")
    assert run(clinic, more="joined: {accept: two analysts, k: 1}\n").joined.met is False


def test_what_is_asked_of_joined_tables() -> None:
    """At the top: of them. To the outside: the largest k of the tables, or the use case's."""

    def asked(text: str) -> int | None:
        found = any_from_text(text)
        assert isinstance(found, MultiTablePolicy)
        return found.joined_k

    inside = POLICY.replace("external-sharing", "internal-anonymised")
    assert asked(POLICY) == 5
    assert asked(inside) is None
    assert asked(inside + "privacy: [{k_anonymity: {k: 3}}]\n") == 3
    assert asked(POLICY + "privacy: [{k_anonymity: {k: 3}}]\n") == 5
    assert asked(POLICY + "privacy: [{k_anonymity: {k: 8}}]\n") == 8
    assert asked(POLICY.replace("    privacy: [{k_anonymity: {k: 5}}]\n", "")) == 5, "the use case's"
    assert asked(POLICY.replace("use_case: external-sharing\n", "")) is None


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ("joined: {k: 3}\n", "goes with `accept`"),
        ("joined: {accept: ' '}\n", "needs a reason"),
        ("joined: {accept: why, unlink: true}\n", "leaves nothing joined"),
        ("joined: {unlnk: true}\n", "did you mean 'unlink'"),
        (
            "privacy: [{l_diversity: {attribute: visits.ward, l: 2, kind: distinct}}]\n",
            "'ward' has to be a sensitive attribute",
        ),
        ("privacy: [{t_closeness: {attribute: visits.fee, t: 0.2, distance: hierarchical}}]\n", "hierarchical"),
        ("privacy: [{l_diversity: {attribute: visit.fee, l: 2, kind: distinct}}]\n", "no attribute 'visit.fee'"),
    ],
)
def test_what_can_t_be_asked_is_refused_at_its_line(more: str, says: str) -> None:
    text = POLICY.replace("    privacy: [{k_anonymity: {k: 2}}]\n", "") if "visit.fee" in more else POLICY
    with pytest.raises(PolicyError) as caught:
        any_from_text(text + more)
    (problem,) = caught.value.problems
    assert problem.line == len(text.splitlines()) + 1
    assert says in problem.message


def test_without_anything_asked_the_figure_leads_all_the_same(clinic: Path) -> None:
    whole = run(clinic, POLICY.replace("use_case: external-sharing\n", ""))
    assert whole.joined.met is None
    assert whole.warnings[0].endswith("nothing is asked of the joined tables, and k holds for each of them alone")
    assert "Joined, the tables leave k = 1; nothing is asked of that" in (clinic / "out" / "report.html").read_text()


def test_models_of_a_sensitive_attribute_are_asked_of_joined_people(clinic: Path) -> None:
    """By ward alone 5 fees each; by age and ward, fewer."""
    asked = "privacy: [{l_diversity: {attribute: visits.fee, l: LEAST, kind: distinct}}]\njoined: {accept: x}\n"
    people = run(clinic, more=asked.replace("LEAST", "1")).joined
    (found,) = people.models
    rows = released(clinic, "patients").join(released(clinic, "visits"), left_on="id", right_on="patient")
    fewest = rows.group_by("age", "ward").agg(pl.col("fee").n_unique())["fee"].min()
    assert (found.name, found.achieved, found.met) == ("joined l_diversity of visits.fee", fewest, True)
    inside = POLICY.replace("external-sharing", "internal-anonymised")
    with pytest.raises(InfeasibleError, match=r"don't meet joined l_diversity of visits\.fee \(1 instead of 2\)"):
        release_tables(policy(clinic, inside, asked.replace("LEAST", "2").splitlines()[0]), clinic / "other")


# ——— what joins


def test_that_a_reference_need_not_be_kept_does_not_part_the_tables(clinic: Path) -> None:
    with pytest.raises(InfeasibleError, match="k = 1"):
        run(clinic, more="references: [{from: visits.patient, to: patients.id, keep: false}]\n")


def test_one_visit_of_a_stranger_does_not_hide_that_the_others_join(clinic: Path) -> None:
    """Not all keys are there, so nobody would call it a reference; but one domain is one domain."""
    visits = pl.read_csv(clinic / "visits.csv")
    visits.vstack(visits[:1].with_columns(patient=pl.lit("nobody"))).write_csv(clinic / "visits.csv")
    with pytest.raises(InfeasibleError, match=r"joined by patients\.id, visits\.patient"):
        run(clinic)


def test_pseudonyms_of_different_domains_join_nothing(clinic: Path) -> None:
    apart = POLICY.replace(
        "patient: {role: direct, technique: {pseudonymise: {domain: patients}}}",
        "patient: {role: direct, technique: {pseudonymise: {domain: visitors}}}",
    )
    whole = run(clinic, apart, "references: [{from: visits.patient, to: patients.id, keep: false}]\n")
    assert (whole.joined.met, whole.joined.groups, whole.joined.keys) == (True, (), ())
    assert "nothing joins" in (clinic / "out" / "report.html").read_text()


def test_the_visits_of_one_pseudonym_are_joined_with_each_other(clinic: Path) -> None:
    visits = pl.read_csv(clinic / "visits.csv")
    visits.vstack(visits[:1].with_columns(ward=pl.lit("W3"))).write_csv(clinic / "visits.csv")
    suppressed = POLICY.replace(
        "id: {role: direct, technique: {pseudonymise: {domain: patients}}}", "id: {role: direct}"
    )
    with pytest.raises(InfeasibleError, match=r"joined by visits\.patient, the tables leave k = 1: 1 of 20 people"):
        run(clinic, suppressed)


def test_an_exact_figure_in_two_tables_is_a_key(clinic: Path) -> None:
    """Nobody calls it one, and it is suppressed in neither."""
    text = POLICY.replace("{role: direct, technique: {pseudonymise: {domain: patients}}}", "suppress")
    text = text.replace("fee: {role: sensitive}", "bill: {role: sensitive}\n      fee: {role: sensitive}")
    text = text.replace("age: {role: quasi}\n", "age: {role: quasi}\n      bill: {role: sensitive}\n")
    for name, key in (("patients", "id"), ("visits", "patient")):
        number = pl.col(key).str.strip_prefix("P").cast(pl.Float64)
        pl.read_csv(clinic / f"{name}.csv").with_columns(bill=1000.25 + number**2).write_csv(clinic / f"{name}.csv")
    with pytest.raises(InfeasibleError, match=r"joined by patients\.bill, visits\.bill, the tables leave k = 1"):
        run(clinic, text)


def test_numbers_that_every_table_has_are_no_key(clinic: Path) -> None:
    """Both are numbered from 1, each in its own order."""
    for name in ("patients", "visits"):
        pl.read_csv(clinic / f"{name}.csv").with_columns(nr=pl.int_range(1, 21)).write_csv(clinic / f"{name}.csv")
    text = POLICY.replace("{role: direct, technique: {pseudonymise: {domain: patients}}}", "suppress")
    text = text.replace("      fee:", "      nr: {role: insensitive}\n      fee:")
    text = text.replace("age: {role: quasi}\n", "age: {role: quasi}\n      nr: {role: insensitive}\n")
    assert run(clinic, text).joined.keys == ()


def test_tables_in_the_same_order_are_laid_side_by_side(clinic: Path) -> None:
    """No key is released, but row 7 of one table is about whom row 7 of the other is about."""
    pl.read_csv(clinic / "visits.csv").reverse().write_csv(clinic / "visits.csv")
    text = POLICY.replace("{role: direct, technique: {pseudonymise: {domain: patients}}}", "suppress")
    with pytest.raises(InfeasibleError, match=r"the order of their rows .* k = 1: 2 of 20 people stand alone"):
        run(clinic, text)
    for table in ("patients", "visits"):
        shuffled = text.replace(f"  {table}:\n", f"  {table}:\n    shuffle_rows: true\n")
        whole = release_tables(policy(clinic, shuffled), clinic / "out", force=True)
        assert (whole.joined.met, whole.joined.keys) == (True, ())
    unlinked = release_tables(policy(clinic, POLICY, "joined: {unlink: true}\n"), clinic / "out", force=True)
    assert unlinked.joined.met
    original = pl.read_csv(clinic / "visits.csv")["fee"].cast(pl.String)
    assert not original.equals(released(clinic, "visits")["fee"])
    assert sorted(original) == sorted(released(clinic, "visits")["fee"])


def test_tables_that_are_too_large_to_join_do_not_leave_where_it_has_to_be_known(
    clinic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "JOINED_RECORDS", 30)
    with pytest.raises(InfeasibleError, match="too large"):
        run(clinic)
    whole = run(clinic, POLICY.replace("external-sharing", "internal-anonymised"))
    assert "too large" in whole.warnings[0]
    assert whole.joined.result().to_dict()["counted"] is False


# ——— unlinked


def test_unlinked_tables_have_pseudonyms_of_their_own_and_nothing_joins(clinic: Path) -> None:
    whole = run(clinic, more="joined: {unlink: true}\n")
    people, visits = released(clinic, "patients"), released(clinic, "visits")
    assert people["id"].n_unique() == visits["patient"].n_unique() == 20
    assert not set(people["id"]) & set(visits["patient"])
    assert (whole.joined.met, whole.joined.groups) == (True, ())
    assert [one.kept for one in whole.references] == [False]


def test_a_key_that_stands_twice_in_its_table_is_left_out_when_unlinked(clinic: Path) -> None:
    visits = pl.read_csv(clinic / "visits.csv")
    visits.vstack(visits).write_csv(clinic / "visits.csv")
    whole = run(clinic, more="joined: {unlink: true}\n")
    assert "patient" not in released(clinic, "visits").columns
    assert "id" in released(clinic, "patients").columns
    assert whole.joined.met


def test_what_stayed_as_it_was_is_left_out_when_unlinked(clinic: Path) -> None:
    plain = POLICY.replace("{role: direct, technique: {pseudonymise: {domain: patients}}}", "{role: insensitive}")
    run(clinic, plain, "joined: {unlink: true}\n")
    assert released(clinic, "patients").columns == ["age"]
    assert released(clinic, "visits").columns == ["ward", "fee"]


def test_records_of_one_person_that_still_follow_each_other_are_warned_of(clinic: Path) -> None:
    visits = pl.read_csv(clinic / "visits.csv")
    pl.concat([visits, visits]).sort("patient").write_csv(clinic / "visits.csv")
    text = POLICY.replace("{role: direct, technique: {pseudonymise: {domain: patients}}}", "suppress")
    said = "visits: the key is gone, but the records of one person still follow each other"
    assert run(clinic, text).warnings[0].startswith(said)
    shuffled = policy(clinic, text.replace("  visits:\n", "  visits:\n    shuffle_rows: true\n"))
    assert not any(said in text for text in release_tables(shuffled, clinic / "out", force=True).warnings)


def test_warnings_that_all_tables_give_are_told_once(clinic: Path) -> None:
    whole = run(clinic, more="joined: {accept: x}\n")
    assert len(whole.warnings) == 3
    assert "patients.id, visits.patient" in whole.warnings[1]
    assert not any("names a person" in text for text in whole.warnings)
    assert all("pseudonyms" not in text for own in whole.of_tables.values() for text in own)


# ——— recounted


@settings(max_examples=12)
@given(
    st.lists(st.sampled_from([30, 31, 45]), min_size=8, max_size=20),
    st.lists(st.tuples(st.integers(0, 19), st.sampled_from("xyz")), min_size=4, max_size=30),
)
def test_any_tables_are_counted_as_plain_code_counts_them(ages: list[int], seen: list[tuple[int, str]]) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        patients = pl.DataFrame({"id": [f"P{n}" for n in range(len(ages))], "age": ages})
        patients.write_csv(folder / "patients.csv")
        visits = pl.DataFrame([(f"P{n}", ward, 1) for n, ward in seen], schema=["patient", "ward", "fee"], orient="row")
        visits.write_csv(folder / "visits.csv")
        text = POLICY.replace("{k: 5}", "{k: 2}") + "solve: {suppression_limit: 1}\njoined: {accept: counted again}\n"
        whole = run(folder, text)
        told: dict[str, list[str]] = defaultdict(list)
        for row in released(folder, "patients").to_dicts():
            told[row["id"]].append(f"age {row['age']}")
        for row in released(folder, "visits").to_dicts():
            told[row["patient"]].append(f"ward {row['ward']}")
        sizes = Counter(tuple(sorted(one)) for one in told.values() if one not in (["age *"], ["ward *"]))
        worst = whole.joined.worst
        assert worst is not None or not sizes
        if worst is not None:
            assert worst.k == min(sizes.values())
            assert worst.people == sum(sizes.values())
            assert worst.alone == sum(size == 1 for size in sizes.values())


def test_a_hospital_extract_is_counted_as_plain_code_counts_it(shared: Path, tmp_path: Path) -> None:
    """Patients, encounters and conditions of the shared extract; nothing of ours is used to count again."""
    whole = release_tables(
        policy(tmp_path, SYNTHEA.format(folder=shared / "data" / "synthea")), tmp_path / "out", seed=1
    )
    conditions, encounters, patients = (
        released(tmp_path, name).to_dicts() for name in ("conditions", "encounters", "patients")
    )
    by_visit, by_person, seen = defaultdict(list), defaultdict(list), defaultdict(list)
    for row in conditions:
        by_visit[row["ENCOUNTER"]].append((row["START"], row["STOP"]))
    for row in encounters:
        inside = tuple(sorted(by_visit[row["Id"]], key=str))
        seen[row["PATIENT"]].append((row["ENCOUNTERCLASS"], row["PAYER"], inside))
    for row in conditions:
        by_person[row["PATIENT"]].append((row["START"], row["STOP"]))
    told = [
        (
            row["GENDER"],
            row["RACE"],
            row["BIRTHDATE"],
            tuple(sorted(seen[row["Id"]], key=str)),
            tuple(sorted(by_person[row["Id"]], key=str)),
        )
        for row in patients
    ]
    sizes = Counter(told)
    worst = whole.joined.worst
    assert worst is not None
    assert (worst.k, worst.people, worst.alone) == (
        min(sizes.values()),
        len(patients),
        sum(size == 1 for size in sizes.values()),
    )
    assert worst.alone > 100


SYNTHEA = """\
shoal: 1
name: synthea
use_case: external-sharing
joined: {{accept: counted again}}
solve: {{suppression_limit: 0.1}}
tables:
  conditions:
    source: {folder}/conditions.csv
    person: PATIENT
    attributes:
      START: {{role: quasi, hierarchy: dates}}
      STOP: {{role: quasi, hierarchy: dates}}
      PATIENT: {{role: direct, technique: {{pseudonymise: {{domain: patients}}}}}}
      ENCOUNTER: {{role: direct, technique: {{pseudonymise: {{domain: encounters}}}}}}
      "*": suppress
  encounters:
    source: {folder}/encounters.csv
    person: PATIENT
    attributes:
      Id: {{role: direct, technique: {{pseudonymise: {{domain: encounters}}}}}}
      PATIENT: {{role: direct, technique: {{pseudonymise: {{domain: patients}}}}}}
      ENCOUNTERCLASS: {{role: quasi}}
      PAYER: {{role: quasi}}
      "*": suppress
  patients:
    source: {folder}/patients.csv
    attributes:
      Id: {{role: direct, technique: {{pseudonymise: {{domain: patients}}}}}}
      GENDER: {{role: quasi}}
      RACE: {{role: quasi}}
      BIRTHDATE: {{role: quasi, hierarchy: dates}}
      "*": suppress
"""
