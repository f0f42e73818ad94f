"""Policies of several tables: what they accept, what they refuse, and that every problem is named where it stands."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.policies import PATIENTS

from shoal.errors import PolicyError, PolicyProblem
from shoal.policy import Policy
from shoal.policy.multi_table import MultiTablePolicy, any_from_text, load_any, policies_schema
from shoal.policy.references import Reference, ReferenceEnd
from shoal.privacy.models.k_anonymity import KAnonymity

GOOD = (
    """\
shoal: 1
name: hospital
privacy: [{k_anonymity: {k: 5}}]
solve: {suppression_limit: 0.1, drop_suppressed: true}
"""
    + PATIENTS
    + """\
      age: {role: quasi, hierarchy: {intervals: {widths: [5, 10]}}}
      bed: {role: insensitive}
  visits:
    source: visits.csv
    attributes:
      patient: {role: direct, technique: {pseudonymise: {domain: patients}}}
      city: {role: quasi}
      bed: {role: insensitive}
    privacy: [{k_anonymity: {k: 2}}]
    solve: {suppression_limit: 0.3}
  beds:
    source: beds.csv
    attributes:
      bed: {role: insensitive}
      "*": suppress
references:
  - {from: visits.patient, to: patients.id}
  - {from: visits.bed, to: beds.bed}
"""
)
PSEUDONYM = "      patient: {role: direct, technique: {pseudonymise: {domain: patients}}}"


def several(text: str) -> MultiTablePolicy:
    found = any_from_text(text)
    assert isinstance(found, MultiTablePolicy)
    return found


def problems(text: str) -> tuple[PolicyProblem, ...]:
    with pytest.raises(PolicyError) as caught:
        any_from_text(text)
    return caught.value.problems


def test_each_table_is_a_policy_and_gets_what_stands_for_all() -> None:
    policy = several(GOOD)
    assert list(policy.tables) == ["patients", "visits", "beds"]
    patients, visits, beds = policy.tables.values()
    assert patients.name == "hospital - patients"
    assert patients.models == (KAnonymity(k=5),)
    assert (patients.solve.suppression_limit, patients.solve.drop_suppressed) == (0.1, True)
    assert visits.models == (KAnonymity(k=2),)
    assert (visits.solve.suppression_limit, visits.solve.drop_suppressed) == (0.3, True), "key by key"
    assert beds.models == (), "a table without quasi-identifiers has nothing to make alike"
    assert policy.references == (
        Reference(ReferenceEnd("visits", "patient"), ReferenceEnd("patients", "id")),
        Reference(ReferenceEnd("visits", "bed"), ReferenceEnd("beds", "bed")),
    )
    assert {table.text for table in policy.tables.values()} == {GOOD}, "one file, one checksum"


def test_a_policy_of_one_table_is_read_as_ever(tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text("shoal: 1\nname: a\nattributes: {age: {role: quasi}}\n")
    assert isinstance(load_any(tmp_path / "one.yaml"), Policy)
    (tmp_path / "several.yaml").write_text(GOOD)
    found = load_any(tmp_path / "several.yaml")
    assert isinstance(found, MultiTablePolicy)
    assert found.folder == found.tables["visits"].folder == tmp_path
    with pytest.raises(PolicyError, match="line 5, column 1: tables: a policy of several tables can't be used here"):
        Policy.load(tmp_path / "several.yaml")


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ("shoal: 1", "shoal: 2", 1, "has to be 1"),
        ("name: hospital", "name: '%'", 2, "name"),
        ("name: hospital", "name: hospital\nperson: id", 3, "unknown key 'person'"),
        ("name: hospital", "name: hospital\nsource: patients.csv", 3, "files stand with their tables"),
        ("{k: 5}", "{k: 0}", 3, "privacy.0.k_anonymity.k: has to be at least 1"),
        ("drop_suppressed", "drop_supressed", 4, "solve.drop_supressed: unknown parameter 'drop_supressed'"),
        ("{suppression_limit: 0.1,", "{recoding: clustered,", 4, None),
        ("  patients:\n", "  patient list:\n", 6, "letters, digits, _ and -"),
        ("    person: id", "    person: ids", 8, "tables.patients.person: names the column 'ids'"),
        ("    person: id", "    name: x", 8, "tables.patients.name: stands at the top, not in a table"),
        ("    person: id", "    persn: id", 8, "unknown key 'persn'; did you mean 'person'?"),
        ("{intervals:", "{interval:", 11, "unknown hierarchy 'interval'; did you mean 'intervals'?"),
        ("      city: {role: quasi}", "      city: {role: kwasi}", 17, "tables.visits.attributes.city.role"),
        ("{suppression_limit: 0.3}", "{suppression_limit: 3}", 20, "tables.visits.solve.suppression_limit"),
        ('      "*": suppress\n', "      bed: suppress\n", 25, "stands twice"),
        ("from: visits.patient", "form: visits.patient", 27, "unknown parameter 'form'; did you mean 'from'?"),
        ("from: visits.patient", "from: visit.patient", 27, "no table 'visit'; did you mean 'visits'?"),
        ("from: visits.patient", "from: visits.pateint", 27, "no attribute 'pateint'; did you mean 'patient'?"),
        ("from: visits.patient", "from: visits", 27, "TABLE.COLUMN"),
        ("from: visits.patient", "from: patients.id", 27, "can't refer to itself"),
        ("  - {from: visits.bed, to: beds.bed}", "  - {from: visits.patient, to: patients.id}", 28, "stands twice"),
    ],
)
def test_every_problem_is_named_where_it_stands(old: str, new: str, line: int, says: str | None) -> None:
    assert old in GOOD
    text = GOOD.replace(old, new, 1)
    if says is None:
        assert several(text)
        return
    found = problems(text)
    assert [problem for problem in found if problem.line == line and says in str(problem)], found


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("{domain: patients}}}", "{domain: others}}}", "domain must be the same"),
        ("{domain: patients}}}", "{domain: patients, method: random}}}", "method must be the same"),
        ("{domain: patients}}}", "{domain: patients, format: hex}}}", "format must be the same"),
        ("{domain: patients}}}", "{domain: patients, algorithm: hmac_sha256}}}", "algorithm must be the same"),
        ("{domain: patients}}}", "{domain: patients, format: name}}}", "two people may share"),
        ("{domain: patients}}}", "{domain: patients, double_coding: true}}}", "coded twice"),
        (PSEUDONYM, "      patient: {role: direct, technique: {mask: {keep_last: 4}}}", "doesn't keep keys apart"),
        (PSEUDONYM, "      patient: {role: direct}", "visits.patient is suppressed, but patients.id gets pseudonyms"),
        (
            PSEUDONYM,
            "      patient: {role: insensitive}",
            "stays as it is, but patients.id gets pseudonyms",
        ),
        (PSEUDONYM, "      patient: {role: quasi}", "is a quasi-identifier, which may be generalised"),
        (
            PSEUDONYM,
            "      patient: {role: direct, technique: [{pseudonymise: {domain: patients}}, {mask: {keep_last: 4}}]}",
            "goes through pseudonymise, mask",
        ),
    ],
)
def test_ends_that_could_not_be_joined_are_refused_at_the_reference(old: str, new: str, says: str) -> None:
    start = GOOD.index("  visits:")
    text = GOOD[:start] + GOOD[start:].replace(old, new, 1)
    (found,) = problems(text)
    assert (found.line, found.path) == (27, "references.0")
    assert says in found.message
    assert several(text.replace("to: patients.id}", "to: patients.id, keep: false}")), "unless it need not be kept"


def test_the_same_at_both_ends_is_joined_whatever_it_is() -> None:
    for same in (
        "{role: direct}",
        "{role: insensitive}",
        "{role: direct, technique: {pseudonymise: {domain: p, method: random, format: {integer: {digits: 9}}}}}",
        "{role: direct, technique: {pseudonymise: {domain: p, format: hex, algorithm: hmac_sha256}}}",
        "{role: direct, technique: {encrypt: {key: p}}}",
        "{role: direct, technique: {encrypt: {scheme: format_preserving, key: p, alphabet: alphanumeric}}}",
    ):
        ends = "{role: direct, technique: {pseudonymise: {domain: patients}}}"
        assert several(GOOD.replace(ends, same)).references


@pytest.mark.parametrize(
    ("child", "says"),
    [
        ("{encrypt: {key: q}}", "key must be the same"),
        ("encrypt", "encrypted with the key 'patient'"),
        ("{encrypt: {key: p, encoding: hex}}", "encoding must be the same"),
        ("{encrypt: {key: p, scheme: order_preserving}}", "the scheme order_preserving, which is not for keys"),
        ("{encrypt: {key: p, scheme: homomorphic}}", "the scheme homomorphic, which is not for keys"),
        ("{pseudonymise: {domain: p}}", "both must become the same"),
    ],
)
def test_ciphertexts_are_joined_only_by_one_key_and_one_scheme(child: str, says: str) -> None:
    encrypted = "{role: direct, technique: {encrypt: {key: p}}}"
    text = GOOD.replace("{role: direct, technique: {pseudonymise: {domain: patients}}}", encrypted)
    (found,) = problems(text.replace(f"patient: {encrypted}", f"patient: {{role: direct, technique: {child}}}"))
    assert says in found.message


def test_the_domain_that_is_left_out_is_the_attribute_s_name() -> None:
    unnamed = GOOD.replace("{pseudonymise: {domain: patients}}", "pseudonymise")
    (found,) = problems(unnamed)
    assert "of the domain 'patient'" in found.message
    assert "of the domain 'id'" in found.message
    assert several(unnamed.replace("patient: {role", "id: {role").replace("visits.patient", "visits.id"))


def test_all_problems_come_at_once_in_the_order_of_the_file() -> None:
    text = GOOD.replace("{k: 5}", "{k: 0}").replace("{role: quasi, hie", "{role: kwasi, hie").replace("k: 2", "k: two")
    assert [problem.line for problem in problems(text)] == [3, 11, 19]


@pytest.mark.parametrize("tables", ["{}", "[]", "words", "~", "{a: }", "{a: []}", "{a: {}}", "{a: {attributes: {}}}"])
def test_what_are_no_tables_is_refused(tables: str) -> None:
    assert problems(f"shoal: 1\nname: a\ntables: {tables}\n")


@given(st.text(max_size=60))
def test_any_text_gives_a_policy_or_problems(text: str) -> None:
    for start in ("shoal: 1\nname: a\ntables:\n  a: ", "tables: {a: {attributes: {b: {role: direct}}}}\nreferences: "):
        try:
            any_from_text(start + text)
        except PolicyError as error:
            assert error.problems


DATABASE = """\
shoal: 1
name: hospital
source: {url: "postgresql://clinic:hunter2secret@db/records", schema: ward}
target: {url: "sqlite:///out.db", if_exists: replace}
tables:
  patients: {attributes: {id: {role: insensitive}}}
  visits: {source: {table: visits_2026}, target: {table: seen}, attributes: {patient: {role: insensitive}}}
  beds: {source: beds.csv, target: beds.parquet, attributes: {bed: {role: insensitive}}}
"""


def test_a_database_for_all_gives_each_table_the_one_of_its_name() -> None:
    tables = several(DATABASE).tables
    labels = {name: (table.source.label, table.target.label) for name, table in tables.items()}  # type: ignore[union-attr]
    assert labels == {
        "patients": ("postgresql://clinic@db/records#patients", "sqlite:///out.db#patients"),
        "visits": ("postgresql://clinic@db/records#visits_2026", "sqlite:///out.db#seen"),
        "beds": ("beds.csv", "beds.parquet"),
    }
    assert getattr(tables["patients"].source, "db_schema", None) == "ward"
    assert getattr(tables["visits"].target, "if_exists", None) == "replace"
    short = several(DATABASE.replace('{url: "sqlite:///out.db", if_exists: replace}', "sqlite:///out.db"))
    assert short.tables["patients"].target.label == "sqlite:///out.db#patients"  # type: ignore[union-attr]


@pytest.mark.requirement("V-05")
def test_a_password_in_a_policy_is_never_shown() -> None:
    assert "hunter2secret" not in repr(several(DATABASE))
    for wrong in (
        DATABASE.replace("schema: ward", "shema: ward"),
        DATABASE.replace("postgresql", "oracle"),
        DATABASE.replace("visits_2026", ""),
        DATABASE.replace("@db", "@d@b"),
    ):
        with pytest.raises(PolicyError) as caught:
            any_from_text(wrong)
        assert "hunter2secret" not in str(caught.value)


def test_two_tables_can_t_be_written_to_the_same_place() -> None:
    (found,) = problems(DATABASE.replace("{table: seen}", "{table: patients}"))
    assert (found.line, found.path) == (7, "tables.visits.target")
    assert "'patients' is written there too" in found.message


def test_the_schema_for_editors_has_all_kinds_of_policy() -> None:
    schema = policies_schema()
    one, many, nested = schema["oneOf"]
    assert set(one["required"]) == {"shoal", "name", "attributes"}
    assert set(many["required"]) == {"shoal", "name", "tables"}
    assert set(nested["required"]) == {"shoal", "name", "documents", "attributes"}
    assert set(many["properties"]["references"]["items"]) == {"$ref"}
    table = schema["$defs"]["Table"]
    assert set(table["properties"]) == set(one["properties"]) - {"shoal", "name", "vault"}
    assert set(schema["$defs"]["ReferenceEntry"]["properties"]) == {"from", "to", "keep"}
    named = {word.partition('"')[0] for word in json.dumps(schema).split('"#/$defs/')[1:]}
    assert named <= set(schema["$defs"]), "every part that is referred to is there"


@pytest.mark.parametrize("page", ["how-to/several-tables.md", "reference/policy.md"])
def test_the_policies_on_the_pages_are_good(page: str, root: Path) -> None:
    text = (root / "docs" / page).read_text(encoding="utf-8")
    shown = re.findall(r'^```yaml title="([^"]*)"\n(.*?)^```$', text, re.MULTILINE | re.DOTALL)
    whole = [policy for title, policy in shown if not title.startswith("part of")]
    assert whole
    assert all(several(policy).tables for policy in whole)
    for title, part in shown:
        if title.startswith("part of"):
            assert several(GOOD.partition("references:")[0] + part).references
