"""Combining attributes: a function of one record's values takes the place of the values."""

from __future__ import annotations

import pickle

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from shoal.errors import DataError
from shoal.randomness import Randomness
from shoal.schema import ROW, Column, ValueType
from shoal.techniques import Context
from shoal.techniques.generalisation.combine import Combine

pytestmark = pytest.mark.requirement("T-12")

COLUMNS = {
    "weight": Column("weight", ValueType.DECIMAL, scale=1),
    "height": Column("height", ValueType.DECIMAL, scale=2),
    "visits": Column("visits", ValueType.INTEGER, pl.Int64()),
    "entry": Column("entry", ValueType.DATE, date_format="%d/%m/%Y"),
    "town": Column("town"),
}
CONTEXT = Context(COLUMNS, Randomness(0).stream("combine"))
FRAME = pl.DataFrame(
    {
        "weight": ["64", "79.5", None],
        "height": ["1.60", "1.77", "1.58"],
        "visits": [1, 2, 3],
        "entry": ["01/02/2024", "29/02/2024", None],
        "town": ["Pune", "Goa", None],
        ROW: pl.Series([0, 1, 2], dtype=pl.UInt64),
    }
)
BMI = "weight / (height * height)"


def run(technique: Combine, frame: pl.DataFrame = FRAME) -> pl.DataFrame:
    """Through a pickle, as on the way to an executor; the empty frame must promise the same schema."""
    column = COLUMNS[technique.also_reads()[0]]
    assert technique.refuse(column) is None
    step = pickle.loads(pickle.dumps(technique.bind(column, CONTEXT)))  # noqa: S301  # our own bytes
    applied: pl.DataFrame = step.apply(frame)
    assert step.reads == technique.also_reads()
    assert step.apply(frame.clear()).schema == applied.schema
    return applied


def combine(expression: str, **parameters: object) -> Combine:
    return Combine.model_validate({"into": "result", "expression": expression, **parameters})


def test_body_mass_index_takes_the_place_of_weight_and_height() -> None:
    combined = run(combine(BMI))
    assert combined.columns == ["visits", "entry", "town", ROW, "result"]
    assert combined["result"].to_list() == [64 / (1.6 * 1.6), 79.5 / (1.77 * 1.77), None]
    assert combine(BMI).also_reads() == ("weight", "height")


def test_inputs_stay_if_asked() -> None:
    combined = run(combine(BMI, drop=False))
    assert combined.drop("result").equals(FRAME)


@pytest.mark.parametrize(
    ("decimals", "results", "dtype"),
    [(2, [25.0, 25.38, None], pl.Float64), (0, [25, 25, None], pl.Int64)],
)
def test_decimals(decimals: int, results: list[float | None], dtype: type[pl.DataType]) -> None:
    result = run(combine(BMI, decimals=decimals))["result"]
    assert result.to_list() == results
    assert result.dtype == dtype


@pytest.mark.parametrize(
    ("expression", "results"),
    [
        ("visits * 1.5", [1.5, 3.0, 4.5]),
        ("visits / 2", [0.5, 1.0, 1.5]),
        ("CASE WHEN weight > 70 THEN 'over' ELSE town END", ["Pune", "over", None]),
        ("town || '-' || visits", ["Pune-1", "Goa-2", None]),
        ("SUBSTR(town, 1, 2)", ["Pu", "Go", None]),
        ("EXTRACT(month FROM entry)", [2, 2, None]),
        ("visits > 1", [False, True, True]),
    ],
)
def test_functions_of_one_record(expression: str, results: list[object]) -> None:
    assert run(combine(expression))["result"].to_list() == results


def test_the_result_may_take_the_name_of_an_input_that_goes() -> None:
    combined = run(combine("visits + 1", into="visits"))
    assert combined["visits"].to_list() == [2, 3, 4]


@given(pairs=st.lists(st.tuples(st.integers(300, 2000), st.integers(100, 220)), max_size=20), cut=st.integers(0, 20))
@settings(max_examples=40)
def test_each_record_by_itself_whatever_the_batches(pairs: list[tuple[int, int]], cut: int) -> None:
    frame = pl.DataFrame(
        {"weight": [f"{w / 10}" for w, _ in pairs], "height": [f"{h / 100}" for _, h in pairs]},
        schema={"weight": pl.String, "height": pl.String},
    )
    step = combine(BMI, decimals=3).bind(COLUMNS["weight"], CONTEXT)
    whole = step.apply(frame)
    assert whole["result"].to_list() == pytest.approx([w * 1000 / h**2 for w, h in pairs], abs=0.0005001)
    assert pl.concat([step.apply(frame[:cut]), step.apply(frame[cut:])]).equals(whole)


@pytest.mark.parametrize(
    "expression",
    [
        "SUM(visits)",
        "visits / SUM(visits)",
        "visits - AVG(visits)",
        "CASE WHEN visits = MAX(visits) THEN 1 ELSE 0 END",
        "visits + COUNT(*)",
        "CORR(weight, height)",
        "visits > QUANTILE_CONT(visits, 0.5)",
        "ROW_NUMBER() OVER (ORDER BY visits)",
        "SUM(visits) OVER (PARTITION BY town)",
        "LAG(visits) OVER (ORDER BY visits)",
        "STRING_AGG(town, ',')",
        "UNNEST(visits)",
        "visits + (SELECT 1)",
    ],
)
def test_other_records_are_out_of_sight(expression: str) -> None:
    """A sum over a batch would depend on the batch, and would tell of others."""
    with pytest.raises(ValidationError, match="looks at other records"):
        combine(expression)


def test_names_that_sound_like_sums_are_only_names() -> None:
    assert combine("Agg + Len").also_reads() == ("Agg", "Len")
    assert combine("CASE WHEN town = 'Agg' THEN 'Over' ELSE 'Len' END").also_reads() == ("town",)


@pytest.mark.parametrize(
    ("parameters", "problem"),
    [
        ({"expression": "weight +"}, "not an expression"),
        ({"expression": "1 + 1"}, "names no column"),
        ({"expression": "COUNT(*)"}, "names no column"),
        ({"expression": "weight", "into": ""}, "at least 1 character"),
        ({"expression": "weight", "decimals": -1}, "greater than or equal to 0"),
        ({"expression": "weight; DROP TABLE x"}, "not an expression"),
    ],
)
def test_wrong_parameters(parameters: dict[str, object], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        Combine.model_validate({"into": "result", **parameters})


@pytest.mark.parametrize(
    ("technique", "problem"),
    [
        (combine("weight / heigth"), "the table has no column 'heigth'; did you mean 'height'?"),
        (combine("weight * 2", into="town"), "there is a column 'town' already"),
        (combine("weight * 2", into="weight", drop=False), "there is a column 'weight' already"),
        (combine("weight * 2", into=ROW), f"there is a column '{ROW}' already"),
    ],
)
def test_what_cannot_be_bound(technique: Combine, problem: str) -> None:
    with pytest.raises(DataError) as caught:
        technique.bind(COLUMNS["weight"], CONTEXT)
    assert problem in str(caught.value)


def test_results_that_are_no_numbers_stop_the_run_and_are_only_counted() -> None:
    flat = FRAME.with_columns(height=pl.Series(["0", "1.77", "0"]))
    with pytest.raises(DataError, match=r"into 'result': 1 record\(s\) don't give a finite number"):
        run(combine(BMI), flat)
    with pytest.raises(DataError, match="decimals are for numbers"):
        run(combine("town", decimals=1))
    with pytest.raises(DataError, match="the expression over town can't be computed") as caught:
        run(combine("CAST(town AS INT)"))
    assert "Pune" not in str(caught.value)


@pytest.mark.requirement("T-29")
def test_a_column_that_the_expression_forgets_is_refused() -> None:
    assert "column 'town' is combined, but the expression doesn't name it" in (
        combine(BMI).refuse(COLUMNS["town"]) or ""
    )
