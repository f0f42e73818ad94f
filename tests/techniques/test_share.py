"""Secret sharing of a column: it leaves the table, the parties' files are random, and enough of them give it back."""

from __future__ import annotations

import datetime
import pickle
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from tests.support.policies import policy_text

import shoal
from shoal.errors import DataError, InputError, IntegrityError, ShoalError, SourceError
from shoal.randomness import Randomness
from shoal.schema import ROW, Column, ValueType
from shoal.secure_aggregation.secret_sharing import combine_shares, rebuild, sum_of_shares
from shoal.techniques import Context
from shoal.techniques.cryptographic.share import SecretSharing

pytestmark = pytest.mark.requirement("T-23")

PEOPLE = pl.DataFrame(
    {
        "ward": ["north", "south", "north", "east", "south"],
        "pay": [1200.5, None, -30.25, 0.0, 99999.99],
        "visits": [1, 2, 3, 4, -5],
    }
)
SHARED = {
    "pay": "technique: {share: {parties: 3, threshold: 2}}",
    "visits": "technique: {share: {parties: 3}}",
}
POLICY = policy_text("people.csv", "", SHARED, insensitive="ward pay visits")


@pytest.fixture(scope="module")
def release() -> Any:
    return shoal.anonymise(PEOPLE, shoal.Policy.from_text(POLICY))


def file(release: Any, party: int, column: str = "pay") -> pl.DataFrame:
    return release.files[f"shares/party-{party}/{column}"]


def test_the_columns_leave_the_table(release: Any) -> None:
    assert release.data.columns == ["ward"]
    assert sorted(release.files) == [f"shares/party-{n}/{name}" for n in (1, 2, 3) for name in ("pay", "visits")]


@pytest.mark.parametrize("parties", [(1, 2), (2, 3), (3, 1), (1, 2, 3)])
def test_enough_parties_have_the_values(release: Any, parties: tuple[int, ...]) -> None:
    table = rebuild([file(release, party) for party in parties])
    assert table["record"].to_list() == [1, 2, 3, 4, 5]
    expected = [Decimal("1200.50"), None, Decimal("-30.25"), Decimal("0.00"), Decimal("99999.99")]
    assert table["pay"].to_list() == expected


def test_several_columns_make_one_table(release: Any) -> None:
    table = rebuild([file(release, party, name) for party in (1, 2, 3) for name in ("visits", "pay")])
    assert table.columns == ["record", "visits", "pay"]
    assert table["visits"].to_list() == PEOPLE["visits"].to_list()


def test_each_party_adds_up_for_itself(release: Any) -> None:
    total = combine_shares([sum_of_shares(file(release, party)) for party in (3, 2)])
    assert (total.sum, total.records, total.present) == (Decimal("101170.24"), 5, 4)
    assert total.mean == pytest.approx(25292.56)
    visits = combine_shares([sum_of_shares(file(release, party, "visits")) for party in (1, 2, 3)])
    assert (visits.sum, visits.present) == (5, 5)


def test_a_party_sees_neither_values_nor_gaps(release: Any) -> None:
    for party in (1, 2, 3):
        shares = file(release, party)
        assert shares.null_count().sum_horizontal().item() == 0
        assert shares["present"].n_unique() == 5
        assert (shares["share"] > 1 << 32).all()


@pytest.mark.parametrize("technique", [SecretSharing(parties=2), SecretSharing(parties=4, threshold=2)])
def test_shares_depend_on_the_record_and_not_on_the_batch(technique: SecretSharing) -> None:
    column = Column("value", ValueType.INTEGER, rows=8, missing=1)
    bound = technique.bind(column, _context())
    step = pickle.loads(pickle.dumps(bound))  # noqa: S301  # our own bytes
    frame = pl.DataFrame({"value": [5, 5, None, 5, 7, 8, 9, 5], ROW: pl.Series(range(8), dtype=pl.UInt64)})
    whole = step.apply(frame)
    assert pl.concat([step.apply(frame[:3]), step.apply(frame[3:])]).equals(whole)
    assert step.apply(frame.clear()).schema == whole.schema
    assert all(whole[name].n_unique() == 8 for name in whole.columns)  # equal values, different shares


@settings(max_examples=40)
@given(
    st.lists(st.none() | st.integers(-(10**15), 10**15), min_size=1, max_size=20),
    st.integers(2, 5).flatmap(lambda n: st.tuples(st.just(n), st.integers(2, n))),
)
def test_what_was_split_can_be_joined(values: list[int | None], sizes: tuple[int, int]) -> None:
    parties, threshold = sizes
    column = Column("value", ValueType.INTEGER, rows=len(values), missing=values.count(None))
    step = SecretSharing(parties=parties, threshold=threshold).bind(column, _context())
    rows = pl.Series(range(len(values)), dtype=pl.UInt64)
    hidden = step.apply(pl.DataFrame({"value": pl.Series(values, dtype=pl.Int64), ROW: rows}))
    files = [
        beside.shape(hidden.lazy().select(pl.col(name).alias(to) for name, to in beside.columns.items())).collect()
        for beside in step.sidecar_files
        if beside.shape is not None
    ]
    assert rebuild(files[-threshold:])["value"].to_list() == values
    total = combine_shares([sum_of_shares(each) for each in files[:threshold]])
    assert total.sum == sum(value for value in values if value is not None)
    assert total.present == len(values) - values.count(None)


def test_dates_and_truth_values_come_back() -> None:
    frame = pl.DataFrame(
        {
            "born": [datetime.date(1999, 12, 31), datetime.date(1900, 1, 1)],
            "seen": [datetime.datetime(2026, 1, 2, 3, 4, 5), None],  # noqa: DTZ001  # as tables have them
            "ill": [True, False],
            "kept": [1, 2],
        }
    )
    keys = "".join(
        f"  {name}: {{role: insensitive, technique: {{share: {{parties: 2}}}}}}\n" for name in frame.columns[:3]
    )
    policy = f"shoal: 1\nname: shared\nattributes:\n{keys}  kept: {{role: insensitive}}\n"
    files = shoal.anonymise(frame, shoal.Policy.from_text(policy)).files
    assert rebuild(files.values()).drop("record").select("born", "seen", "ill").equals(frame.drop("kept"))


def test_files_follow_the_released_records(tmp_path: Path) -> None:
    """In a folder, shuffled, with records left out: record i of the data is record i of the shares."""
    count = 500
    people = pl.DataFrame({"number": np.arange(count), "pay": np.arange(count) * 100})
    people.write_csv(tmp_path / "in.csv")
    rest = 'suppress_records: {where: "number < 100"}\nshuffle_rows: true'
    policy = policy_text("in.csv", rest, {"pay": "technique: {share: {parties: 2}}"}, insensitive="number pay")
    release = shoal.anonymise(tmp_path / "in.csv", shoal.Policy.from_text(policy), output=tmp_path / "out")
    data, table = pl.read_csv(release.data), rebuild(release.files.values())
    assert data.height == 400
    assert not data["number"].is_sorted()
    assert (table["pay"] == data["number"] * 100).all()


@pytest.mark.parametrize(
    ("files", "error", "message"),
    [
        (lambda one, _: [file(one, 1)], InputError, "2 of 3 parties are needed, and there are files of 1"),
        (lambda one, _: [file(one, 2), file(one, 2)], IntegrityError, "twice"),
        (lambda one, other: [file(one, 1), file(other, 2)], IntegrityError, "different releases"),
        (lambda one, _: [file(one, 1), file(one, 2).head(3)], IntegrityError, "same records"),
        (lambda one, _: [file(one, 1), file(one, 2).drop("present")], IntegrityError, "altered"),
        (lambda one, _: [file(one, 1), file(one, 2).drop("set")], SourceError, "not a file of shares"),
        (lambda one, other: [file(one, 1), pl.concat([file(one, 2), file(other, 2)])], IntegrityError, "belong"),
        (lambda one, _: [file(one, 1), file(one, 2).with_columns(present=pl.lit(3, pl.UInt64))], IntegrityError, "fit"),
        (lambda one, _: [file(one, 1), file(one, 2).with_columns(party=9)], SourceError, "not a file of shares"),
    ],
)  # fmt: skip
def test_files_that_dont_fit_are_refused(release: Any, files: Any, error: type[ShoalError], message: str) -> None:
    other = shoal.anonymise(PEOPLE, shoal.Policy.from_text(POLICY))
    with pytest.raises(error, match=message):
        rebuild(files(release, other))


def test_sums_that_dont_fit_are_refused(release: Any) -> None:
    other = shoal.anonymise(PEOPLE, shoal.Policy.from_text(POLICY))
    with pytest.raises(IntegrityError, match="different releases"):
        combine_shares([sum_of_shares(file(release, 1)), sum_of_shares(file(other, 2))])
    with pytest.raises(IntegrityError, match="same records"):
        combine_shares([sum_of_shares(file(release, 1)), sum_of_shares(file(release, 2).head(2))])
    with pytest.raises(InputError, match="are needed"):
        combine_shares([sum_of_shares(file(release, 1))])


def test_parameters_have_limits() -> None:
    for wrong in ({"parties": 1}, {"parties": 3, "threshold": 4}, {"parties": 3, "threshold": 1}, {"parties": 256}):
        with pytest.raises(ValidationError):
            SecretSharing(**wrong)


def test_what_cant_be_shared_is_refused() -> None:
    assert "works on" in (SecretSharing(parties=2).refuse(Column("name")) or "")
    assert "decimals" in (SecretSharing(parties=2, decimals=2).refuse(Column("visits", ValueType.INTEGER)) or "")
    assert SecretSharing(parties=2).refuse(Column("visits", ValueType.INTEGER)) is None


def test_numbers_too_large_and_gaps_that_came_later_stop_the_run() -> None:
    rows = pl.Series([0, 1], dtype=pl.UInt64)
    step = SecretSharing(parties=3, threshold=2).bind(Column("pay", ValueType.INTEGER, rows=2), _context())
    with pytest.raises(DataError, match=r"1 value.*too many digits") as raised:
        step.apply(pl.DataFrame({"pay": [1, 1 << 61], ROW: rows}))
    assert str(1 << 61) not in str(raised.value)
    with pytest.raises(DataError, match="went missing"):
        step.apply(pl.DataFrame({"pay": [1, None], ROW: rows}))


def _context() -> Context:
    return Context({}, Randomness(3).stream("share"))
