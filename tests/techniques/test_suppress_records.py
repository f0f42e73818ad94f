"""Record suppression by rule, by outlier, and by class after the solver."""

from __future__ import annotations

import pickle

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from shoal.errors import DataError
from shoal.randomness import Randomness
from shoal.schema import ROW, Column, Counts, ValueType
from shoal.techniques.base import Context, Scope, Step
from shoal.techniques.suppression.suppress_records import SuppressRecords, WithholdClassesStep

pytestmark = pytest.mark.requirement("T-02")

COLUMNS = {
    "age": Column("age", ValueType.INTEGER),
    "city": Column("city"),
    "pay": Column("pay", ValueType.DECIMAL, pl.Float64(), scale=2),
}


def table(**columns: object) -> pl.DataFrame:
    frame = pl.DataFrame(columns)
    return frame.with_columns(pl.Series(ROW, range(frame.height), dtype=pl.UInt64))


def bound(frame: pl.DataFrame | None = None, **parameters: object) -> Step:
    technique = SuppressRecords.model_validate(parameters)
    counts = {}
    for wanted in technique.wants():
        assert frame is not None
        counts[wanted] = Counts.from_frame(frame.group_by(wanted).agg(pl.len().alias("len")), wanted, "len")
    return technique.bind(Context(COLUMNS, Randomness(2).stream("suppress"), counts))


def test_numbers_stored_as_text_compare_as_numbers():
    frame = table(age=["9", "91", "100", "34"], city=["a", "b", "c", "d"])
    assert bound(where="age > 90").apply(frame)["city"].to_list() == ["a", "d"]
    assert bound(where="age > 90 AND city = 'b'").apply(frame)["city"].to_list() == ["a", "c", "d"]


def test_what_can_not_be_decided_is_suppressed():
    frame = table(age=["91", None, "34", None], city=["x", "x", "x", "Pune"])
    assert bound(where="age > 90").apply(frame)["age"].to_list() == ["34"]
    assert bound(where="age > 90 OR city = 'Pune'").apply(frame)["age"].to_list() == ["34"]
    assert bound(where="age > 90 AND city = 'Pune'").apply(frame)["age"].to_list() == ["91", None, "34"]


def test_a_rule_that_is_no_condition():
    with pytest.raises(DataError, match="the condition over age is neither true nor false"):
        bound(where="age + 1").apply(table(age=["1"]))


@pytest.mark.parametrize(
    ("rule", "kept"),
    [
        ({"iqr": 1.5}, [1.0, 2.0, 3.0, 4.0, 5.0, None]),
        ({"iqr": 50.0}, [1.0, 2.0, 3.0, 4.0, 5.0, 60.0, None]),
        ({"deviations": 2.0}, [1.0, 2.0, 3.0, 4.0, 5.0, None]),
        ({"deviations": 3.0}, [1.0, 2.0, 3.0, 4.0, 5.0, 60.0, None]),
    ],
)
def test_outliers_of_a_column(rule, kept):
    frame = table(pay=[1.0, 2.0, 3.0, 4.0, 5.0, 60.0, None])
    step = bound(frame, outliers={"columns": ["pay"], **rule})
    assert step.apply(frame)["pay"].to_list() == kept
    assert "60" not in repr(step)


def test_an_outlier_in_any_column_removes_the_record():
    frame = table(pay=[5.0] * 20 + [99.0, 5.0], age=["30"] * 20 + ["30", "99"])
    step = bound(frame, outliers={"columns": ["pay", "age"], "iqr": 1.5})
    assert step.apply(frame).height == 20
    assert step.reads == ("pay", "age")


@given(values=st.lists(st.integers(-100, 100), min_size=1, max_size=50))
@settings(max_examples=50)
def test_fences_are_those_of_numpy(values):
    frame = table(pay=[float(value) for value in values])
    step = bound(frame, outliers={"columns": ["pay"], "iqr": 1.5})
    first, third = np.quantile(values, [0.25, 0.75])
    (fence,) = step.fences  # type: ignore[attr-defined]
    assert (fence.low, fence.high) == pytest.approx((first - 1.5 * (third - first), third + 1.5 * (third - first)))
    step = bound(frame, outliers={"columns": ["pay"], "deviations": 2})
    (fence,) = step.fences  # type: ignore[attr-defined]
    assert (fence.low, fence.high) == pytest.approx(
        (np.mean(values) - 2 * np.std(values), np.mean(values) + 2 * np.std(values)), abs=1e-9
    )


def test_a_column_without_values_has_no_outliers():
    frame = table(pay=pl.Series([None, None], dtype=pl.Float64))
    assert bound(frame, outliers={"columns": ["pay"], "iqr": 1.5}).apply(frame).equals(frame)


COMBINATIONS = st.lists(
    st.tuples(st.sampled_from(["20-29", "30-39", "*", None]), st.sampled_from([1, 2, None])), max_size=30
)
SCHEMA = {"age": pl.String, "size": pl.Int64}


@given(rows=COMBINATIONS, classes=COMBINATIONS, drop=st.booleans())
@settings(max_examples=80)
def test_exactly_the_records_of_the_classes_are_withheld(rows, classes, drop):
    frame = table(**pl.DataFrame(rows, schema=SCHEMA, orient="row").to_dict()).with_columns(other=pl.lit("kept"))
    small = pl.DataFrame(classes, schema=SCHEMA, orient="row")
    result = WithholdClassesStep(("age", "size"), small, drop=drop).apply(frame)
    text = [(age, None if size is None else str(size)) for age, size in rows]
    if drop:
        assert result.equals(frame.filter(pl.Series([row not in classes for row in rows], dtype=pl.Boolean)))
    else:
        expected = [("*", "*") if row in classes else shown for row, shown in zip(rows, text, strict=True)]
        assert result.select("age", "size").rows() == expected
        assert result.drop("age", "size").equals(frame.drop("age", "size"))


def test_withholding_shows_no_value_when_printed():
    classes = pl.DataFrame({"age": ["secret"]})
    assert "secret" not in repr(WithholdClassesStep(("age",), classes, drop=True))


PAYS = table(pay=[1.0, 2.0, None, 60.0] * 20, age=["1", "95", None, "30"] * 20)
CLASSES = pl.DataFrame({"age": ["95", None], "pay": [2.0, None]}, schema={"age": pl.String, "pay": pl.Float64})


@pytest.mark.parametrize(
    "step",
    [
        bound(where="age > 90"),
        bound(PAYS, outliers={"columns": ["pay"], "deviations": 1}),
        WithholdClassesStep(("age", "pay"), CLASSES, drop=False),
        WithholdClassesStep(("age", "pay"), CLASSES, drop=True),
    ],
)
def test_batches_pickling_and_the_empty_frame(step):
    whole = step.apply(PAYS)
    assert not whole.equals(PAYS)
    for cut in (0, 1, 33):
        assert pl.concat([step.apply(PAYS[:cut]), step.apply(PAYS[cut:])]).equals(whole)
    assert pickle.loads(pickle.dumps(step)).apply(PAYS).equals(whole)  # noqa: S301
    assert step.apply(PAYS.clear()).schema == whole.schema
    assert step.scope is Scope.ROW


@pytest.mark.requirement("T-29")
def test_refusals_say_why():
    technique = SuppressRecords.model_validate({"outliers": {"columns": ["pay", "city"], "iqr": 1.5}})
    assert technique.refuse(COLUMNS) == "outliers are found among numbers; column 'city' is text"
    assert technique.columns(None) == ("pay", "city")
    assert SuppressRecords(where="age > 5").refuse(COLUMNS) is None
    assert SuppressRecords(where="age > 5 AND city = 'x'").columns(None) == ("age", "city")


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"where": "age >"},
        {"where": "1 = 1"},
        {"where": "age > 1", "outliers": {"columns": ["pay"], "iqr": 1}},
        {"outliers": {"columns": ["pay"]}},
        {"outliers": {"columns": ["pay"], "iqr": 1, "deviations": 2}},
        {"outliers": {"columns": [], "iqr": 1}},
        {"outliers": {"columns": ["pay"], "iqr": 0}},
    ],
)
def test_wrong_parameters(parameters):
    with pytest.raises(ValidationError):
        SuppressRecords.model_validate(parameters)
