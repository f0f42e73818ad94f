"""Before/after tables of the source documents: swapping, noise, record suppression, aggregation.

``docs/explanation/worked-tables.md`` lists all of them, with the test of each.
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Sequence

import polars as pl
import pytest

from shoal.randomness import Randomness
from shoal.schema import ROW, Column, ValueType
from shoal.techniques.base import Context
from shoal.techniques.randomisation.noise.noise import Noise
from shoal.techniques.randomisation.permute import Permute
from shoal.techniques.statistical.aggregation.aggregate import Aggregate
from shoal.techniques.suppression.suppress_records import SuppressRecords, WithholdClassesStep


def context(seed: int = 0, *columns: Column) -> Context:
    return Context({column.name: column for column in columns}, Randomness(seed).stream("documents"))


def numbered(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.Series(ROW, range(frame.height), dtype=pl.UInt64))


def table(columns: Sequence[str], rows: Sequence[tuple[object, ...]]) -> pl.DataFrame:
    return numbered(pl.DataFrame(rows, schema=columns, orient="row"))


def swapped(values: Sequence[object], *, seed: int, derange: bool) -> tuple[object, ...]:
    step = Permute(derange=derange).bind(Column("x"), context(seed))
    return tuple(step.apply(numbered(pl.DataFrame({"x": values})))["x"])


# Swapping

SEARCHES = ["UserID", "QueryText", "QueryTime", "URL"]
TABLE_2H = [
    (1, "shopping website", "06/13/2017 16:08", "www.shop.com"),
    (2, "PM of India", "01/14/2016 11:18", "www.pmindia.com"),
    (3, "Olympics 2020", "07/12/2014 22:38", "www.olympics.com"),
    (4, "Covid Vaccination", "08/11/2012 12:58", "www.vaccination.com"),
    (5, "Mutual Funds", "01/14/2020 22:10", "www.mutualfund.com"),
    (6, "Kids Toys", "01/14/2013 20:08", "www.toys.com"),
    (7, "CBSE Results", "01/14/2016 12:08", "www.results.com"),
    (8, "Data Privacy", "01/14/2016 11:08", "www.privacy.com"),
]
TABLE_2I = [
    (1, "shopping website", "06/13/2017 16:08", "www.mutualfund.com"),
    (2, "Olympics 2020", "01/14/2016 11:18", "www.shop.com"),
    (3, "PM of India", "07/12/2014 22:38", "www.olympics.com"),
    (4, "Data Privacy", "08/11/2012 12:58", "www.vaccination.com"),
    (5, "Covid Vaccination", "01/14/2020 22:10", "www.privacy.com"),
    (6, "Kids Toys", "01/14/2013 20:08", "www.results.com"),
    (7, "CBSE Results", "01/14/2016 12:08", "www.pmindia.com"),
    (8, "Mutual Funds", "01/14/2016 11:08", "www.toys.com"),
]


@pytest.mark.requirement("T-15")
def test_meity_2h_2i_swapping_of_searches():
    before, published = table(SEARCHES, TABLE_2H), table(SEARCHES, TABLE_2I)
    after = before
    for name in ("QueryText", "URL"):
        after = Permute(derange=True).bind(Column(name), context(len(name))).apply(after)
        assert Counter(after[name]) == Counter(published[name]) == Counter(before[name])
        assert (after[name] != before[name]).all()
    kept = ["UserID", "QueryTime"]
    assert after.select(kept).equals(published.select(kept))
    # The text asks to go on until the swap is a true one; in the published table these records keep their value.
    unswapped = {name: published.filter(published[name] == before[name])["UserID"].to_list() for name in SEARCHES[1::2]}
    assert unswapped == {"QueryText": [1, 6, 7], "URL": [3, 4]}


CUSTOMERS = ["Person", "Job title", "Date of birth", "Membership type", "Average visits per month"]
CUSTOMERS_BEFORE = [
    ("A", "University lecturer", "3 Jan 1970", "Silver", 0),
    ("B", "Salesman", "5 Feb 1972", "Platinum", 5),
    ("C", "Lawyer", "7 Mar 1985", "Gold", 2),
    ("D", "IT professional", "10 Apr 1990", "Silver", 1),
    ("E", "Nurse", "13 May 1995", "Silver", 2),
]
CUSTOMERS_AFTER = [
    ("A", "Lawyer", "10 Apr 1990", "Silver", 1),
    ("B", "Nurse", "7 Mar 1985", "Silver", 2),
    ("C", "Salesman", "13 May 1995", "Platinum", 5),
    ("D", "IT professional", "3 Jan 1970", "Silver", 2),
    ("E", "University lecturer", "5 Feb 1972", "Gold", 0),
]


@pytest.mark.requirement("T-15")
def test_pdpc_annex_a_swapping_of_customers():
    before, published = table(CUSTOMERS, CUSTOMERS_BEFORE), table(CUSTOMERS, CUSTOMERS_AFTER)
    after = before
    for name in CUSTOMERS[1:]:
        possible = {swapped(before[name].to_list(), seed=seed, derange=False) for seed in range(1000)}
        assert tuple(published[name]) in possible
        after = Permute(derange=True).bind(Column(name), context(len(name))).apply(after)
        assert Counter(after[name]) == Counter(published[name])
    assert after["Person"].equals(published["Person"])
    assert (after["Job title"] != before["Job title"]).all()
    # The text says that all values were swapped; in the published table D keeps the job. (A and D keep a membership
    # that others have too, which a true swap allows.)
    assert published.filter(published["Job title"] == before["Job title"])["Person"].to_list() == ["D"]


@pytest.mark.requirement("T-15")
@pytest.mark.parametrize(
    ("before", "published"),
    [
        pytest.param([24, 39, 18], (39, 18, 24), id="age"),
        pytest.param(["M", "M", "F", "M"], ("M", "F", "M", "M"), id="gender"),
        pytest.param(
            ["Indian", "Chinese", "Chinese", "Malay", "Eurasian"],
            ("Malay", "Chinese", "Indian", "Eurasian", "Chinese"),
            id="race",
        ),
        pytest.param(
            ["1 Feb 2003", "15 Aug 1990", "30 Dec 1998"], ("30 Dec 1998", "1 Feb 2003", "15 Aug 1990"), id="birth"
        ),
        pytest.param(
            ["71 Punggol Central, #10-1122, Singapore 828755", "35 Mandalay Road, #13-37 Singapore 208215"],
            ("35 Mandalay Road, #13-37 Singapore 208215", "71 Punggol Central, #10-1122, Singapore 828755"),
            id="address",
        ),
        pytest.param(["117438", "828755"], ("828755", "117438"), id="postal code"),
        pytest.param(["CEO", "Director", "Manager"], ("Manager", "CEO", "Director"), id="job title"),
        pytest.param(
            ["Speedy Taxi Ltd", "Best Food Ltd", "No. 1 Cold Wear Pte Ltd"],
            ("Best Food Ltd", "No. 1 Cold Wear Pte Ltd", "Speedy Taxi Ltd"),
            id="company",
        ),
        pytest.param(
            ["Vaccinated", "First dose", "Unvaccinated"], ("First dose", "Unvaccinated", "Vaccinated"), id="vaccination"
        ),
    ],
)
def test_pdpc_annex_b_swapping(before, published):
    """All of these are true swaps, and true swaps can give them."""
    possible = {swapped(before, seed=seed, derange=True) for seed in range(200)}
    assert published in possible
    assert all(Counter(drawn) == Counter(before) for drawn in possible)


@pytest.mark.requirement("T-15")
def test_pdpc_annex_b_swapping_of_gps_locations():
    """A latitude without its longitude is another place: both move together."""
    first, second, third = (1.27434, 103.79967), (1.26421, 103.80405), (1.26463, 103.82226)
    published, other = (third, first, second), (second, third, first)
    before = table(["lat", "lon"], [first, second, third])
    swap = Permute.model_validate({"with": ["lon"], "derange": True})
    latitude = Column("lat", ValueType.DECIMAL, pl.Float64(), scale=5)
    moved = (swap.bind(latitude, context(seed)).apply(before) for seed in range(40))
    assert {tuple(frame.select("lat", "lon").rows()) for frame in moved} == {published, other}


# Perturbation


def reachable(column: Column, value: object, draws: int = 20_000, **parameters: object) -> set[object]:
    step = Noise.model_validate(parameters).bind(column, context(3))
    return set(step.apply(numbered(pl.DataFrame({"x": [value] * draws})))["x"])


@pytest.mark.requirement("T-14")
@pytest.mark.parametrize(("before", "published"), [(24, 25), (39, 36), (18, 17)])
def test_pdpc_annex_b_ages_plus_or_minus_5(before, published):
    age = Column("x", ValueType.INTEGER, pl.Int64())
    possible = reachable(age, before, uniform={"width": 10})
    assert possible == set(range(before - 5, before + 6))
    assert published in possible


@pytest.mark.requirement("T-14")
@pytest.mark.parametrize(
    ("before", "published"),
    [("1 Feb 2003", "20 Jan 2003"), ("15 Aug 1990", "18 Aug 1990"), ("30 Dec 1998", "6 Jan 1999")],
)
def test_pdpc_annex_b_dates_plus_or_minus_30_days(before, published):
    birth = Column("x", ValueType.DATE, pl.String(), date_format="%-d %b %Y")
    possible = reachable(birth, before, days=30)
    day = datetime.datetime.strptime(before, "%d %b %Y").replace(tzinfo=datetime.UTC)
    expected = {(day + datetime.timedelta(days=shift)).strftime("%-d %b %Y") for shift in range(-30, 31)}
    assert possible == expected
    assert published in possible


@pytest.mark.requirement("T-14")
@pytest.mark.parametrize(
    ("before", "published", "width"),
    [(1.27434, 1.27834, 0.01), (103.79967, 103.79767, 0.01), (1.27434, 1.27474, 0.001)],
)
def test_pdpc_annex_b_gps_plus_or_minus_some_thousandths_of_a_degree(before, published, width):
    """The last line is the finer of the two suggestions; the document gives no example of it."""
    degrees = Column("x", ValueType.DECIMAL, pl.Float64(), scale=5)
    possible = reachable(degrees, before, uniform={"width": width})
    assert published in possible
    reach = round(width / 2, 5)
    assert (min(possible), max(possible)) == (pytest.approx(before - reach), pytest.approx(before + reach))  # type: ignore[type-var]


@pytest.mark.requirement("T-14")
def test_pdpc_annex_b_target_attributes():
    """A purchase of 38.05 becomes 42, a salary of 6200 becomes 7500."""
    purchase = Column("x", ValueType.DECIMAL, pl.Float64(), scale=2)
    assert 42.0 in reachable(purchase, 38.05, gaussian={"sd": 3}, decimals=0)
    salary = Column("x", ValueType.INTEGER, pl.Int64())
    assert 7500 in reachable(salary, 6200, draws=100_000, multiplicative={"sd": 0.2})


@pytest.mark.requirement("T-14")
def test_iso_20889_a_grade_with_normal_noise():
    """From 3.33 to 3.53 by a normal number with mean zero and a small standard deviation."""
    grade = Column("x", ValueType.DECIMAL, pl.Float64(), scale=2)
    possible = reachable(grade, 3.33, gaussian={"sd": 0.1})
    assert 3.53 in possible
    assert max(abs(value - 3.33) for value in possible) < 0.6


# Record suppression


@pytest.mark.requirement("T-02")
def test_meity_2j_2k_record_suppression():
    columns = ["Sr no", "Name", "Age", "Address", "City"]
    rows = [
        (1, "Ramesh", 25, "Andheri", "Mumbai"),
        (2, "Satish", 26, "Juhu", "Mumbai"),
        (3, "Manisha", 35, "Dadar", "Mumbai"),
        (4, "Mahesh", 35, "Mahalakshmi", "Mumbai"),
    ]
    step = SuppressRecords(where="Address = 'Dadar'").bind(context(0, Column("Address")))
    assert step.apply(table(columns, rows)).drop(ROW).rows() == [rows[0], rows[1], rows[3]]


@pytest.mark.requirement("T-02")
def test_pdpc_annex_a_record_6_is_too_unique():
    columns = ["Serial number", "Person", "Age", "Address"]
    rows = [
        (1, "357703", "21-30", "Toa Payoh Lorong 5"),
        (2, "233121", "31-40", "Ang Mo Kio Avenue 12"),
        (3, "938637", "41-50", "Jurong East Street 70"),
        (4, "591493", "21-30", "Toa Payoh Lorong 5"),
        (5, "202626", "21-30", "Tampines Street 90"),
        (6, "888948", "> 60", "Stonehenge Road"),
        (7, "175878", "21-30", "Tampines Street 90"),
        (8, "312304", "41-50", "Jurong East Street 70"),
        (9, "214025", "21-30", "Toa Payoh Lorong 5"),
        (10, "271714", "31-40", "Ang Mo Kio Avenue 12"),
        (11, "341338", "21-30", "Tampines Street 90"),
        (12, "529057", "21-30", "Tampines Street 90"),
        (13, "390438", "31-40", "Ang Mo Kio Avenue 12"),
    ]
    step = SuppressRecords(where="Address = 'Stonehenge Road'").bind(context(0, Column("Address")))
    assert step.apply(table(columns, rows)).drop(ROW).rows() == [row for row in rows if row[0] != 6]


@pytest.mark.requirement("T-02")
def test_pdpc_annex_c_the_class_of_one_banker_is_suppressed():
    """The text removes the banker's record; the published table still shows it, as record 3. The text is followed."""
    officer, it, banker = "Data Protection Officer", "IT", "Banker"
    columns = ["Serial number", "Age", "Gender", "Occupation", "Average number of trips per week"]
    rows = [
        (1, "21 to 30", "Female", officer, 15),
        (2, "31 to 40", "Male", it, 2),
        (3, "21 to 30", "Female", banker, 8),
        (4, "31 to 40", "Male", it, 3),
        (5, "21 to 30", "Female", officer, 1),
        (6, "21 to 30", "Female", officer, 5),
        (7, "31 to 40", "Male", it, 3),
        (8, "31 to 40", "Male", it, 4),
        (9, "21 to 30", "Female", officer, 2),
        (10, "21 to 30", "Female", officer, 11),
        (11, "31 to 40", "Male", it, 0),
    ]
    attributes = ("Age", "Gender", "Occupation")
    before = table(columns, rows)
    small = before.group_by(attributes).agg(pl.len().alias("records")).filter(pl.col("records") < 5)
    after = WithholdClassesStep(attributes, small.select(attributes), drop=True).apply(before)
    assert after.drop(ROW).rows() == [row for row in rows if row[0] != 3]
    assert after.group_by(attributes).len()["len"].to_list() == [5, 5]


# Aggregation


@pytest.mark.requirement("T-18")
def test_meity_2s_2t_purchases_by_price_band():
    """The published bands share their ends; the figures come out where 10000 and 20000 belong to the lower band.

    The last band has two purchases, so the table can only be published with a minimum of 2.
    """
    bands = {10_000: "0-10000", 20_000: "10000-20000", 30_000: "20000-30000"}
    values = [20_000, 10_000, 15_000, 25_000, 30_000, 9_000, 7_000, 19_000, 12_000]
    before = pl.DataFrame(
        {"value": values, "band": [next(name for top, name in bands.items() if value <= top) for value in values]}
    )
    aggregate = Aggregate.model_validate(
        {"by": ["band"], "measures": {"sold": "count", "total": {"sum": "value"}}, "minimum": 2}
    )
    columns = (Column("band"), Column("value", ValueType.INTEGER, pl.Int64()))
    step = aggregate.bind(context(0, *columns))
    assert step.finish(step.apply(before)).drop("withheld").rows() == [
        ("0-10000", 3, 26_000),
        ("10000-20000", 4, 66_000),
        ("20000-30000", 2, 55_000),
    ]
    careful = aggregate.model_copy(update={"minimum": 3}).bind(context(0, *columns))
    assert careful.finish(careful.apply(before))["sold"].to_list() == [3, 4, None]


DONATIONS = [
    (4000, 210), (4900, 420), (2200, 150), (4200, 110), (5500, 260), (2600, 40), (3300, 130), (5500, 210), (1600, 380),
    (3200, 80), (2000, 440), (5800, 400), (4600, 390), (1900, 480), (1700, 320), (2400, 330), (4300, 390), (2300, 260),
    (3500, 80), (1700, 290),
]  # fmt: skip


def donations() -> pl.DataFrame:
    bands = {1: "1000-1999", 2: "2000-2999", 3: "3000-3999", 4: "4000-4999", 5: "5000-6000"}
    return pl.DataFrame(
        {"income": [bands[income // 1000] for income, _ in DONATIONS], "amount": [amount for _, amount in DONATIONS]}
    )


@pytest.mark.requirement("T-18")
@pytest.mark.parametrize("minimum", [2, 3])
def test_pdpc_annex_a_donations_by_income(minimum):
    aggregate = Aggregate.model_validate(
        {
            "by": ["income"],
            "measures": {"donations": "count", "sum": {"sum": "amount"}},
            "minimum": minimum,
            "totals": True,
            "total_label": "Grand Total",
        }
    )
    step = aggregate.bind(context(0, Column("income"), Column("amount", ValueType.INTEGER, pl.Int64())))
    assert step.finish(step.apply(donations())).drop("withheld").rows() == [
        ("1000-1999", 4, 1470),
        ("2000-2999", 5, 1220),
        ("3000-3999", 3, 290),
        ("4000-4999", 5, 1520),
        ("5000-6000", 3, 870),
        ("Grand Total", 20, 5370),
    ]


@pytest.mark.requirement("T-18")
def test_pdpc_annex_a_a_single_donor_in_a_band_is_not_given_away():
    """What the document warns of: with one donor in a band, the grand total must not tell the donation."""
    lone = donations().filter((pl.col("income") != "3000-3999") | (pl.col("amount") == 130))
    aggregate = Aggregate.model_validate(
        {"by": ["income"], "measures": {"n": "count", "sum": {"sum": "amount"}}, "minimum": 3, "totals": True}
    )
    step = aggregate.bind(context(0, Column("income"), Column("amount", ValueType.INTEGER, pl.Int64())))
    table = step.finish(step.apply(lone))
    withheld = table.filter("withheld")["income"].to_list()
    assert "3000-3999" in withheld
    assert len(withheld) == 2
    assert table.filter(pl.col("income") == "Total")["sum"].to_list() == [5370 - 160]
