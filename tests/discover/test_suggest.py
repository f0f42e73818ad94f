"""A suggested policy runs as it is and meets its k, whatever the table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.discover import profile
from shoal.discover.suggestion.policy_draft import Suggestion, suggest
from shoal.discover.suggestion.policy_yaml import comment, setting
from shoal.discover.table_links import LinkableTable, domains
from shoal.errors import DataError
from shoal.examples import hospital
from shoal.io.frames import source_at
from shoal.measurement.risk.equivalence_classes import Risk
from shoal.policy import PRESETS, Policy, UseCase
from shoal.release import anonymise
from shoal.schema import Role

pytestmark = pytest.mark.requirement("D-04", "G-02")
WITH_K = [case for case in UseCase if PRESETS[case].k is not None]


def suggested(frame: pl.DataFrame | pl.LazyFrame, use_case: UseCase = UseCase.EXTERNAL_SHARING) -> Suggestion:
    return suggest(profile(frame.lazy()), name="a table", use_case=use_case)


def released(frame: pl.DataFrame, found: Suggestion) -> tuple[pl.DataFrame, Risk, Policy]:
    policy = Policy.from_text(found.text)
    release = anonymise(frame, policy, seed=1)
    return release.data, release.risk, policy


def met(frame: pl.DataFrame, use_case: UseCase = UseCase.EXTERNAL_SHARING) -> tuple[Suggestion, pl.DataFrame]:
    """The suggestion and the release; k is counted again here, in people where somebody has several records."""
    found = suggested(frame, use_case)
    # In the order of the source, so that it can be seen here whose a record is.
    data, risk, policy = released(frame, replace(found, text=found.text.replace("shuffle_rows: true", "")))
    wanted = PRESETS[use_case].k
    assert wanted is None or not policy.quasi_identifiers or risk.k >= wanted
    if wanted is not None and policy.quasi_identifiers:
        counted = data.with_columns(
            frame[found.person].alias("__who") if found.person else pl.int_range(pl.len()).alias("__who")
        )
        quasi = [pl.col(name).cast(pl.String) for name in policy.quasi_identifiers]
        kept = counted.filter(~pl.all_horizontal(each == "*" for each in quasi))
        classes = kept.group_by(quasi).agg(pl.col("__who").n_unique())
        assert classes.is_empty() or classes["__who"].min() >= wanted
    return found, data


@pytest.fixture(scope="module")
def patients() -> pl.DataFrame:
    return hospital.table(people=400).cast(pl.String)


@pytest.mark.parametrize("use_case", list(UseCase))
def test_the_demo_runs_for_every_use_case(patients: pl.DataFrame, use_case: UseCase) -> None:
    _, data = met(patients, use_case)
    assert data.height == patients.height


def test_direct_identifiers_are_gone_and_what_the_study_is_about_stays(patients: pl.DataFrame) -> None:
    _, data = met(patients)
    assert not {"name", "aadhaar", "phone", "patient_id", "remarks"} & set(data.columns)
    assert {"diagnosis", "bill"} <= set(data.columns)
    kept = data["diagnosis"] != "*"
    assert kept.mean() > 0.5
    assert data.filter(kept)["diagnosis"].equals(patients.filter(kept)["diagnosis"])


def test_test_data_leaves_no_column_as_it_was(patients: pl.DataFrame) -> None:
    _, data = met(patients, UseCase.TEST_DATA)
    same = [name for name in data.columns if data[name].cast(pl.String).equals(patients[name])]
    assert same == []


def test_every_attribute_has_its_reason_as_a_comment(patients: pl.DataFrame) -> None:
    lines = suggested(patients).text.splitlines()
    begins = lines.index("attributes:") + 1
    attributes = lines[begins : lines.index("", begins)]
    assert all(
        attributes[at - 1].startswith("  # ") for at, line in enumerate(attributes) if not line.startswith("  #")
    )
    assert sum(not line.startswith("  #") for line in attributes) == patients.width


@pytest.mark.parametrize("table", ["patients", "encounters", "conditions"])
def test_synthea(table: str, shared: Path) -> None:
    frame = source_at(str(shared / "data" / "synthea" / f"{table}.csv")).scan().head(2_000).collect()
    found, _ = met(frame)
    assert found.person == (None if table == "patients" else "PATIENT"), "several records per person are seen"


def test_adult(shared: Path) -> None:
    met(source_at(str(shared / "data" / "adult" / "adult_subset.csv")).scan().collect())


def test_a_table_of_only_text() -> None:
    texts = [f"patient number {number} came in with a cough and left" for number in range(20)]
    frame = pl.DataFrame({"remarks": texts})
    _, data = met(frame)
    assert data.columns == ["remarks"]
    assert data.height == 20


@pytest.mark.parametrize(
    "values",
    [
        [f"K-{number}" for number in range(20)],
        ["Asha Rao", "Ravi Nair"] * 6,
        [str(20 + number % 50) for number in range(60)],
        ["same"] * 12,
        [None] * 12,
        ["2024-01-02", "2024-03-04"] * 6,
        ["03/04/2024", "05/06/2024"] * 6,
        ["1.5", "2.5"] * 6,
        ["10.1.2.3", "10.1.2.4", "not an address"] * 5,
    ],
)
@pytest.mark.parametrize("name", ["x", "name", "age"])
def test_one_column_of_anything(values: list[str | None], name: str) -> None:
    frame = pl.DataFrame({name: pl.Series(values, dtype=pl.String)})
    for use_case in UseCase:
        met(frame, use_case)


def test_nested_columns_are_taken_out() -> None:
    frame = pl.DataFrame({"age": list(range(20, 40)), "tags": [["a", "b"]] * 20, "home": [{"city": "Pune"}] * 20})
    _, data = met(frame)
    assert data.columns == ["age"]


def test_too_few_people_are_refused_before_a_policy_is_written() -> None:
    with pytest.raises(DataError, match="k = 5, and there are 3 people"):
        suggested(pl.DataFrame({"age": [1, 2, 3]}))


def test_a_person_who_is_not_there_is_refused() -> None:
    with pytest.raises(DataError, match="did you mean 'age'"):
        suggest(profile(pl.LazyFrame({"age": [1]})), name="x", use_case=UseCase.RETENTION, person="agee")


def test_records_of_one_person_are_counted_once() -> None:
    frame = pl.DataFrame(
        {"patient_id": [f"P{n // 10:03}" for n in range(200)], "ward": [f"W{n % 7}" for n in range(200)]}
    )
    found, _ = met(frame)
    assert found.person == "patient_id"
    assert "\nperson: patient_id" in found.text


def test_a_position_and_a_city_are_not_both_kept() -> None:
    cities = {"Pune": ("18.52", "411001"), "Agra": ("27.18", "282001")}
    chosen = ["Pune", "Agra"] * 30
    frame = pl.DataFrame({"city": chosen, "lat": [cities[c][0] for c in chosen], "zip": [cities[c][1] for c in chosen]})
    choices = suggested(frame).choices
    assert choices["lat"].suppressed
    assert choices["city"].suppressed
    assert not choices["zip"].suppressed, "a code can be generalised step by step"


def test_more_quasi_identifiers_than_anybody_can_hide_in() -> None:
    frame = pl.DataFrame({f"q{at}": [(n * (at + 3)) % (2 + at % 5) for n in range(300)] for at in range(30)})
    found, _ = met(frame.cast(pl.String))
    kept = [one for one in found.choices.values() if one.role is Role.QUASI and not one.suppressed]
    assert len(kept) <= 12


NAMES = st.text(min_size=1, max_size=12).filter(
    lambda name: name.strip() and name != "*" and not name.startswith("__shoal_")
)


@settings(max_examples=25)
@given(st.lists(NAMES, min_size=1, max_size=4, unique=True))
def test_whatever_columns_are_called_the_policy_can_be_read(names: list[str]) -> None:
    frame = pl.DataFrame({name: ["a", "b", "a", "b", "a", "b"] for name in names})
    policy = Policy.from_text(suggested(frame).text)
    assert list(policy.attributes) == names


@given(st.text())
def test_a_comment_is_one_line(text: str) -> None:
    assert len(comment(text).splitlines()) == 1
    assert comment(text).startswith("# ")


@given(st.recursive(st.text(max_size=8) | st.integers() | st.booleans(), lambda inner: st.lists(inner, max_size=3)))
def test_a_setting_can_be_read_back(value: object) -> None:
    from shoal.policy.yaml_tree import read_tree

    assert read_tree(f"x: {setting(value)}", source="x").data == {"x": value}


@pytest.mark.requirement("V-05")
def test_no_value_of_the_table_is_in_the_policy(patients: pl.DataFrame) -> None:
    text = suggested(patients).text
    for name in ("name", "aadhaar", "phone", "pin", "bill", "remarks", "occupation"):
        assert not [value for value in patients[name].drop_nulls().unique() if len(value) > 5 and value in text]


def test_keys_of_several_tables_get_one_domain() -> None:
    people = pl.DataFrame({"id": [f"A{n:05}" for n in range(30)], "age": range(30)})
    visits = pl.DataFrame({"visit_no": range(60), "person": [f"A{n % 30:05}" for n in range(60)]})
    other = pl.DataFrame({"id": [f"B{n:05}" for n in range(9)], "size": range(9)})
    frames = {"persons": people, "visits": visits, "houses": other}
    tables = {name: LinkableTable(profile(frame.lazy()), frame.lazy()) for name, frame in frames.items()}
    assert domains(tables) == {"persons": {"id": "persons"}, "visits": {"person": "persons"}, "houses": {}}
    assert domains(tables, [(("visits", "visit_no"), ("houses", "size"))])["visits"]["visit_no"] == "houses"


def test_a_code_is_as_sensitive_as_the_words_that_tell_it() -> None:
    """Some codes have two wordings, so each wording tells its code and not the other way round."""
    ills = ["Asthma (disorder)", "Mild asthma (disorder)", "Gout (disorder)", "Fracture of arm (disorder)"] * 40
    codes = {"Asthma (disorder)": 1, "Mild asthma (disorder)": 1, "Gout (disorder)": 2, "Fracture of arm (disorder)": 3}
    towns = ["Agra", "Pune", "Kochi", "Surat", "Thane"] * 32
    table = pl.LazyFrame({"code": [f"C{codes[ill]}" for ill in ills], "words": ills, "town": towns})
    chosen = suggest(profile(table), name="ills", use_case=UseCase.EXTERNAL_SHARING).choices
    assert chosen["words"].role is Role.SENSITIVE
    assert chosen["code"].role is Role.SENSITIVE
    assert chosen["town"].role is Role.QUASI
