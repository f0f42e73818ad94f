"""Order-preserving encryption of a column: ranges and sorting work on ciphertext, and so do attacks."""

from __future__ import annotations

import datetime
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

import shoal
from shoal.attack.codes.frequency_analysis import PairedColumn, cumulative, sorting
from shoal.crypto import Key
from shoal.crypto.hazmat.order_preserving import OrderPreserving
from shoal.errors import DataError, InputError
from shoal.schema import ROW, Column, ValueType
from shoal.techniques.cryptographic.encryption.encrypt import Encrypt
from shoal.techniques.cryptographic.encryption.order_preserving import bind_order, cipher_of, undo_order

pytestmark = pytest.mark.requirement("T-20")

KEY = Key(bytes(range(32)))
AGE = Column("value", ValueType.INTEGER, storage=pl.Int64(), rows=3)
PAY = Column("value", ValueType.DECIMAL, scale=2, rows=3)
BORN = Column("value", ValueType.DATE, date_format="%d/%m/%Y", rows=3)
SEEN = Column("value", ValueType.DATETIME, storage=pl.Datetime("us"), rows=3)


def order(**given: Any) -> Encrypt:
    return Encrypt(scheme="order_preserving", **given)


def run(technique: Encrypt, values: pl.Series, column: Column) -> pl.Series:
    """Through a pickle, as on the way to an executor; the empty frame must promise the same schema."""
    assert technique.refuse(column) is None
    step = pickle.loads(pickle.dumps(bind_order(technique, column, KEY)))  # noqa: S301  # our own bytes
    frame = pl.DataFrame({"value": values, ROW: pl.Series(range(len(values)), dtype=pl.UInt64)})
    applied = step.apply(frame)
    assert step.apply(frame.clear()).schema == applied.schema
    assert applied["value"].dtype == technique.leaves(column).storage
    return applied["value"]


@settings(max_examples=40)
@given(st.lists(st.none() | st.integers(-500, 500), max_size=30))
def test_ciphertexts_are_sorted_as_integers_are(values: list[int | None]) -> None:
    technique, plain = order(bounds=(-500, 500)), pl.Series(values, dtype=pl.Int64)
    encrypted = run(technique, plain, AGE)
    assert encrypted.rank("dense").to_list() == plain.rank("dense").to_list()
    assert undo_order(technique, AGE, encrypted, KEY).to_list() == values


@settings(max_examples=40)
@given(st.lists(st.none() | st.integers(-99_999, 99_999).map(lambda cents: f"{cents / 100:.2f}"), max_size=20))
def test_ciphertexts_are_sorted_as_decimals_are(values: list[str | None]) -> None:
    plain = pl.Series(values, dtype=pl.String)
    encrypted = run(order(bounds=(-999.99, 999.99)), plain, PAY)
    assert encrypted.rank("dense").to_list() == plain.cast(pl.Float64).rank("dense").to_list()
    back = undo_order(order(bounds=(-999.99, 999.99)), PAY, encrypted, KEY)
    assert [None if value is None else f"{value}" for value in back] == [
        None if value is None else f"{float(value) + 0:.2f}" for value in values
    ]


def test_ciphertexts_are_sorted_as_dates_are() -> None:
    plain = pl.Series(["01/02/2020", "31/12/1999", None, "01/01/2021", "01/02/2020"])
    encrypted = run(order(), plain, BORN)
    assert encrypted.rank("dense").to_list() == [2, 1, None, 3, 2]
    assert undo_order(order(), BORN, encrypted, KEY)[1] == datetime.date(1999, 12, 31)
    moments = [datetime.datetime(2026, 1, 2, 3, 4, 5, 678), datetime.datetime(2026, 1, 2, 3, 4, 5, 679)]  # noqa: DTZ001
    seen = run(order(), pl.Series(moments), SEEN)
    assert seen[0] < seen[1]
    assert undo_order(order(), SEEN, seen, KEY).to_list() == moments


def test_ranges_can_be_asked_for_in_another_table(tmp_path: Path) -> None:
    """Two releases, one key file: the ciphertexts of the ends of a range select the right records in both."""
    (tmp_path / "key").write_bytes(KEY.material)
    (tmp_path / "key").chmod(0o600)
    (tmp_path / "policy.yaml").write_text("""
shoal: 1
name: ordered
attributes:
  number: {role: insensitive}
  age: {role: insensitive, technique: {encrypt: {scheme: order_preserving, key: "file:key", bounds: [0, 120]}}}
""")
    policy = shoal.Policy.load(tmp_path / "policy.yaml")
    ages = np.random.default_rng(1).integers(18, 95, 400)
    frames = [pl.DataFrame({"number": range(200), "age": part}) for part in (ages[:200], ages[200:])]
    released = [shoal.anonymise(frame, policy).data for frame in frames]
    technique = order(bounds=(0, 120), key="file:key").resolve(tmp_path)
    low, high = cipher_of(technique, AGE, technique.secret("age", None)).encrypt(np.array([30, 40]))
    for frame, data in zip(frames, released, strict=True):
        assert data["age"].dtype == pl.Int64
        assert data["age"].is_between(low, high).to_list() == frame["age"].is_between(30, 40).to_list()
        assert (data["age"] < 1 << 52).all()


@pytest.mark.requirement("R-05")
def test_its_leakage_is_found_by_the_attacks() -> None:
    """Cumulative frequencies and sorting find most values without the key, far more than guessing does."""
    generator = np.random.default_rng(5)
    ages = np.clip(generator.normal(45, 18, 20_000), 0, 99).astype(np.int64)
    elsewhere = np.clip(generator.normal(45, 18, 20_000), 0, 99).astype(np.int64)
    released = run(order(bounds=(0, 120)), pl.Series("age", ages), AGE)
    known = cumulative(PairedColumn.of(released.alias("age"), pl.Series("age", ages)))
    similar = cumulative(PairedColumn.of(released.alias("age"), pl.Series("age", ages), pl.Series("age", elsewhere)))
    dense = sorting(PairedColumn.of(released.alias("age"), pl.Series("age", ages)))
    assert known.success.share == dense.success.share == 1.0
    assert known.baseline.share < 0.05
    assert similar.success.share > 10 * similar.baseline.share


def test_a_place_in_the_range_tells_about_where_the_value_lies() -> None:
    """The leak that the scheme has even for a single value (Boldyreva, Chenette & O'Neill 2011)."""
    cipher = cipher_of(order(bounds=(0, 1_000_000)), AGE, KEY)
    values = np.arange(0, 1_000_001, 1000)
    guessed = cipher.encrypt(values) / 2.0**cipher.bits * 1_000_000
    assert np.abs(guessed - values).max() < 5_000


@pytest.mark.parametrize(
    ("technique", "column", "values"),
    [
        (order(bounds=(0, 120)), AGE, [5, 121, -1, None]),
        (order(bounds=(0, 9.99)), PAY, ["5.00", "10.00", "-0.01", None]),
        (order(), AGE, [5, 1 << 31, -(1 << 31) - 1, None]),
        (order(bounds=(datetime.date(2000, 1, 1), datetime.date(2001, 1, 1))), BORN,
         ["01/01/2000", "31/12/1999", "02/01/2001", None]),
    ],
)  # fmt: skip
def test_values_outside_the_bounds_are_refused_and_counted(technique: Encrypt, column: Column, values: Any) -> None:
    with pytest.raises(DataError, match="'value': 2 value") as raised:
        run(technique, pl.Series(values), column)
    assert not any(str(value) in str(raised.value) for value in values[1:3])


@pytest.mark.parametrize(
    ("technique", "column", "reason"),
    [
        (order(), Column("name"), "numbers and dates"),
        (order(), Column("ill", ValueType.BOOLEAN), "numbers and dates"),
        (order(bounds=(0, 5)), BORN, "dates for dates"),
        (order(bounds=(5, 5)), AGE, "fewer than two"),
        (order(bounds=(9, 5)), AGE, "fewer than two"),
        (order(bounds=(0, 120), range_bits=14), AGE, "15 bits"),
        (order(bounds=(0, 1 << 60)), AGE, "at most 62"),
        (order(bounds=(0, 1e15)), PAY, "15 digits"),
    ],
)
def test_what_makes_no_sense_is_refused(technique: Encrypt, column: Column, reason: str) -> None:
    assert reason in (technique.refuse(column) or "")


def test_parameters_belong_to_the_scheme() -> None:
    assert order(bounds=(0, 120), range_bits=15).refuse(AGE) is None
    for wrong in ({"range_bits": 63}, {"bounds": (1,)}, {"alphabet": "digits"}):
        with pytest.raises(ValidationError):
            order(**wrong)
    with pytest.raises(ValidationError, match="doesn't take bounds"):
        Encrypt(scheme="deterministic", bounds=(0, 5))


def test_a_key_that_is_forgotten_is_refused() -> None:
    policy = shoal.Policy.from_text("""
shoal: 1
name: ordered
attributes:
  age: {role: insensitive, technique: {encrypt: {scheme: order_preserving}}}
""")
    with pytest.raises(InputError, match="forgotten"):
        shoal.anonymise(pl.DataFrame({"age": [1, 2]}), policy)


def test_decimals_make_tables_of_different_digits_comparable() -> None:
    technique = order(bounds=(0, 100), decimals=3)
    two = run(technique, pl.Series(["5.25", "7.50"]), PAY)
    whole = run(technique, pl.Series([5, 8]), AGE)
    assert whole[0] < two[0] < two[1] < whole[1]


def test_each_value_is_worked_on_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many batches it turns up in."""
    asked: list[int] = []
    encrypt = OrderPreserving.encrypt

    def watched(cipher: OrderPreserving, values: Any) -> Any:
        asked.extend(values.tolist())
        return encrypt(cipher, values)

    monkeypatch.setattr(OrderPreserving, "encrypt", watched)
    step = bind_order(order(bounds=(0, 9)), AGE, KEY)
    frame = pl.DataFrame({"value": [5, None, 7, 5, 5, 7, 9, None], ROW: pl.Series(range(8), dtype=pl.UInt64)})
    whole = pl.concat([step.apply(part) for part in (frame[:2], frame[2:2], frame[2:5], frame[5:])])
    assert sorted(asked) == [5, 7, 9]
    assert whole["value"].rank("dense").to_list() == [1, None, 2, 1, 1, 2, 3, None]


def test_edges() -> None:
    nothing = run(order(), pl.Series([None, None], dtype=pl.Int64), AGE)
    assert nothing.to_list() == [None, None]
    assert run(order(), pl.Series([7]), AGE).to_list() == run(order(), pl.Series([7, 7]), AGE)[:1].to_list()
