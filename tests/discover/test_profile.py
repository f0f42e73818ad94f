"""A profile tells what a table holds and what to do about it, and never shows a value of it."""

from __future__ import annotations

import datetime
import json
from dataclasses import replace

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.discover import ColumnProfile, profile
from shoal.discover.value_shapes import common_shapes, shape_of
from shoal.errors import DataError
from shoal.examples import hospital
from shoal.policy.model import Attribute
from shoal.schema import Role, ValueType

pytestmark = pytest.mark.requirement("D-04")


def only(values: list[str | None] | pl.Series, name: str = "x") -> ColumnProfile:
    series = values if isinstance(values, pl.Series) else pl.Series(values, dtype=pl.String)
    return profile(pl.LazyFrame({name: series})).columns[0]


@pytest.fixture(scope="module")
def patients() -> dict[str, ColumnProfile]:
    table = hospital.table(people=800)
    return {column.name: column for column in profile(table.cast(pl.String).lazy()).columns}


@pytest.mark.parametrize(
    ("name", "recognised", "role", "type_"),
    [
        ("patient_id", None, Role.DIRECT, ValueType.TEXT),
        ("name", "name", Role.DIRECT, ValueType.TEXT),
        ("aadhaar", "aadhaar", Role.DIRECT, ValueType.TEXT),
        ("phone", "phone", Role.DIRECT, ValueType.TEXT),
        ("age", "age", Role.QUASI, ValueType.INTEGER),
        ("sex", "sex", Role.QUASI, ValueType.TEXT),
        ("pin", "pin_code", Role.QUASI, ValueType.INTEGER),
        ("city", "place", Role.QUASI, ValueType.TEXT),
        ("occupation", "occupation", Role.QUASI, ValueType.TEXT),
        ("admitted", None, Role.QUASI, ValueType.DATE),
        ("diagnosis", "health", Role.SENSITIVE, ValueType.TEXT),
        ("bill", "money", Role.SENSITIVE, ValueType.DECIMAL),
        ("remarks", None, Role.DIRECT, ValueType.TEXT),
    ],
)
def test_the_hospital_is_seen_for_what_it_is(
    patients: dict[str, ColumnProfile], name: str, recognised: str | None, role: Role, type_: ValueType
) -> None:
    found = patients[name]
    assert (found.identifier.recogniser.type if found.identifier else None) == recognised
    assert (found.proposal.role, found.column.type) == (role, type_)


def test_what_is_proposed_can_stand_in_a_policy(patients: dict[str, ColumnProfile]) -> None:
    for found in patients.values():
        told = found.to_dict()
        given = {key: told[key] for key in ("role", "technique", "hierarchy") if told[key] is not None}
        assert Attribute.model_validate(given).role is found.proposal.role


def test_every_proposal_gives_reasons(patients: dict[str, ColumnProfile]) -> None:
    assert "check digit included" in patients["aadhaar"].proposal.reasons[0]
    assert "every record seen has a value of its own" in patients["patient_id"].proposal.reasons
    assert all(found.proposal.reasons for found in patients.values())


PASSPORTS = {
    "United States": ["A12345678", "B20481632", "512345678"],
    "India": ["M1234567", "P7654321", "S2040813"],
    "Germany": ["C01X00T47", "CFGHJ1230", "L01X00T48"],
    "United Kingdom": ["123456789", "987654321", "204081632"],
    "Japan": ["TK1234567", "TR7654321", "TZ2040816"],
    "Spain": ["PAB123456", "XDD098765", "AAA204081"],
}


@pytest.mark.parametrize("name", ["passport", "PASSPORT_NO", "Pasaporte", "traveldocument passport"])
@pytest.mark.parametrize("country", PASSPORTS)
def test_a_passport_is_no_countrys(country: str, name: str) -> None:
    found = only(list[str | None](PASSPORTS[country]), name)
    assert (found.proposal.role, found.proposal.technique) == (Role.DIRECT, "suppress")
    assert "a passport number" in found.proposal.reasons[0]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("driving_licence", "a driving licence number"),
        ("vehicle no", "a vehicle's number"),
        ("voter id", "a voter's card number"),
    ],
)
def test_a_name_alone_tells_no_country(name: str, kind: str) -> None:
    values = [f"{letter}/{number}-?" for letter in "ABC" for number in range(1000, 1010)]
    assert only(list[str | None](values), name).proposal.reasons[0].startswith(f"its name says that it holds {kind},")


def test_what_is_said_of_a_passport_is_none() -> None:
    found = only(["GERMANY", "SINGAPORE", "GERMANY"] * 10, "passport_country")
    assert found.identifier is None or found.identifier.recogniser.type != "passport"


@pytest.mark.parametrize(
    ("name", "values", "recognised", "role"),
    [
        ("BIRTHDATE", ["1962-03-11", "1987-02-01", "1990-12-31"], "birth_date", Role.QUASI),
        ("MARITAL", ["M", "S", "M"], "group", Role.QUASI),
        ("salary-class", ["<=50K", ">50K", "<=50K"], "money", Role.SENSITIVE),
        ("voter", ["WKH1186253"], "voter_id", Role.DIRECT),
    ],
)
def test_short_names_of_columns_tell(name: str, values: list[str | None], recognised: str, role: Role) -> None:
    found = only(values, name)
    assert found.identifier is not None
    assert (found.identifier.recogniser.type, found.proposal.role) == (recognised, role)


def test_uniqueness_missing_and_distinct_values() -> None:
    found = only(["a", "a", "b", "c", None])
    assert (found.spread.values, found.spread.distinct, found.spread.uniqueness) == (4, 3, 0.5)
    assert found.missing == 0.2


@pytest.mark.parametrize(
    ("values", "role", "reason"),
    [
        ([None, None], Role.INSENSITIVE, "no two records differ"),
        (["same", "same"], Role.INSENSITIVE, "no two records differ"),
        (["same", "same", None], Role.QUASI, "nothing says"),
        ([], Role.INSENSITIVE, "no two records differ"),
        ([f"K-{n}" for n in range(20)], Role.DIRECT, "works like a name"),
        ([f"K-{n}" for n in range(5)], Role.QUASI, "nothing says"),
        (["seen at the new clinic", "went home after a week"], Role.DIRECT, "free text"),
        (["03/04/2024", "05/06/2024"], Role.QUASI, "declare the format, %d/%m/%Y or %m/%d/%Y"),
        (["2024-03-04", "2024-03-05"], Role.QUASI, "on a day"),
        (["1.5", "2.5"], Role.SENSITIVE, "measured amount"),
    ],
)
def test_columns_that_nobody_recognises(values: list[str | None], role: Role, reason: str) -> None:
    proposal = only(values).proposal
    assert proposal.role is role
    assert reason in "; ".join(proposal.reasons)


def test_a_name_is_believed_where_the_values_do_not_fit() -> None:
    proposal = only(["masked", "masked 2"], "aadhaar_no").proposal
    assert (proposal.role, proposal.technique) == (Role.DIRECT, "suppress")
    assert "few values have that form" in proposal.reasons[0]


@pytest.mark.parametrize(
    "series",
    [
        pl.Series([[1, 2], [3]]),
        pl.Series([{"a": 1}, {"a": 2}]),
        pl.Series([b"\xff\xfe", b"abcd"]),
        pl.Series([datetime.timedelta(days=1), datetime.timedelta(days=2)]),
    ],
)
def test_what_can_not_be_looked_into_is_taken_out(series: pl.Series) -> None:
    proposal = only(series).proposal
    assert (proposal.role, proposal.technique) == (Role.DIRECT, "suppress")


def test_typed_columns_need_no_text() -> None:
    table = pl.LazyFrame({"age": [34, 41], "seen": [datetime.date(2024, 1, 2), None], "lat": [18.5, 18.25]})
    found = {column.name: column for column in profile(table).columns}
    assert found["age"].proposal.hierarchy == {"intervals": {"widths": [5, 10, 20, 40]}}
    assert found["seen"].proposal.hierarchy == "dates"
    assert found["lat"].identifier
    assert found["lat"].identifier.recogniser.type == "latitude"


@pytest.mark.parametrize(("sample", "seen"), [(None, 100), (100, 100), (1000, 100), (30, 25), (50, 50), (1, 1)])
def test_a_sample_is_spread_over_the_table_and_owned_up_to(sample: int | None, seen: int) -> None:
    table = pl.LazyFrame({"x": [str(n) for n in range(99)] + ["1.5"]})
    found = profile(table, sample=sample)
    assert (found.rows, found.rows_seen, found.sampled) == (100, seen, seen < 100)
    assert found.columns[0].spread.values == seen
    assert found.columns[0].column.type is ValueType.DECIMAL, "types come from all records, sampled or not"


def test_a_value_that_the_sample_missed_is_not_taken_for_harmless() -> None:
    table = pl.LazyFrame({"x": pl.Series([None, "secret", None, None], dtype=pl.String)})
    assert profile(table, sample=2).columns[0].proposal.role is Role.DIRECT
    table = pl.LazyFrame({"x": ["same", "other", "same", "same"]})
    assert profile(table, sample=2).columns[0].proposal.role is Role.QUASI


def test_a_sample_of_nothing_is_refused() -> None:
    with pytest.raises(DataError, match="sample of 0"):
        profile(pl.LazyFrame({"x": ["a"]}), sample=0)


def test_a_table_without_columns() -> None:
    nothing: dict[str, list[object]] = {"columns": [], "nested": [], "inferences": []}
    assert (
        profile(pl.LazyFrame()).to_dict() == {"rows": 0, "rows_seen": 0, "rows_compared": 0, "sampled": False} | nothing
    )


def test_json_has_plain_types_only(patients: dict[str, ColumnProfile]) -> None:
    table = profile(hospital.table(people=60).lazy())
    told = table.to_dict()
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert set(patients["aadhaar"].to_dict()) == {
        "name",
        "type",
        "kind",
        "date_format",
        "missing",
        "distinct",
        "uniqueness",
        "shapes",
        "recognised",
        "recognised_share",
        "confidence",
        "mentions",
        "role",
        "technique",
        "hierarchy",
        "reason",
    }


@pytest.mark.parametrize(
    ("value", "shape"),
    [
        ("Asha 12", "Aaaa 99"),
        ("B-7/c", "A-9/a"),
        ("Élan ß", "Aaaa a"),
        ("आशा ७", "aaa 9"),
        ("tab\there ☂", "aaa?aaaa ?"),
        ("a" * 30, "a" * 24 + "…"),
        ("", ""),
    ],
)
def test_shapes_keep_the_form_and_hide_the_letters(value: str, shape: str) -> None:
    assert pl.select(shape_of(pl.lit(value))).item() == shape


def test_the_commonest_shapes_come_first() -> None:
    shapes = common_shapes(pl.Series(["a1", "b2", "AB", "a", "1", "?"]))
    assert [(shape.form, round(shape.share, 2)) for shape in shapes] == [("a9", 0.33), ("9", 0.17), ("?", 0.17)]


CELL = st.one_of(
    st.none(),
    st.text(alphabet="qxzjQXZJ०é", min_size=4, max_size=12),
    st.text(alphabet="qxzj@.-/ 0123456789", min_size=4, max_size=20),
    st.integers(10**5, 10**20).map(str),
    st.floats(1e4, 1e9).map(lambda number: f"{number:.4f}"),
    st.dates(datetime.date(1900, 1, 1)).map(str),
)
NAMES = st.sampled_from(["a", "name", "aadhaar", "email", "lat", "bill", "dob"])


@pytest.mark.requirement("V-05")
@settings(max_examples=80, deadline=None)
@given(name=NAMES, cells=st.lists(CELL, min_size=1, max_size=12), sample=st.sampled_from([None, 2, 100]))
def test_no_value_of_the_table_is_in_its_profile(name: str, cells: list[str | None], sample: int | None) -> None:
    found = profile(pl.LazyFrame({name: pl.Series(cells, dtype=pl.String)}), sample=sample)
    told = found.to_dict()
    columns = [{key: value for key, value in column.to_dict().items() if key != "shapes"} for column in found.columns]
    bare = replace(found, columns=tuple(replace(column, shapes=()) for column in found.columns))
    shown = json.dumps({**told, "columns": columns}, ensure_ascii=False) + repr(bare)
    assert not [cell for cell in cells if cell and len(cell.strip(" .-/@")) >= 4 and cell in shown]


@pytest.mark.requirement("V-05")
@settings(max_examples=60)
@given(st.text(alphabet=st.characters(categories=["Lu", "Ll", "Lo", "Nd"]), min_size=4))
def test_no_letter_or_digit_is_in_a_shape(value: str) -> None:
    form = common_shapes(pl.Series([value]))[0].form
    assert set(form) <= set("Aa9…")
