"""The bundled hospital: the same for everybody, lifelike, and nobody's."""

from __future__ import annotations

import datetime
from pathlib import Path

import polars as pl
import pytest
from stdnum import verhoeff
from stdnum.in_ import aadhaar

from shoal.discover.recognisers import default_recognisers
from shoal.errors import DataError
from shoal.examples import hospital
from shoal.examples.demography import CITIES, ILLNESSES
from shoal.examples.names import COMMUNITIES
from shoal.policy import Policy
from shoal.schema import Role, ValueType
from shoal.schema.type_detection import detect


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    return hospital.table()


def test_it_has_the_columns_it_says(table: pl.DataFrame) -> None:
    assert table.height == hospital.PEOPLE == 5_000
    assert dict(table.schema) == hospital.SCHEMA
    missing = {name: count for name, count in table.null_count().row(0, named=True).items() if count}
    assert set(missing) == {"phone", "remarks"}


def test_the_same_seed_gives_the_same_table_and_another_one_another(table: pl.DataFrame) -> None:
    assert hospital.table().equals(table)
    assert not hospital.table(people=20, seed=2).equals(table.head(20))


def test_a_shorter_table_is_the_beginning_of_a_longer_one(table: pl.DataFrame) -> None:
    assert hospital.table(people=50).equals(table.head(50))
    empty = hospital.table(people=0)
    assert (empty.height, dict(empty.schema)) == (0, hospital.SCHEMA)


def test_fewer_than_nobody_is_refused() -> None:
    with pytest.raises(DataError, match="-1 people"):
        hospital.table(people=-1)


def test_aadhaar_numbers_have_check_digits_but_can_not_be_real(table: pl.DataFrame) -> None:
    numbers = table["aadhaar"]
    assert numbers.n_unique() == table.height
    assert numbers.str.contains(r"^[01][0-9]{3} [0-9]{4} [0-9]{4}$").all()
    assert all(verhoeff.is_valid(number.replace(" ", "")) for number in numbers)
    assert not any(aadhaar.is_valid(number) for number in numbers)
    assert set(numbers.str.head(1)) == {"0", "1"}


def test_phone_numbers_can_not_be_dialled(table: pl.DataFrame) -> None:
    assert table["phone"].drop_nulls().str.contains(r"^\+91 0[6-9][0-9]{3} [0-9]{5}$").all()


def test_people_have_one_patient_number_each(table: pl.DataFrame) -> None:
    assert table["patient_id"].n_unique() == table.height
    assert table["patient_id"].str.contains(r"^P[0-9]{7}$").all()
    assert not table["patient_id"].is_sorted()


def test_names_come_from_many_communities(table: pl.DataFrame) -> None:
    first = {name for community in COMMUNITIES for name in community.women + community.men}
    surnames = {name for community in COMMUNITIES for name in community.surnames}
    assert len(first) >= 150
    assert len(surnames) >= 145
    parts = table["name"].str.split_exact(" ", 1).struct.unnest()
    assert set(parts["field_0"]) == first
    assert set(parts["field_1"]) <= surnames
    assert table["name"].n_unique() > 1_500


def test_pin_codes_belong_to_their_city(table: pl.DataFrame) -> None:
    areas = {city.name: city.area for city in CITIES}
    assert table["pin"].str.contains(r"^[1-9][0-9]{5}$").all()
    assert (table["pin"].str.head(3) == table["city"].replace_strict(areas)).all()


def test_age_work_and_illness_go_together(table: pl.DataFrame) -> None:
    assert table["age"].is_between(0, 98).all()
    old, young = table.filter(pl.col("age") >= 65), table.filter(pl.col("age").is_between(18, 39))
    assert (old["occupation"] == "Retired").sum() > 0.7 * old.height
    assert not (young["occupation"] == "Retired").any()
    assert (table.filter(pl.col("age") < 6)["occupation"] == "Child").all()
    assert (old["diagnosis"] == "Cataract").sum() > 5 * (young["diagnosis"] == "Cataract").sum()
    births = table.filter(diagnosis="Childbirth")
    assert set(births["sex"]) == {"F"}
    assert births["age"].is_between(20, 39).all()


def test_diagnoses_are_skewed(table: pl.DataFrame) -> None:
    counts = table["diagnosis"].value_counts(sort=True)["count"]
    assert len(counts) == len(ILLNESSES)
    assert counts[0] > 15 * counts[-1]


def test_monsoon_illnesses_come_with_the_monsoon(table: pl.DataFrame) -> None:
    assert table["admitted"].is_between(datetime.date(2025, 1, 1), datetime.date(2025, 12, 31)).all()
    dengue = table.filter(diagnosis="Dengue")["admitted"].dt.month().is_between(6, 10)
    assert dengue.sum() > 0.8 * len(dengue)


def test_bills_follow_the_illness(table: pl.DataFrame) -> None:
    assert (table["bill"] > 0).all()
    medians = dict(table.group_by("diagnosis").agg(pl.col("bill").cast(float).median()).iter_rows())
    for illness in ILLNESSES:
        assert medians[illness.name] == pytest.approx(illness.cost, rel=0.35)


def test_remarks_give_away_what_the_other_columns_hide(table: pl.DataFrame) -> None:
    told = table.drop_nulls("remarks")
    assert told["remarks"].str.contains(r"\bDr [A-Z]").sum() > 0.4 * told.height
    assert told.select(pl.col("remarks").str.contains(pl.col("city"), literal=True).sum()).item() > 0.2 * told.height
    assert told.select(pl.col("remarks").str.contains(pl.col("pin"), literal=True).sum()).item() > 0.05 * told.height
    assert not told["remarks"].str.contains("[{}]").any()


def test_the_file_reads_back_with_the_types_it_was_written_with(tmp_path: Path, table: pl.DataFrame) -> None:
    path = tmp_path / "hospital.csv"
    hospital.write(path)
    read = pl.scan_csv(path, infer_schema=False)
    assert read.collect().equals(table.cast(pl.String))
    columns = detect(read, table.columns)
    assert columns["age"].type is ValueType.INTEGER
    assert (columns["bill"].type, columns["bill"].scale) == (ValueType.DECIMAL, 2)
    assert columns["admitted"].date_format == "%Y-%m-%d"


def test_the_policy_names_every_column_and_no_other(table: pl.DataFrame) -> None:
    policy = Policy.from_text(hospital.policy())
    assert set(policy.attributes) == set(table.columns)
    assert policy.quasi_identifiers == ("age", "sex", "city", "occupation", "admitted")
    assert policy.person == "patient_id"


def test_the_policy_treats_as_direct_what_is_recognised_as_direct(table: pl.DataFrame) -> None:
    policy = Policy.from_text(hospital.policy())
    direct = [each for each in default_recognisers() if each.role is Role.DIRECT]
    named = {name for name in table.columns if any(each.hinted(name) for each in direct)}
    assert named == {"name", "aadhaar", "phone"}
    assert all(policy.attributes[name].role is Role.DIRECT for name in named)


def test_the_policy_knows_every_occupation(table: pl.DataFrame) -> None:
    hierarchy = Policy.from_text(hospital.policy()).attributes["occupation"].hierarchy
    assert hierarchy
    column = detect(table.lazy(), ["occupation"])["occupation"]
    distinct = table["occupation"].value_counts().rename({"occupation": "value", "count": "records"})
    bound = hierarchy.bind(column, distinct)
    assert set(bound.generalise(table["occupation"], 2)) == {"In paid work", "Not in paid work"}
