"""Schemas from policies and from names, without a value of the data."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from shoal.examples import hospital
from shoal.policy import Policy
from shoal.randomness import Randomness
from shoal.synth.test_data import rows_of
from shoal.synth.test_data.derivation import schema_of_names, schema_of_policy

pytestmark = pytest.mark.requirement("T-25")


def _policy(attributes: dict[str, object], folder: Path = Path()) -> Policy:
    policy = Policy.of({"shoal": 1, "name": "test", "source": "nowhere.csv", "attributes": attributes})
    return policy.placed(policy.text, folder)


def _keys(attributes: dict[str, object]) -> dict[str, str]:
    return {name: column.generator.key for name, column in schema_of_policy(_policy(attributes)).schema.columns.items()}


def test_the_policy_of_the_example_gives_a_table_of_its_columns(tmp_path: Path) -> None:
    """The table that it names is nowhere to be found."""
    path = tmp_path / "hospital.yaml"
    path.write_text(hospital.policy(), encoding="utf-8")
    derived = schema_of_policy(Policy.load(path))
    made = next(rows_of(derived.schema, 1_000, Randomness(seed=7)))
    assert set(made.columns) == set(hospital.table(50).columns)
    assert derived.reasons.keys() == derived.schema.columns.keys()
    assert made["age"].is_between(0, 84).all()
    assert "Mason" in made["occupation"].to_list()
    assert made["admitted"].dtype == pl.Date
    assert made["patient_id"].str.starts_with("TEST-").all()


def test_what_a_policy_tells(tmp_path: Path) -> None:
    (tmp_path / "grades.csv").write_text("low;any\nmiddle;any\nhigh;any\n", encoding="utf-8")
    attributes: dict[str, object] = {
        "grade": {"role": "quasi", "hierarchy": {"csv": "grades.csv"}},
        "stage": {"role": "quasi", "hierarchy": {"order": {"order": ["I", "II", "III", "IV"], "sizes": [2]}}},
        "weight": {"role": "quasi", "hierarchy": {"intervals": {"widths": [10, 20], "low": 40, "high": 120}}},
        "dose": {"role": "quasi", "hierarchy": {"intervals": {"widths": [0.5], "origin": 1}}},
        "seen": {"role": "quasi", "hierarchy": "dates", "format": "%d.%m.%Y"},
        "home": {"role": "quasi", "hierarchy": {"classification": "india-pin"}},
        "spent": {"role": "insensitive", "technique": {"code": {"bottom": 10, "top": 500}}},
        "drift": {"role": "insensitive", "technique": {"noise": {"laplace": {"scale": 1}, "bounds": [-5, 5]}}},
        "left": {"role": "insensitive", "type": "date"},
        "cured": {"role": "insensitive", "type": "boolean"},
        "strange": {"role": "direct"},
        "stranger": {"role": "insensitive"},
        "*": "suppress",
    }
    derived = schema_of_policy(_policy(attributes, tmp_path), rows=500)
    made = next(rows_of(derived.schema, 500, Randomness(seed=7)))
    assert set(made["grade"]) == {"low", "middle", "high"}
    assert set(made["stage"]) == {"I", "II", "III", "IV"}
    assert (made["weight"].min(), made["weight"].max()) == (30, 129)
    assert made["dose"].is_between(1, 2).all()
    assert made["seen"].str.contains(r"^\d\d\.\d\d\.\d{4}$").all()
    assert made["home"].str.contains("^[1-8][0-9]{5}$").all()
    assert made["spent"].is_between(10, 499).all()
    assert made["drift"].is_between(-5, 4).all()
    assert made.schema["left"] == pl.Date
    assert made.schema["cured"] == pl.Boolean
    assert made["strange"].str.starts_with("TEST-").all()
    assert derived.reasons["stranger"] == "nothing tells what it holds"
    assert "*" not in made.columns
    assert derived.schema.rows == 500


def test_names_tell_what_columns_hold() -> None:
    expected = {
        "AadhaarNo": "aadhaar", "PAN": "pan", "gstin": "gstin", "voter_id": "voter_id", "Passport No": "passport",
        "ifsc": "ifsc", "upi_id": "upi", "pincode": "pin_code", "nric": "nric", "FIN": "fin",
        "postal_code": "postal_code",
        "mobile": "phone", "card_number": "card", "iban": "iban", "email": "email", "username": "user_name",
        "patient name": "name", "address": "address", "town": "city", "date_of_birth": "date", "age": "integer",
        "sex": "category", "salary": "decimal", "ip_address": "ipv4", "mac": "mac", "uuid": "uuid",
        "order_id": "pattern", "created_at": "datetime", "flux": "words",
    }  # fmt: skip
    derived = schema_of_names(expected)
    assert {name: column.generator.key for name, column in derived.schema.columns.items()} == expected
    assert len(next(rows_of(derived.schema, 10, Randomness(seed=7)))) == 10


def test_parts_of_names_are_told_apart() -> None:
    schema = schema_of_names(["first_name", "LastName", "name"]).schema
    assert [column.generator.part for column in schema.columns.values()] == ["given", "family", "full"]


def test_a_direct_identifier_without_a_generator_is_marked() -> None:
    derived = schema_of_names(["ssn"])
    assert derived.reasons["ssn"].endswith("for which there is no generator")
    assert next(rows_of(derived.schema, 5, Randomness(seed=7)))["ssn"].str.starts_with("TEST-").all()


def test_a_hierarchy_tells_more_than_a_name() -> None:
    assert _keys({"sex": {"role": "quasi", "hierarchy": {"taxonomy": {"tree": ["f", "m", "x"]}}}}) == {
        "sex": "category"
    }
    assert _keys({"age": {"role": "quasi", "hierarchy": {"redact": {"side": "right"}}}}) == {"age": "integer"}
