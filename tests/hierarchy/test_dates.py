"""Dates: labels of every period, which periods nest, loss in days."""

from __future__ import annotations

import datetime
from collections.abc import Callable

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from shoal.errors import DataError
from shoal.hierarchy import BoundHierarchy, parse_hierarchy
from shoal.schema import Column, ValueType

pytestmark = pytest.mark.requirement("T-08")
Bind = Callable[..., BoundHierarchy]
DATE, DATETIME = ValueType.DATE, ValueType.DATETIME
ALL = ["day", "month", "quarter", "year", "decade"]


def day(text: str) -> datetime.date:
    return datetime.date.fromisoformat(text)


def moment(text: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(text)


def test_labels(bind: Bind) -> None:
    bound = bind({"dates": ALL}, [day("2024-02-14"), day("1899-12-31")], DATE, storage=pl.Date())
    assert bound.height == 6
    ladder = [bound.generalise(pl.Series([day("2024-02-14"), day("1899-12-31"), None]), level) for level in range(1, 7)]
    assert [rung[0] for rung in ladder] == ["2024-02-14", "2024-02", "2024-Q1", "2024", "2020s", "*"]
    assert [rung[1] for rung in ladder] == ["1899-12-31", "1899-12", "1899-Q4", "1899", "1890s", "*"]
    assert [rung[2] for rung in ladder] == [None] * 5 + ["*"]


def test_weeks_belong_to_the_year_of_their_thursday(bind: Bind) -> None:
    days = ["2024-02-12", "2024-02-18", "2024-12-30", "2021-01-03", "1969-12-29"]
    bound = bind({"dates": ["week"]}, days, DATE, date_format="%Y-%m-%d")
    assert bound.generalise(pl.Series(days), 1).to_list() == [
        "2024-W07",
        "2024-W07",
        "2025-W01",
        "2020-W53",
        "1970-W01",
    ]


@settings(max_examples=20, deadline=None)
@given(st.lists(st.dates(datetime.date(1600, 1, 1), datetime.date(2400, 1, 1)), min_size=1))
def test_every_label_agrees_with_the_calendar(bind: Bind, dates: list[datetime.date]) -> None:
    bound = bind({"dates": ALL}, dates, DATE, storage=pl.Date())
    weeks = bind({"dates": ["week"]}, dates, DATE, storage=pl.Date())
    found = [bound.generalise(pl.Series(dates), level).to_list() for level in range(1, 6)]
    found.append(weeks.generalise(pl.Series(dates), 1).to_list())
    for date, *labels in zip(dates, *found, strict=True):
        quarter, decade = (date.month + 2) // 3, date.year // 10 * 10
        year, week, _ = date.isocalendar()
        expected = [f"{date}", f"{date:%Y-%m}", f"{date.year}-Q{quarter}", f"{date.year}", f"{decade}s"]
        assert labels == [*expected, f"{year}-W{week:02d}"]


def test_pdpc_dates_of_birth(bind: Bind) -> None:
    """PDPC annex B: month and year (ours in the form that sorts)."""
    born = ["1 Feb 2003", "15 Aug 1990", "30 Dec 1998"]
    bound = bind({"dates": ["month", "year"]}, born, DATE, date_format="%d %b %Y")
    assert bound.generalise(pl.Series(born), 1).to_list() == ["2003-02", "1990-08", "1998-12"]
    assert bound.generalise(pl.Series(born), 2).to_list() == ["2003", "1990", "1998"]


def test_times_of_day(bind: Bind) -> None:
    times = [moment("2024-02-14T00:00:00"), moment("2024-02-14T23:59:59.999999"), moment("1969-12-31T23:00:00")]
    bound = bind({"dates": ["day", "year"]}, times, DATETIME, storage=pl.Datetime("us"))
    assert bound.generalise(pl.Series(times), 1).to_list() == ["2024-02-14", "2024-02-14", "1969-12-31"]


class TestLoss:
    def test_days_are_leaves(self, bind: Bind) -> None:
        """15 January to 15 March 2024 are 61 days; January is clipped to 17 of them, February has 29."""
        ends = [day("2024-01-15"), day("2024-03-15")]
        bound = bind({"dates": ["day", "month", "quarter"]}, ends, DATE, storage=pl.Date())
        values = pl.Series([day("2024-01-20"), day("2024-02-20"), None])
        assert bound.loss(values, 1).tolist() == [0, 0, 0]
        assert bound.loss(values, 2).tolist() == [16 / 60, 28 / 60, 0]
        assert bound.loss(values, 3).tolist() == [1, 1, 0]

    def test_a_day_hides_the_time(self, bind: Bind) -> None:
        ends = [moment("2024-01-01T00:00:00"), moment("2024-01-11T00:00:00")]
        bound = bind({"dates": ["day"]}, ends, DATETIME, storage=pl.Datetime("us"))
        assert bound.loss(pl.Series([moment("2024-01-05T12:00:00")]), 1)[0] == pytest.approx(0.1)


def test_bounds_are_first_and_last_day(bind: Bind) -> None:
    bound = bind({"dates": ["month"]}, [day("2024-01-15"), day("2024-03-15")], DATE, storage=pl.Date())
    bounds = bound.bounds(pl.Series([day("2024-02-20")]), 1)
    assert bounds is not None
    low, high = bounds
    assert (low.item(), high.item()) == (day("2024-02-01"), day("2024-02-29"))
    bounds = bound.bounds(pl.Series([day("2024-02-20")]), 2)
    assert bounds is not None
    low, high = bounds
    assert (low.item(), high.item()) == (day("2024-01-15"), day("2024-03-15"))


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        (["week", "month"], "month after week: a week can lie in two of them, so week has to be the last level"),
        (["day", "week", "year"], "year after week"),
        (["year", "month"], "month after year: each level has to be longer"),
        (["month", "week"], "week after month"),
        (["month", "month"], "month after month"),
        ([], "at least 1 item"),
        (["century"], "Input should be"),
    ],
)
def test_periods_that_do_not_nest(levels: list[str], message: str) -> None:
    with pytest.raises(ValidationError) as error:
        parse_hierarchy({"dates": levels})
    assert message in str(error.value)


def test_refuses_other_columns() -> None:
    refusal = parse_hierarchy("dates").refuse(Column("age", ValueType.INTEGER))
    assert refusal == "dates works on date and datetime columns; column 'age' is integer"


def test_unreadable_date_is_counted_not_shown(bind: Bind) -> None:
    bound = bind("dates", ["01/02/2003"], DATE, date_format="%d/%m/%Y")
    with pytest.raises(DataError, match=r"1 value\(s\) can't be read as date") as error:
        bound.generalise(pl.Series(["31/31/1999"]), 1)
    assert "1999" not in str(error.value)
