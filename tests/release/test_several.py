"""Several tables in one release: one person has one pseudonym, references stay, all tables appear or none."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from tests.support.policies import PATIENTS

from shoal.assess.multi_table.references import LostRecords, ReferenceKeys, follow_reference
from shoal.errors import BugError, DataError, InputError, SourceError, TargetError
from shoal.io import sha256_of
from shoal.policy.multi_table import MultiTablePolicy, load_any
from shoal.policy.references import Reference, ReferenceEnd, names_fit
from shoal.pseudonyms.run_secrets import RunSecrets
from shoal.randomness import Randomness
from shoal.release.multi_table import run as job
from shoal.release.multi_table.run import check_tables, release_tables
from shoal.release.multi_table.summary import MultiTableRelease
from shoal.release.request import RunRequest
from shoal.release.run import Run
from shoal.schema.progress import Monitor

SHY = "Zyxwvut"
"""A value that stands in the data and must never leave."""
POLICY = (
    """\
shoal: 1
name: hospital
privacy: [{k_anonymity: {k: 3}}]
joined: {accept: what becomes of the keys is tried here}
solve: {suppression_limit: 0.2}
"""
    + PATIENTS
    + """\
      name: {role: direct}
      age: {role: quasi, hierarchy: {intervals: {widths: [10, 20, 40]}}}
  visits:
    source: visits.csv
    attributes:
      visit: {role: direct, technique: {pseudonymise: {domain: visits}}}
      patient: {role: direct, technique: {pseudonymise: {domain: patients}}}
      ward: {role: quasi}
  drugs:
    source: drugs.csv
    attributes:
      visit: {role: direct, technique: {pseudonymise: {domain: visits}}}
      drug: {role: sensitive}
"""
)
DECLARED = """\
references:
  - {from: visits.patient, to: patients.id}
  - {from: drugs.visit, to: visits.visit}
"""


def patients(number: int = 60) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "id": [f"{SHY}{place:03}" for place in range(number)],
            "name": [f"{SHY} {place}" for place in range(number)],
            "age": [20 + place * 7 % 60 for place in range(number)],
        }
    )


def visits(number: int = 180, people: int = 60) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "visit": [f"{SHY}-V{place}" for place in range(number)],
            "patient": [f"{SHY}{place * 7 % people:03}" for place in range(number)],
            "ward": [f"W{place % 5}" for place in range(number)],
        }
    )


def drugs(number: int = 300, seen: int = 180) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "visit": [f"{SHY}-V{place * 11 % seen}" for place in range(number)],
            "drug": [f"D{place % 9}" for place in range(number)],
        }
    )


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    patients().write_csv(tmp_path / "patients.csv")
    visits().write_csv(tmp_path / "visits.csv")
    drugs().write_csv(tmp_path / "drugs.csv")
    return tmp_path


def policy(folder: Path, text: str = POLICY + DECLARED) -> MultiTablePolicy:
    (folder / "policy.yaml").write_text(text)
    found = load_any(folder / "policy.yaml")
    assert isinstance(found, MultiTablePolicy)
    return found


def released(whole: MultiTableRelease, table: str) -> pl.DataFrame:
    return pl.read_csv(whole.releases[table].data, infer_schema=False)


@pytest.mark.requirement("T-06", "V-04", "V-05")
def test_one_person_has_one_pseudonym_in_every_table(clinic: Path) -> None:
    whole = release_tables(policy(clinic), clinic / "out")
    people, seen, given = (released(whole, name) for name in ("patients", "visits", "drugs"))
    pairs = pl.DataFrame({"was": patients()["id"], "now": people["id"]})
    assert pairs["now"].n_unique() == 60
    assert not set(pairs["was"]) & set(pairs["now"])
    again = visits().with_columns(now=seen["patient"]).join(pairs, left_on="patient", right_on="was", how="left")
    assert (again["now"] == again["now_right"]).all(), "visits bear the pseudonyms of their patients"
    before = drugs().join(visits(), on="visit").join(patients(), left_on="patient", right_on="id")
    after = given.join(seen, on="visit").join(people, left_on="patient", right_on="id")
    assert before.height == after.height == 300
    counted = (frame.group_by("drug", "ward").len().sort("drug", "ward") for frame in (before, after))
    assert next(counted).equals(next(counted))
    assert all(SHY not in path.read_text() for path in (clinic / "out").rglob("*") if path.is_file())


@pytest.mark.requirement("V-05")
def test_another_run_has_other_pseudonyms_and_a_seed_the_same_ones(clinic: Path) -> None:
    runs = [
        release_tables(policy(clinic), clinic / name, seed=seed)
        for name, seed in (("a", 1), ("b", 1), ("c", 2), ("d", None), ("e", None))
    ]
    keys = [tuple(released(run, "patients")["id"]) for run in runs]
    assert keys[0] == keys[1]
    assert len(set(keys)) == 4
    for name in ("patients", "visits", "drugs"):
        assert sha256_of(runs[0].releases[name].data) == sha256_of(runs[1].releases[name].data)


def test_secrets_that_last_give_every_run_the_same_pseudonyms(clinic: Path) -> None:
    secrets = RunSecrets(Randomness(5))
    runs = [release_tables(policy(clinic), clinic / name, secrets=secrets) for name in ("a", "b")]
    assert released(runs[0], "visits")["patient"].equals(released(runs[1], "visits")["patient"])


def test_issued_pseudonyms_are_shared_too(clinic: Path) -> None:
    text = (POLICY + DECLARED).replace("domain: patients}", "domain: patients, method: random, format: integer}")
    whole = release_tables(policy(clinic, text), clinic / "out")
    assert set(released(whole, "visits")["patient"]) == set(released(whole, "patients")["id"])
    assert released(whole, "patients")["id"].str.contains(r"^[1-9]\d{17}$").all()


def test_the_folder_holds_a_full_release_of_each_table_and_a_way_in(clinic: Path) -> None:
    whole = release_tables(policy(clinic), clinic / "out")
    files = {"data.csv", "release.json", "report.html", "recipient.html"}
    for name in ("patients", "visits", "drugs"):
        assert {path.name for path in (clinic / "out" / name).iterdir()} == files
        told = json.loads((clinic / "out" / name / "release.json").read_text())
        assert told["data"]["sha256"] == sha256_of(clinic / "out" / name / "data.csv")
        assert told["policy_sha256"] == sha256_of(clinic / "policy.yaml")
        assert whole.releases[name].folder == clinic / "out" / name
    above = json.loads((clinic / "out" / "release.json").read_text())
    assert above == whole.to_dict()
    assert above["policy_sha256"] == sha256_of(clinic / "policy.yaml")
    assert {name: (clinic / "out" / path).is_file() for name, path in above["tables"].items()} == {
        "patients": True,
        "visits": True,
        "drugs": True,
    }
    assert [(one["from"], one["to"], one["kept"], one["orphans"], one["found"]) for one in above["references"]] == [
        ("visits.patient", "patients.id", True, 0, None),
        ("drugs.visit", "visits.visit", True, 0, None),
    ]
    for edition in ("report", "recipient"):
        page = (clinic / "out" / f"{edition}.html").read_text()
        links = re.findall(r'<a href="([^#"]+)"', page)
        assert links == [f"{name}/{edition}.html" for name in ("patients", "visits", "drugs")]
        assert all((clinic / "out" / link).is_file() for link in links)
    assert "k =" not in (clinic / "out" / "recipient.html").read_text()


def test_ciphertexts_are_joined_too(clinic: Path) -> None:
    (clinic / "key").write_text("ab" * 32)
    text = (POLICY + DECLARED).replace("{pseudonymise: {domain: patients}}", '{encrypt: {key: "file:key"}}')
    whole = release_tables(policy(clinic, text), clinic / "out")
    assert set(released(whole, "visits")["patient"]) == set(released(whole, "patients")["id"])
    assert whole.references[0].kept


def test_a_key_that_tells_a_place_is_starred_and_counts_as_no_key(tmp_path: Path) -> None:
    """Stays that are referred to by nobody any more are no bug of ours."""
    draw = random.Random(3)
    tree = {"a": ["a1", "a2"], "b": ["b1", "b2"], "c": ["c1", "c2"]}
    leaves = [leaf for below in tree.values() for leaf in below]
    places = [draw.choice(leaves) for _ in range(400)]
    jobs = draw.choices(leaves, [50, 20, 10, 10, 6, 4], k=400)
    stays = {"site": [f"site {place}" for place in places], "place": places, "job": jobs}
    pl.DataFrame(stays).write_csv(tmp_path / "stays.csv")
    pl.DataFrame({"id": [f"site {leaf}" for leaf in leaves], "beds": range(6)}).write_csv(tmp_path / "sites.csv")
    known = f"hierarchy: {{taxonomy: {{tree: {json.dumps(tree)}}}}}"
    text = f"""
shoal: 1
name: clinic
joined: {{accept: sites are public}}
tables:
  stays:
    source: stays.csv
    attributes:
      site: {{role: direct, technique: {{pseudonymise: {{domain: sites}}}}}}
      place: {{role: quasi, {known}}}
      job: {{role: quasi, {known}}}
    privacy: [{{k_anonymity: {{k: 4}}}}]
    solve: {{recoding: local, suppression_limit: 0.1}}
    read_back: {{found: suppress}}
  sites:
    source: sites.csv
    attributes:
      id: {{role: direct, technique: {{pseudonymise: {{domain: sites}}}}}}
      beds: {{role: insensitive}}
"""
    whole = release_tables(policy(tmp_path, text), tmp_path / "out")
    keys, sites = released(whole, "stays")["site"], released(whole, "sites")["id"]
    assert 0 < (keys == "*").sum() < 400
    assert set(keys) - {"*"} <= set(sites)
    assert [(one.kept, one.orphans, one.left_out) for one in whole.references] == [(True, 0, 0)]


# ——— references that nobody declared


def test_references_are_found_in_files_and_say_why(clinic: Path) -> None:
    whole = release_tables(policy(clinic, POLICY), clinic / "out")
    assert {str(one.reference): one.reference.reason for one in whole.references} == {
        "visits.patient → patients.id": "all its values are there, each once, and both become the same pseudonyms",
        "drugs.visit → visits.visit": "all its values are there, each once, and both become the same pseudonyms",
    }
    assert all(one.kept and one.orphans == 0 for one in whole.references)


@pytest.mark.parametrize(
    ("child", "parent", "fits"),
    [
        ("visits.patient", "patients.id", True),
        ("visits.patient_id", "patients.id", True),
        ("visits.PatientID", "Patients.ID", True),
        ("visits.patient_id", "patients.patient_id", True),
        ("visits.patient", "patients.patient_no", True),
        ("visits.city", "cities.code", True),
        ("visits.id", "patients.id", False),
        ("visits.name", "patients.name", False),
        ("visits.doctor", "patients.id", False),
        ("visits.patient", "patients.bed", False),
    ],
)
def test_names_that_fit(child: str, parent: str, fits: bool) -> None:
    assert names_fit(ReferenceEnd.parse(child), ReferenceEnd.parse(parent)) is fits


PLAIN = """\
shoal: 1
name: hospital
tables:
  patients: {source: patients.csv, attributes: {id: {role: insensitive}, "*": suppress}}
  visits: {source: visits.csv, attributes: {patient: {role: insensitive}, "*": suppress}}
"""


def found(folder: Path, text: str = PLAIN) -> list[str]:
    return [str(reference) for reference in check_tables(policy(folder, text), None)]


def test_a_reference_is_found_only_if_all_values_are_there_and_each_once(clinic: Path) -> None:
    assert found(clinic) == ["visits.patient → patients.id"]
    visits().vstack(visits(1).with_columns(patient=pl.lit("nobody"))).write_csv(clinic / "visits.csv")
    assert found(clinic) == []
    visits().with_columns(patient=pl.lit(None, dtype=pl.String)).write_csv(clinic / "visits.csv")
    assert found(clinic) == [], "no value is no evidence"
    visits().write_csv(clinic / "visits.csv")
    patients().vstack(patients(1)).write_csv(clinic / "patients.csv")
    assert found(clinic) == []


def test_people_are_found_by_the_person_column_whatever_its_name(clinic: Path) -> None:
    visits().rename({"patient": "x"}).write_csv(clinic / "visits.csv")
    text = PLAIN.replace("{patient: {", "{x: {")
    assert found(clinic, text) == []
    text = text.replace("patients.csv,", "patients.csv, person: id,").replace("visits.csv,", "visits.csv, person: x,")
    assert found(clinic, text) == ["visits.x → patients.id"]


def test_two_tables_with_the_same_people_refer_once(clinic: Path) -> None:
    patients().rename({"id": "patient_id"}).write_csv(clinic / "patients.csv")
    patients().rename({"id": "patient_id"}).write_csv(clinic / "visits.csv")
    text = PLAIN.replace("{id: {", "{patient_id: {").replace("{patient: {", "{patient_id: {")
    assert found(clinic, text) == ["visits.patient_id → patients.patient_id"]


def apart(text: str) -> str:
    """With pseudonyms of their own in the visits: as they are, they would be the patients' keys."""
    return text.replace(
        "patient: {role: insensitive}", "patient: {role: direct, technique: {pseudonymise: {domain: own}}}"
    )


def test_a_found_reference_that_would_break_is_refused_unless_it_need_not_be_kept(clinic: Path) -> None:
    text = PLAIN.replace("{id: {role: insensitive}", "{id: {role: direct, technique: pseudonymise}")
    with pytest.raises(
        DataError, match=r"visits\.patient refers to patients\.id .*names fit.*stays as it is"
    ) as caught:
        release_tables(policy(clinic, text), clinic / "out")
    assert "keep: false" in str(caught.value)
    assert not (clinic / "out").exists()
    let_go = apart(text) + "references: [{from: visits.patient, to: patients.id, keep: false}]\n"
    whole = release_tables(policy(clinic, let_go), clinic / "out")
    assert [(one.kept, one.orphans) for one in whole.references] == [(False, None)]


def test_a_found_reference_with_a_suppressed_end_is_not_kept_and_nothing_is_wrong(clinic: Path) -> None:
    text = PLAIN.replace("{id: {role: insensitive}", "{id: {role: direct}")
    text = text.replace('"*": suppress}}\n  visits', "age: {role: insensitive}, name: suppress}}\n  visits")
    whole = release_tables(policy(clinic, apart(text)), clinic / "out")
    assert [(str(one.reference), one.kept) for one in whole.references] == [("visits.patient → patients.id", False)]


# ——— orphans


def test_orphans_stay_orphans_and_are_counted(clinic: Path) -> None:
    lost = visits(3).with_columns(patient=pl.Series([f"{SHY}nobody", f"{SHY}nobody", None]))
    visits().vstack(lost).write_csv(clinic / "visits.csv")
    whole = release_tables(policy(clinic), clinic / "out")
    assert [one.orphans for one in whole.references] == [2, 0]
    assert [one.left_out for one in whole.references] == [0, 0]
    after = released(whole, "visits")
    assert after.join(released(whole, "patients"), left_on="patient", right_on="id", how="anti").height == 3
    assert after["patient"].null_count() == 1


def test_records_whose_counterpart_was_left_out_are_counted_and_warned_of(clinic: Path) -> None:
    text = (POLICY + DECLARED).replace("    person: id\n", "    person: id\n    sample: {fraction: 0.5}\n")
    whole = release_tables(policy(clinic, text), clinic / "out", seed=1)
    left = released(whole, "patients").height
    assert left == 30
    orphans = 180 - 3 * left
    assert (whole.references[0].orphans, whole.references[0].left_out) == (orphans, orphans)
    assert f"{orphans} records refer to records of 'patients' that are not in the release" in whole.warnings[1]


def test_a_sampled_child_has_no_more_orphans_than_before(clinic: Path) -> None:
    text = (POLICY + DECLARED).replace("source: drugs.csv\n", "source: drugs.csv\n    sample: {fraction: 0.3}\n")
    whole = release_tables(policy(clinic, text), clinic / "out", seed=1)
    assert whole.references[1].orphans == 0
    assert not whole.references[1].left_out


@pytest.mark.parametrize(
    ("after", "lost", "broken"),
    [
        (ReferenceKeys(50, 60, 4), LostRecords(child=False, parent=False), False),
        (ReferenceKeys(50, 59, 4), LostRecords(child=False, parent=False), True),
        (ReferenceKeys(49, 60, 4), LostRecords(child=False, parent=False), True),
        (ReferenceKeys(50, 60, 5), LostRecords(child=False, parent=False), True),
        (ReferenceKeys(50, 60, 3), LostRecords(child=False, parent=False), True),
        (ReferenceKeys(49, 60, 3), LostRecords(child=True, parent=False), False),
        (ReferenceKeys(49, 60, 5), LostRecords(child=True, parent=False), True),
        (ReferenceKeys(50, 40, 9), LostRecords(child=False, parent=True), False),
        (ReferenceKeys(49, 40, 9), LostRecords(child=False, parent=True), True),
    ],
)
def test_what_can_t_be_is_a_bug_and_nothing_leaves(after: ReferenceKeys, lost: LostRecords, broken: bool) -> None:
    reference, before = (
        Reference(ReferenceEnd("visits", "patient"), ReferenceEnd("patients", "id")),
        ReferenceKeys(50, 60, 4),
    )
    if broken:
        with pytest.raises(BugError, match="not joined as those they come from"):
            follow_reference(reference, before, after, lost)
    else:
        assert follow_reference(reference, before, after, lost).left_out == max(0, after.orphans - 4)


def test_tables_that_come_apart_are_noticed_in_the_written_files(clinic: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each table with secrets of its own: what a mistake in here would do."""

    def apart(request: RunRequest, monitor: Monitor) -> Run:
        return Run(request.model_copy(update={"secrets": None}), monitor)

    monkeypatch.setattr(job, "Run", apart)
    with pytest.raises(BugError, match=r"visits\.patient → patients\.id"):
        release_tables(policy(clinic), clinic / "out")
    assert not (clinic / "out").exists()


# ——— whole or not at all


def left_behind(folder: Path) -> list[str]:
    known = {"patients.csv", "visits.csv", "drugs.csv", "policy.yaml"}
    return sorted(path.name for path in folder.iterdir() if path.name not in known)


@pytest.mark.requirement("T-02")
@pytest.mark.parametrize("how", [KeyboardInterrupt, OSError, BugError("no")])
def test_an_end_in_the_second_table_leaves_nothing(
    clinic: Path, monkeypatch: pytest.MonkeyPatch, how: type[BaseException] | BaseException
) -> None:

    def second_fails(request: RunRequest, monitor: Monitor) -> Run:
        if request.folder.name == "visits":
            assert list(request.folder.parent.glob(".patients.*/release.json")), "the first table is there"
            raise how
        return Run(request, monitor)

    monkeypatch.setattr(job, "Run", second_fails)
    with pytest.raises(how if isinstance(how, type) else type(how)):
        release_tables(policy(clinic), clinic / "out")
    assert left_behind(clinic) == []


def test_a_table_that_can_t_be_anonymised_leaves_the_old_release(clinic: Path) -> None:
    release_tables(policy(clinic), clinic / "out", seed=1)
    before = {path: path.read_bytes() for path in (clinic / "out").rglob("*") if path.is_file()}
    visits().with_columns(ward=pl.col("visit")).write_csv(clinic / "visits.csv")
    strict = (POLICY + DECLARED).replace(
        "      ward: {role: quasi}\n", "      ward: {role: quasi}\n    solve: {levels: {ward: 0}}\n"
    )
    with pytest.raises(InputError):
        release_tables(policy(clinic, strict), clinic / "out", force=True)
    assert left_behind(clinic) == ["out"]
    assert {path: path.read_bytes() for path in (clinic / "out").rglob("*") if path.is_file()} == before
    with pytest.raises(TargetError, match="exists already"):
        release_tables(policy(clinic), clinic / "out")


@pytest.mark.requirement("T-02")
def test_a_process_that_is_killed_leaves_nothing_that_the_next_doesn_t_remove(clinic: Path) -> None:
    policy(clinic)
    code = (
        "import os, signal; from pathlib import Path; from shoal.policy.multi_table import load_any\n"
        "from shoal.release.multi_table import run as job\n"
        "whole = job.Run\n"
        "def killed(request, monitor):\n"
        "    if request.folder.name == 'drugs': os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return whole(request, monitor)\n"
        "job.Run = killed\n"
        "job.release_tables(load_any('policy.yaml'), Path('out'))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=clinic, check=False, capture_output=True)
    assert done.returncode == -9
    (hidden,) = left_behind(clinic)
    assert hidden.startswith(".out.partial-")
    assert all(SHY not in path.read_text() for path in (clinic / hidden).rglob("*") if path.is_file())
    release_tables(policy(clinic), clinic / "out")
    assert left_behind(clinic) == ["out"]


# ——— sources


def test_input_is_the_folder_that_the_files_are_in(clinic: Path) -> None:
    (clinic / "other").mkdir()
    for name in ("patients", "visits", "drugs"):
        (clinic / f"{name}.csv").rename(clinic / "other" / f"{name}.csv")
    chosen = policy(clinic)
    with pytest.raises(SourceError, match="no such file"):
        release_tables(chosen, clinic / "out")
    assert release_tables(chosen, clinic / "out", data=clinic / "other").references[0].orphans == 0
    with pytest.raises(InputError, match="data=FOLDER"):
        release_tables(chosen, clinic / "out", data=clinic / "other" / "visits.csv", force=True)


def test_a_table_without_a_source_is_named(clinic: Path) -> None:
    with pytest.raises(InputError, match="no source of the table 'visits'"):
        release_tables(policy(clinic, POLICY.replace("    source: visits.csv\n", "")), clinic / "out")


def test_a_declared_reference_to_a_column_that_is_not_there_is_refused_before_anything_is_done(clinic: Path) -> None:
    text = PLAIN + "references: [{from: visits.patient, to: patients.id}]\n"
    patients().drop("id").write_csv(clinic / "patients.csv")
    with pytest.raises(DataError, match="'id'"):
        release_tables(policy(clinic, text), clinic / "out")
    assert left_behind(clinic) == []


def test_a_table_can_refer_to_itself(tmp_path: Path) -> None:
    pl.DataFrame({"id": ["a", "b", "c"], "head": [None, "a", "a"]}).write_csv(tmp_path / "staff.csv", separator=";")
    text = """\
shoal: 1
name: firm
tables:
  staff:
    source: staff.csv
    attributes:
      id: {role: direct, technique: {pseudonymise: {domain: staff}}}
      head: {role: direct, technique: {pseudonymise: {domain: staff}}}
references: [{from: staff.head, to: staff.id}]
"""
    whole = release_tables(policy(tmp_path, text), tmp_path / "out")
    assert [(one.kept, one.orphans) for one in whole.references] == [(True, 0)]
    after = pl.read_csv(whole.releases["staff"].data, separator=";")
    assert after["head"].to_list() == [None, after["id"][0], after["id"][0]]


def test_both_ends_suppressed_is_no_reference_in_the_release(clinic: Path) -> None:
    text = """\
shoal: 1
name: hospital
tables:
  patients: {source: patients.csv, attributes: {id: suppress, name: suppress, age: {role: insensitive}}}
  visits: {source: visits.csv, attributes: {patient: suppress, ward: {role: insensitive}, "*": suppress}}
references: [{from: visits.patient, to: patients.id}]
"""
    whole = release_tables(policy(clinic, text), clinic / "out")
    assert [(one.kept, one.orphans) for one in whole.references] == [(False, None)]


def test_files_that_techniques_put_beside_the_data_lie_with_their_table(clinic: Path) -> None:
    text = POLICY + "    shuffle_rows: true\n    anatomise: {sensitive: [drug], l: 3}\n" + DECLARED
    whole = release_tables(policy(clinic, text), clinic / "out")
    ((name, path),) = whole.releases["drugs"].files.items()
    assert path.is_file()
    assert path == clinic / "out" / "drugs" / f"{name}.csv"
    assert whole.references[1].kept
