"""Top and bottom coding: the tails become one value, the middle and the order stay."""

from __future__ import annotations

import datetime
import pickle

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from shoal.errors import DataError
from shoal.randomness import Randomness
from shoal.schema import ROW, Column, Counts, ValueType
from shoal.techniques import Context
from shoal.techniques.generalisation.code import Code

pytestmark = pytest.mark.requirement("T-11")

AGE = Column("value", ValueType.INTEGER, pl.Int64())
TEXT_AGE = Column("value", ValueType.INTEGER)
BORN = Column("value", ValueType.DATE, date_format="%d/%m/%Y")


def context(frame: pl.DataFrame) -> Context:
    counted = frame.group_by("value").agg(pl.len().alias("records"))
    counts = Counts.from_frame(counted, ("value",), "records")
    return Context({}, Randomness(0).stream("code"), {("value",): counts})


def run(technique: Code, column: Column, values: list[object]) -> list[object]:
    """Through a pickle, as on the way to an executor; the empty frame must promise the same schema."""
    frame = pl.DataFrame({"value": pl.Series(values, dtype=column.storage)})
    assert technique.refuse(column) is None
    step = pickle.loads(pickle.dumps(technique.bind(column, context(frame))))  # noqa: S301  # our own bytes
    applied = step.apply(frame)
    assert step.reads == ("value",)
    assert step.apply(frame.clear()).schema == applied.schema
    assert applied.schema["value"] == technique.leaves(column).storage
    coded: list[object] = applied["value"].to_list()
    return coded


def coding(**parameters: object) -> Code:
    return Code.model_validate(parameters)


def test_a_threshold_stands_for_its_tail() -> None:
    ages: list[object] = [17, 18, 90, 91, None, 40]
    assert run(coding(top=90), AGE, ages) == [17, 18, 90, 90, None, 40]
    assert run(coding(bottom=18), AGE, ages) == [18, 18, 90, 91, None, 40]
    assert run(coding(top=90.0, bottom=18), TEXT_AGE, ["17", "091", None, "40"]) == [18, 90, None, 40]
    weight = Column("value", ValueType.DECIMAL, scale=1)
    assert run(coding(top=99.5), weight, ["99.4", "99.6"]) == [99.4, 99.5]


def test_a_label_holds_the_threshold_too_and_leaves_the_rest_as_it_is_written() -> None:
    ages: list[object] = ["89", "90", "104", None, "07"]
    assert run(coding(top=90, label="90+"), TEXT_AGE, ages) == ["89", "90+", "90+", None, "07"]
    both = coding(top=90, bottom=18, label={"top": "≥ {value}", "bottom": "≤ {value}"})
    assert run(both, TEXT_AGE, ["18", "19", "90"]) == ["≤ 18", "19", "≥ 90"]
    assert run(coding(top=90.0, label="≥ {value}"), AGE, [91, 5]) == ["≥ 90", "5"]


def test_dates() -> None:
    born: list[object] = ["14/02/1924", "01/01/1990", None]
    edge = datetime.date(1930, 1, 1)
    assert run(coding(bottom=edge), BORN, born) == ["01/01/1930", "01/01/1990", None]
    assert run(coding(bottom=edge, label="until {value}"), BORN, born) == ["until 01/01/1930", "01/01/1990", None]
    stored = Column("value", ValueType.DATE, pl.Date())
    assert run(coding(top="2000-06-30"), stored, [datetime.date(2020, 1, 1)]) == [datetime.date(2000, 6, 30)]
    assert run(coding(top="2000-06-30", label="{value} on"), stored, [datetime.date(2020, 1, 1)]) == ["2000-06-30 on"]
    moment = Column("value", ValueType.DATETIME, pl.Datetime("us"))
    midnight = datetime.datetime(2000, 6, 30)  # noqa: DTZ001  # as stored
    assert run(coding(top="2000-06-30"), moment, [midnight + datetime.timedelta(hours=1)]) == [midnight]


def test_quantiles() -> None:
    hundred: list[object] = list(range(1, 101))
    assert run(coding(top_quantile=0.95), AGE, hundred) == [min(n, 95) for n in range(1, 101)]
    assert run(coding(bottom_quantile=0.05), AGE, hundred) == [max(n, 6) for n in range(1, 101)]
    assert run(coding(top_quantile=0.07), AGE, hundred)[-1] == 7, "0.07 of a hundred is seven, whatever floats say"
    labelled = coding(top_quantile=0.95, label="≥ {value}")
    assert run(labelled, TEXT_AGE, [str(n) for n in range(1, 101)])[93:96] == ["94", "≥ 95", "≥ 95"]
    days: list[object] = [f"{day:02}/01/2000" for day in range(1, 11)]
    assert run(coding(top_quantile=0.5), BORN, days)[-1] == "05/01/2000"


def test_text_is_counted_as_numbers_not_as_words() -> None:
    assert run(coding(top_quantile=0.5, minimum=1), TEXT_AGE, ["9", "10", "100", None]) == [9, 10, 10, None]


def test_a_tail_is_never_smaller_than_the_minimum() -> None:
    """A tail of one record would hide nothing: the threshold would be that person's own value."""
    few: list[object] = [1, 2, 3, 4, 1000]
    assert run(coding(top_quantile=0.99, minimum=1), AGE, few)[-1] == 1000
    assert run(coding(top_quantile=0.99), AGE, few) == [1, 2, 3, 3, 3]
    assert run(coding(bottom_quantile=0.01, minimum=2), AGE, few) == [2, 2, 3, 4, 1000]
    with pytest.raises(DataError, match=r"'value': 2 value\(s\) are too few for a tail of 3"):
        run(coding(top_quantile=0.9), AGE, [1, 2, None])
    with pytest.raises(DataError, match="'value': the top and bottom thresholds found in the data overlap"):
        run(coding(top_quantile=0.9, bottom_quantile=0.1), AGE, [1, 2, 3])


@given(
    values=st.lists(st.none() | st.integers(-100, 100), max_size=30), bottom=st.integers(-50, 0), top=st.integers(1, 50)
)
@settings(max_examples=60)
def test_order_and_middle_are_kept(values: list[int | None], bottom: int, top: int) -> None:
    coded = run(coding(top=top, bottom=bottom), AGE, list(values))
    assert coded == [None if value is None else min(max(value, bottom), top) for value in values]
    assert run(coding(top=top, bottom=bottom), AGE, list(coded)) == coded
    pairs = sorted((value, after) for value, after in zip(values, coded, strict=True) if value is not None)
    assert [after for _, after in pairs] == sorted(after for _, after in pairs)  # type: ignore[type-var]


@given(values=st.lists(st.integers(0, 20), min_size=3, max_size=40), share=st.sampled_from([0.1, 0.5, 0.9, 0.95]))
@settings(max_examples=60)
def test_quantiles_by_their_definition(values: list[int], share: float) -> None:
    coded = run(coding(top_quantile=share, minimum=1), AGE, list(values))
    threshold = next(one for one in sorted(values) if sum(v <= one for v in values) >= share * len(values))
    assert coded == [min(value, threshold) for value in values]
    mirrored = run(coding(bottom_quantile=round(1 - share, 2), minimum=1), AGE, [-value for value in values])
    assert mirrored == [-value for value in coded]


@pytest.mark.parametrize("label", [None, "60+"])
def test_batches_do_not_matter(label: str | None) -> None:
    rows = pl.Series(range(101), dtype=pl.UInt64)
    frame = pl.DataFrame({"value": [*range(100), None], ROW: rows})
    step = coding(top=60, label=label).bind(AGE, context(frame))
    whole = step.apply(frame)
    for cut in (0, 1, 61, 101):
        assert pl.concat([step.apply(frame[:cut]), step.apply(frame[cut:])]).equals(whole)


def test_a_threshold_from_the_data_is_not_shown() -> None:
    frame = pl.DataFrame({"value": [777_777] * 5})
    assert "777777" not in repr(coding(top_quantile=0.5).bind(AGE, context(frame)))


def test_counts_are_asked_for_only_where_a_quantile_needs_them() -> None:
    assert coding(top=5).wants("age") == ()
    assert coding(bottom_quantile=0.1).wants("age") == (("age",),)


@pytest.mark.requirement("T-29")
@pytest.mark.parametrize(
    ("technique", "column", "reason"),
    [
        (coding(top=5), Column("town"), "code works on date, datetime, decimal, integer; column 'town' is text"),
        (coding(top_quantile=0.9), Column("smokes", ValueType.BOOLEAN), "column 'smokes' is boolean"),
        (coding(top=5), BORN, "which is date"),
        (coding(bottom="2000-01-01"), AGE, "which is integer"),
        (coding(top=5.5), AGE, "the threshold has to be a whole number"),
    ],
)
def test_refusals(technique: Code, column: Column, reason: str) -> None:
    refusal = technique.refuse(column) or ""
    assert reason in refusal
    assert f"'{column.name}'" in refusal


@pytest.mark.parametrize(
    ("parameters", "problem"),
    [
        ({}, "give top or bottom"),
        ({"label": "90+"}, "give top or bottom"),
        ({"top": 1, "top_quantile": 0.9}, "exclude each other"),
        ({"bottom": 1, "bottom_quantile": 0.1}, "exclude each other"),
        ({"top": 1, "bottom": 1}, "bottom has to be less than top"),
        ({"top": 1, "bottom": "2000-01-01"}, "and of its kind"),
        ({"top_quantile": 0.1, "bottom_quantile": 0.9}, "bottom_quantile has to be less"),
        ({"top_quantile": 1}, "less than 1"),
        ({"top": 9, "bottom": 1, "label": "x"}, "both ends take one each"),
        ({"top": 9, "label": {"top": "a", "bottom": "b"}}, "one end takes one label"),
        ({"top": 9, "minimum": 0}, "greater than or equal to 1"),
        ({"top": "high"}, "valid"),
    ],
)
def test_wrong_parameters(parameters: dict[str, object], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        Code.model_validate(parameters)
