"""Several rows per person to one, by the views of ISO/IEC 20889, annex D."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.discover.normalise import NormalisedView, normalise
from shoal.errors import DataError

pytestmark = pytest.mark.requirement("D-08")

VISITS = pl.DataFrame(
    {
        "patient": ["A", "A", "A", "B", "C", "C"],
        "sex": ["F", "F", "F", "M", "F", None],
        "month of visit": ["January", "March", "January", "March", "February", "December"],
        "year of visit": ["2016", "2016", "2017", "2017", "2016", "2016"],
    }
)
"""The annex speaks of months and years of visits, of which one person has three at most."""


def view(kind: NormalisedView, table: pl.DataFrame = VISITS, **options: object) -> pl.DataFrame:
    return normalise(table.lazy(), "patient", kind, **options).frame  # type: ignore[arg-type]


def test_binary_view_of_the_annex() -> None:
    """Values become attributes, entries say whether the person has them; which month was in which year is lost."""
    found = view(NormalisedView.BINARY)
    assert found.columns == [
        "patient",
        "sex",
        "month of visit: December",
        "month of visit: February",
        "month of visit: January",
        "month of visit: March",
        "year of visit: 2016",
        "year of visit: 2017",
    ]
    assert found.rows() == [("A", "F", 0, 0, 1, 1, 1, 1), ("B", "M", 0, 0, 0, 1, 0, 1), ("C", "F", 1, 1, 0, 0, 1, 0)]


def test_binary_view_with_attributes_combined_keeps_their_relation() -> None:
    found = view(NormalisedView.BINARY, together=["month of visit", "year of visit"])
    assert "month of visit + year of visit: January 2017" in found.columns
    assert found["month of visit + year of visit: January 2017"].to_list() == [1, 0, 0]
    assert found["month of visit + year of visit: March 2016"].to_list() == [1, 0, 0]


def test_transposed_view_of_the_annex() -> None:
    """As many ordered attributes as the most that one person has: month of visit 1, 2 and 3."""
    found = view(NormalisedView.TRANSPOSED)
    months = [f"month of visit {place}" for place in (1, 2, 3)]
    years = [f"year of visit {place}" for place in (1, 2, 3)]
    assert found.columns == ["patient", "sex", *months, *years]
    assert found.select(months).rows() == [
        ("January", "March", "January"),
        ("March", None, None),
        ("February", "December", None),
    ]
    assert found.select(years).rows()[0] == ("2016", "2016", "2017"), "the third month goes with the third year"
    assert found.width < view(NormalisedView.BINARY, VISITS.with_columns(day=pl.Series(map(str, range(6))))).width


def test_combined_view() -> None:
    found = view(NormalisedView.COMBINED)
    assert found["month of visit"].to_list() == ["January;March", "March", "February;December"]
    assert found["sex"].to_list() == ["F", "M", "F"], "what does not differ stays as it is, missing values aside"


@pytest.mark.parametrize("kind", list(NormalisedView))
def test_one_record_per_person_in_the_order_of_appearance(kind: NormalisedView) -> None:
    assert view(kind)["patient"].to_list() == ["A", "B", "C"]


@pytest.mark.parametrize("kind", list(NormalisedView))
def test_a_table_with_one_record_per_person_stays_as_it_is(kind: NormalisedView) -> None:
    single = VISITS.unique("patient", keep="first", maintain_order=True)
    assert view(kind, single).equals(single)


def test_types_are_kept_where_they_can_be() -> None:
    table = pl.DataFrame({"patient": [1, 1], "dose": [5, 7]})
    assert view(NormalisedView.TRANSPOSED, table).schema["dose 1"] == pl.Int64()
    assert view(NormalisedView.BINARY, table).columns == ["patient", "dose: 5", "dose: 7"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"kind": NormalisedView.BINARY, "most": 3}, "more than 3 columns, because of 'month of visit'"),
        ({"kind": NormalisedView.TRANSPOSED, "most": 5}, "somebody has 3 records"),
        ({"kind": NormalisedView.COMBINED, "separator": "ar"}, "hold the separator"),
        ({"kind": NormalisedView.COMBINED, "together": ["patient", "sex"]}, "none is the person"),
        ({"kind": NormalisedView.COMBINED, "together": ["sexx"]}, "did you mean 'sex'"),
    ],
)
def test_what_is_refused(options: dict[str, object], said: str) -> None:
    with pytest.raises(DataError, match=said):
        view(**options)  # type: ignore[arg-type]


def test_records_of_nobody_and_names_that_clash_are_refused() -> None:
    with pytest.raises(DataError, match="1 record"):
        view(NormalisedView.COMBINED, pl.DataFrame({"patient": ["A", None], "x": [1, 2]}))
    with pytest.raises(DataError, match="name that another has"):
        view(NormalisedView.TRANSPOSED, pl.DataFrame({"patient": [1, 1], "x": [1, 2], "x 1": [0, 0]}))
    with pytest.raises(DataError, match="no column besides"):
        view(NormalisedView.BINARY, pl.DataFrame({"patient": [1, 1]}))


def test_an_empty_table() -> None:
    for kind in NormalisedView:
        assert view(kind, VISITS.clear()).height == 0


RECORDS = st.lists(st.tuples(st.sampled_from("ABC"), st.sampled_from(["x", "y", "z", None])), min_size=1, max_size=15)


@given(RECORDS)
def test_views_tell_what_the_records_tell(records: list[tuple[str, str | None]]) -> None:
    table = pl.DataFrame(records, schema={"patient": pl.String, "v": pl.String}, orient="row")
    people = list(dict.fromkeys(who for who, _ in records))
    values = {who: [value for each, value in records if each == who] for who in people}
    varies = any(len({value for value in own if value}) > 1 for own in values.values())
    transposed, combined, binary = (
        {row["patient"]: row for row in view(kind, table).iter_rows(named=True)}
        for kind in (NormalisedView.TRANSPOSED, NormalisedView.COMBINED, NormalisedView.BINARY)
    )
    for who in people:
        had = [value for value in dict.fromkeys(values[who]) if value]
        assert combined[who]["v"] == (";".join(had) or None)
        if varies:
            longest = max(len(own) for own in values.values())
            assert [transposed[who][f"v {at + 1}"] for at in range(longest)][: len(values[who])] == values[who]
            assert {name.removeprefix("v: ") for name, is_so in binary[who].items() if is_so == 1} == set(had)
