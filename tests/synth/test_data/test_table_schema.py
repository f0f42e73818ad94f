"""Schemas: every problem at once, with its line and what was probably meant; any valid schema gives its rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.errors import PolicyError
from shoal.randomness import Randomness
from shoal.synth.test_data import TableSchema, rows_of

pytestmark = pytest.mark.requirement("T-25")

_NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12)


def _keys(key: str, **parameters: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=parameters).map(lambda given: {key: given})


_PLAIN: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    ["uuid", "ipv4", "ipv6", "boolean", "user_name", "ifsc", "iban", "city"]
).map(lambda key: {key: {}})
_GENERATORS = st.one_of(
    _PLAIN,
    _keys("aadhaar", check=st.sampled_from(["valid", "wrong"])),
    _keys("pan", holder=st.sampled_from("PCX"), may_coincide=st.booleans()),
    _keys("gstin", holder=st.sampled_from("PX"), may_coincide=st.booleans()),
    _keys("fin", prefix=st.sampled_from("FGM"), may_coincide=st.booleans()),
    _keys("phone", country=st.sampled_from(["none", "AU", "GB", "IN", "SG", "US"])),
    _keys("card", kind=st.sampled_from(["no_issuer", "published"]), brand=st.sampled_from(["any", "visa"])),
    _keys("address", country=st.sampled_from(["IN", "SG", "US"])),
    _keys(
        "name",
        cultures=st.lists(st.sampled_from(["indian", "western", "malay_singaporean"]), min_size=1, max_size=3),
        part=st.sampled_from(["full", "given", "family"]),
    ),
    _keys("words", count=st.integers(1, 9)),
    st.lists(_NAMES, min_size=1, max_size=5, unique=True).map(lambda values: {"category": {"values": values}}),
    st.text("AB#?-/ ", min_size=1, max_size=12).map(lambda text: {"pattern": {"text": text}}),
)
_COLUMNS = st.dictionaries(
    _NAMES,
    st.tuples(_GENERATORS, st.floats(0, 1)).map(lambda pair: {**pair[0], "missing": pair[1]}),
    min_size=1,
    max_size=5,
)


@given(columns=_COLUMNS, rows=st.integers(0, 40), batch=st.integers(1, 45), seed=st.integers(0, 2**32))
@settings(max_examples=80, deadline=None)
def test_any_schema_gives_its_rows(columns: dict[str, Any], rows: int, batch: int, seed: int) -> None:
    schema = TableSchema.model_validate({"shoal": 1, "columns": columns})
    made = pl.concat(rows_of(schema, rows, Randomness(seed=seed), batch))
    assert made.columns == list(columns)
    assert len(made) == rows
    assert made.equals(pl.concat(rows_of(schema, rows, Randomness(seed=seed))))
    for name, column in columns.items():
        if column["missing"] == 0:
            assert made[name].null_count() == 0
        if "category" in column:
            assert set(made[name].drop_nulls()) <= set(column["category"]["values"])


def test_a_file_says_the_same_as_its_text(tmp_path: Path) -> None:
    text = """
shoal: 1
rows: 20
columns:
  person: {nric: T, unique: true}
  mobile: {phone: SG, missing: 0.05}
  ward:
    category: [A, 1, true]
  note: words
"""
    path = tmp_path / "schema.yaml"
    path.write_text(text, encoding="utf-8")
    schema = TableSchema.load(path)
    assert schema.model_dump() == TableSchema.of(text).model_dump()
    assert schema.rows == 20
    assert schema.columns["person"].unique
    assert schema.columns["ward"].generator.values == ("A", "1", "true")
    assert TableSchema.model_validate(schema.model_dump(mode="json")).columns == schema.columns


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ("aadhar", "unknown generator 'aadhar'; did you mean 'aadhaar'?"),
        ({"phone": {"contry": "IN"}}, "unknown parameter 'contry'; did you mean 'country'?"),
        ({"phone": "FR"}, "has to be 'none', 'AU', 'GB', 'IN', 'SG' or 'US'"),
        ({"phone": "IN", "card": {}}, "needs exactly one key"),
        ({"unique": True}, "needs exactly one key"),
        ({"aadhaar": {}, "missing": 1.5}, "has to be at most 1"),
        ({"words": 3, "unique": True}, "can't be unique"),
        ({"words": 100_000}, "has to be at most 200"),
        ({"integer": {"low": 5, "high": 4}}, "the first has to come before the last"),
        ({"integer": {"low": 0, "high": 2**80}}, "has to be at most"),
        ({"date": {"first": "2024-02-30"}}, "date"),
        ({"date": {"first": "2024-02-02", "last": "2024-02-01"}}, "the first has to come before the last"),
        ({"decimal": {"low": "0.001", "high": "0.002"}}, "the first has to come before the last"),
        ({"category": []}, "at least 1"),
        ({"category": ["a", "a"]}, "listed more than once"),
        ({"category": {"values": ["a"], "weights": [0]}}, "not all of them 0"),
        ({"pattern": "#" * 19}, "at most eighteen"),
        ({"pattern": "é#"}, "ASCII"),
        ({"pattern": "#\\"}, "stands for nothing"),
        ({"upi": "Ok Axis"}, "small letters"),
    ],
)
def test_a_problem_is_said_with_what_was_meant(column: object, said: str) -> None:
    with pytest.raises(PolicyError) as raised:
        TableSchema.of({"shoal": 1, "columns": {"made": column}})
    assert said in str(raised.value)


def test_all_problems_come_at_once_with_their_lines() -> None:
    text = "shoal: 1\nrows: -4\ncolumns:\n  a: aadhar\n  b: {phone: XX}\n"
    with pytest.raises(PolicyError) as raised:
        TableSchema.of(text)
    assert [problem.line for problem in raised.value.problems] == [2, 4, 5]


@pytest.mark.parametrize("given", [{"shoal": 1, "columns": {}}, {"shoal": 1}, {"columns": {"a": "pan"}}, {"shoal": 2}])
def test_what_is_no_schema_is_refused(given: dict[str, object]) -> None:
    with pytest.raises(PolicyError):
        TableSchema.of(given)
