"""Safe Harbor finds the identifiers it can, and never claims more than that it found none."""

from __future__ import annotations

import datetime
import json

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.discover import profile
from shoal.discover.safe_harbor import LIMITS, RESTRICTED_AREAS, SafeHarbor, check_safe_harbor
from shoal.errors import InputError
from shoal.examples import hospital

pytestmark = pytest.mark.requirement("R-03")


def letters(found: SafeHarbor) -> dict[str, tuple[str, ...]]:
    return {
        finding.letter: tuple(held.column for held in finding.columns) for finding in found.findings if finding.columns
    }


def check(**columns: object) -> dict[str, tuple[str, ...]]:
    return letters(check_safe_harbor(pl.DataFrame(columns)))


CODES = [f"{number:06d}" for number in range(100_000, 100_012)]
EXAMPLES = {
    "A": ("patient_name", ["Asha Rao", "Vijay Kumar"]),
    "B": ("city", ["Boston", "Salem"]),
    "C": ("admitted", ["2024-03-01", "2023-12-24"]),
    "D": ("phone", ["+1 617 555 0100", "+1 617 555 0101"]),
    "E": ("fax_no", ["+1 617 555 0102", "+1 617 555 0103"]),
    "F": ("contact_mail", ["a@example.org", "b@example.org"]),
    "G": ("number", ["078-05-1120", "219-09-9999"]),
    "H": ("mrn", ["12", "13"]),
    "I": ("medicare_id", ["1EG4", "1EG5"]),
    "J": ("account_no", ["8000123", "8000124"]),
    "K": ("driving_license", ["S123", "S124"]),
    "L": ("license plate", ["7ABC123", "7ABC124"]),
    "M": ("device_serial", ["SN1", "SN2"]),
    "N": ("page", ["https://example.org/a", "https://example.org/b"]),
    "O": ("seen_from", ["192.0.2.1", "192.0.2.2"]),
    "P": ("fingerprint", ["aa01", "aa02"]),
    "Q": ("photo", ["one.jpg", "two.jpg"]),
    "R": ("code", CODES),
}


@pytest.mark.parametrize("letter", EXAMPLES)
def test_each_of_the_eighteen_is_found_under_its_letter(letter: str) -> None:
    name, values = EXAMPLES[letter]
    assert check(**{name: values}) == {letter: (name,)}


def test_all_eighteen_are_answered_in_the_order_of_the_rule() -> None:
    found = check_safe_harbor(pl.DataFrame({"sex": ["F", "M"] * 20}))
    assert "".join(finding.letter for finding in found.findings) == "ABCDEFGHIJKLMNOPQR"


def test_what_is_allowed_is_not_found_and_none_found_is_all_that_is_said() -> None:
    table = pl.DataFrame(
        {
            "sex": ["F", "M"] * 20,
            "age": ["34", "90+"] * 20,
            "zip": ["021**", "000**"] * 20,
            "state": ["Ohio", "Utah"] * 20,
            "birth_year": [1960, 1971] * 20,
            "visit_date": ["2023", "2024"] * 20,
            "name": ["*", None] * 20,
            "diagnosis": ["flu", "asthma"] * 20,
        }
    )
    found = check_safe_harbor(table)
    assert (found.met, letters(found)) == (True, {})
    assert found.words == ("None of the 18 identifiers was found.", *LIMITS)
    assert any("actually knows" in limit for limit in found.limits)
    assert "safe harbor is met" not in " ".join(found.words).lower()


@pytest.mark.parametrize(
    "column",
    [
        pl.Series("x", [datetime.date(2024, 1, 2)] * 2),
        pl.Series("x", [datetime.datetime(2024, 1, 2, 3, tzinfo=datetime.UTC)] * 2),
        pl.Series("x", ["2024-01-02", "2023-05-06"]),
        pl.Series("x", ["01/02/2024", "03/04/2024"]),
        pl.Series("birth_month", [1, 12]),
        pl.Series("admission_date", ["2024-05", "2024-06"]),
        pl.Series("admission_date", ["May 2024", "June 2024"]),
    ],
    ids=["date", "datetime", "text", "ambiguous", "month", "year-month", "words"],
)
def test_dates_finer_than_a_year_are_found(column: pl.Series) -> None:
    assert letters(check_safe_harbor(column.to_frame())) == {"C": (column.name,)}


@pytest.mark.parametrize(
    ("age", "found"),
    [
        ("89", False),
        ("90", True),
        ("97", True),
        ("90+", False),
        ("≥ 90", False),
        ("> 89", False),
        ("90 or older", False),
        ("95+", True),
        ("[85, 90)", False),
        ("90-94", True),
        ("80-120", False),
        ("89.5", True),
        ("*", False),
    ],
)
def test_ages_over_89_may_only_be_one_class(age: str, found: bool) -> None:
    assert check(age_group=["34", "41", age]) == ({"C": ("age_group",)} if found else {})


@given(st.lists(st.integers(0, 130), min_size=1, max_size=30))
def test_whole_ages_are_counted_over_all_records(ages: list[int]) -> None:
    found = check_safe_harbor(pl.DataFrame({"age": ages}))
    over = sum(age > 89 for age in ages)
    whys = [held.why for finding in found.findings if finding.letter == "C" for held in finding.columns]
    assert whys == ([f"{over:,} value(s) are ages over 89 that are not one class of 90 or older"] if over else [])


def test_years_of_birth_tell_ages_if_the_year_is_known() -> None:
    table = pl.DataFrame({"birth_year": [1990, 1930, 1935]})
    assert letters(check_safe_harbor(table)) == {}
    found = check_safe_harbor(table, year=2024)
    assert "1 value(s) are years that tell an age over 89" in found.words[1]
    assert letters(check_safe_harbor(table, year=2019)) == {}


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("021", False),
        ("021xx", False),
        ("02139", True),
        ("0213*", True),
        ("02139-1234", True),
        ("560001", True),
        ("036", True),
        ("893**", True),
        ("000", False),
        ("*", False),
    ],
)
def test_postal_codes_keep_three_digits_of_large_areas(code: str, found: bool) -> None:
    assert check(zip=["021", "945", code]) == ({"B": ("zip",)} if found else {})


def test_small_areas_are_known_without_their_leading_zeros_too() -> None:
    assert len(set(RESTRICTED_AREAS)) == 17
    assert check(zip=[36, 945]) == {"B": ("zip",)}


def test_the_hospital_holds_what_it_holds() -> None:
    table = hospital.table(people=300).cast(pl.String)
    assert letters(check_safe_harbor(table)) == {
        "A": ("name",),
        "B": ("city", "pin"),
        "C": ("admitted", "age"),
        "D": ("phone",),
        "H": ("patient_id",),
        "R": ("aadhaar", "remarks"),
    }


def test_no_value_is_shown_and_the_profile_is_taken_as_given() -> None:
    table = pl.DataFrame({"name": ["Marked Secret", "Other Person"], "zip": ["02139", "03601"], "age": [97, 3]})
    found = check_safe_harbor(table, profile(table.lazy()))
    said = json.dumps(found.to_dict()) + " ".join(found.words)
    assert not any(str(value) in said for row in table.rows() for value in row[:2])
    assert found.words[0] == "3 of the 18 identifiers were found."


def test_a_sample_is_said_to_be_one_but_ages_are_counted_everywhere() -> None:
    table = pl.DataFrame({"age": [30, 95] * 50})
    found = check_safe_harbor(table, profile(table.lazy(), sample=10))
    assert found.limits[0] == "Forms were looked at in 10 of 100 records."
    assert "50 value(s)" in found.words[1]


def test_edges_of_tables() -> None:
    assert check_safe_harbor(pl.DataFrame(schema={"name": pl.String, "age": pl.Int64})).met
    assert check_safe_harbor(pl.DataFrame({"name": [None, None]})).met
    assert check(blob=pl.Series([b"1", b"2"])) == {"R": ("blob",)}
    with pytest.raises(InputError, match=r"'names'.*did you mean 'name'"):
        check_safe_harbor(pl.DataFrame({"name": ["x"]}), profile(pl.LazyFrame({"names": ["x"]})))
