"""Homomorphic encryption of a column: sums and means by people without the key, and nothing in the clear anywhere."""

from __future__ import annotations

import pickle
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.crypto import Key
from shoal.crypto.homomorphic import SLOTS
from shoal.errors import DataError, IntegrityError, SourceError
from shoal.schema import ROW, Column, ValueType
from shoal.secure_aggregation.homomorphic import (
    ALL,
    EncryptedTotals,
    encrypted_file,
    encrypted_sum,
    encrypted_sums,
    open_totals,
)
from shoal.techniques.cryptographic.encryption.encrypt import Encrypt
from shoal.techniques.cryptographic.encryption.homomorphic import bind_homomorphic

pytest.importorskip("tenseal", reason="homomorphic encryption needs the extra `crypto`")
pytestmark = pytest.mark.requirement("T-22")

SECRET = Key(bytes(range(32)))
PEOPLE = 2 * SLOTS + 1000
POLICY = """
shoal: 1
name: encrypted
attributes:
  ward: {role: insensitive}
  pay: {role: insensitive, technique: {encrypt: {scheme: homomorphic, key: "file:key"}}}
  visits: {role: insensitive, technique: {encrypt: {scheme: homomorphic, key: "file:key"}}}
  number: {role: insensitive}
suppress_records: {where: "number < 500"}
shuffle_rows: true
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release with two encrypted columns: decimals with gaps, and integers without."""
    here = tmp_path_factory.mktemp("homomorphic")
    (here / "key").write_bytes(SECRET.material)
    (here / "key").chmod(0o600)
    (here / "policy.yaml").write_text(POLICY)
    people().write_csv(here / "in.csv")
    shoal.anonymise(here / "in.csv", shoal.Policy.load(here / "policy.yaml"), output=here / "out")
    return here


def people() -> pl.DataFrame:
    generator = np.random.default_rng(22)
    pay = pl.Series(np.round(generator.uniform(-1000, 90_000, PEOPLE), 2)).set(
        pl.Series(generator.random(PEOPLE) < 0.1), None
    )
    ward = pl.Series(generator.choice(["north", "south", "east"], PEOPLE))
    return pl.DataFrame(
        {"ward": ward, "pay": pay, "visits": generator.integers(0, 50, PEOPLE), "number": range(PEOPLE)}
    )


def kept() -> pl.DataFrame:
    return people().filter(pl.col("number") >= 500)


def key(folder: Path) -> Key:
    return Encrypt(scheme="homomorphic", key="file:key").resolve(folder).secret("pay", None)  # type: ignore[call-arg]


def exact_sum(values: pl.Series) -> Decimal:
    return sum((Decimal(str(value)) for value in values.drop_nulls()), Decimal(0))


def test_a_sum_and_a_mean_without_the_key(folder: Path) -> None:
    total = encrypted_sum(encrypted_file(folder / "out", "pay"))
    opened = open_totals(total, key(folder))[ALL]
    expected = kept()["pay"]
    assert opened.sum == exact_sum(expected)
    assert (opened.records, opened.present) == (PEOPLE - 500, expected.count())
    assert opened.mean == pytest.approx(expected.mean())


def test_sums_by_a_column_of_the_released_table(folder: Path) -> None:
    ward = pl.read_csv(folder / "out" / "data.csv")["ward"]
    masks = {name: ward == name for name in ("north", "south", "east")}
    opened = open_totals(encrypted_sums(encrypted_file(folder / "out", "pay"), masks), key(folder))
    for name, total in opened.items():
        expected = kept().filter(ward=name)["pay"]
        assert (total.sum, total.records, total.present) == (exact_sum(expected), len(expected), expected.count())


def test_a_column_without_gaps_needs_no_second_ciphertext(folder: Path) -> None:
    file = encrypted_file(folder / "out", "visits")
    assert pl.read_parquet(file)["present"].null_count() == 3
    opened = open_totals(encrypted_sum(file), key(folder))[ALL]
    assert (opened.sum, opened.present) == (kept()["visits"].sum(), PEOPLE - 500)


def test_totals_travel_as_a_file(folder: Path, tmp_path: Path) -> None:
    total = encrypted_sum(encrypted_file(folder / "out", "pay"))
    total.write(tmp_path / "total.json")
    assert EncryptedTotals.read(tmp_path / "total.json") == total
    (tmp_path / "not.json").write_text('{"totals": 5}')
    for wrong in ("not.json", "absent.json"):
        with pytest.raises(SourceError):
            EncryptedTotals.read(tmp_path / wrong)


def test_nothing_is_in_the_clear(folder: Path) -> None:
    released = pl.read_csv(folder / "out" / "data.csv")
    assert released.columns == ["ward", "number"]
    file = pl.read_parquet(encrypted_file(folder / "out", "pay"))
    assert file["rows"].to_list() == [SLOTS, SLOTS, 500]
    assert file["values"].n_unique() == 3
    told = (folder / "out" / "release.json").read_text()
    assert "homomorphic/pay.parquet" in told
    assert file["set"][0] not in told


def test_values_that_wait_are_not_in_the_clear() -> None:
    """What a step puts aside lies in a temporary file until the release is written."""
    column = Column("pay", ValueType.INTEGER, rows=4, missing=1)
    step = bind_homomorphic(Encrypt(scheme="homomorphic"), column, SECRET)
    frame = pl.DataFrame({"pay": [5, 5, None, 7], ROW: pl.Series(range(4), dtype=pl.UInt64)})
    aside = step.apply(frame)
    hidden = aside["__shoal_homomorphic_values_pay"]
    assert "pay" not in aside.columns
    assert hidden.n_unique() == 4
    assert (hidden > 1 << 40).all()
    again = bind_homomorphic(Encrypt(scheme="homomorphic"), column, SECRET).apply(frame)
    assert not (hidden == again["__shoal_homomorphic_values_pay"]).any()
    assert step.apply(frame.clear()).schema == aside.schema


def test_a_step_travels() -> None:
    column = Column("pay", ValueType.INTEGER, rows=2)
    step = bind_homomorphic(Encrypt(scheme="homomorphic"), column, SECRET)
    frame = pl.DataFrame({"pay": [5, -6], ROW: pl.Series([0, 1], dtype=pl.UInt64)})
    copy = pickle.loads(pickle.dumps(step))  # noqa: S301  # our own bytes
    assert copy.apply(frame).equals(step.apply(frame))
    beside = copy.sidecar_files[0]
    waiting = copy.apply(frame).lazy().select(pl.col(name).alias(to) for name, to in beside.columns.items())
    assert beside.shape is not None
    assert open_totals(encrypted_sum(beside.shape(waiting).collect()), SECRET)[ALL].sum == -1


def test_wrong_keys_masks_and_files(folder: Path, tmp_path: Path) -> None:
    file = encrypted_file(folder / "out", "pay")
    total = encrypted_sum(file)
    with pytest.raises(IntegrityError, match="another key"):
        open_totals(total, SECRET)
    with pytest.raises(DataError, match="a mask of 3"):
        encrypted_sum(file, np.array([True, False, True]))
    with pytest.raises(DataError, match="no record"):
        encrypted_sum(file, np.zeros(PEOPLE - 500, dtype=bool))
    with pytest.raises(SourceError, match="no homomorphically encrypted column 'age'"):
        encrypted_file(folder / "out", "age")
    frame = pl.read_parquet(file)
    for wrong in (frame[1:], frame.drop("set"), pl.concat([frame, frame.with_columns(set=pl.lit("x"))]), frame.clear()):
        with pytest.raises(SourceError):
            encrypted_sum(wrong)
    (tmp_path / "no.parquet").write_text("no")
    for path in (tmp_path / "no.parquet", tmp_path / "absent.parquet"):
        with pytest.raises(SourceError):
            encrypted_sum(path)


@pytest.mark.parametrize(
    ("given", "column", "reason"),
    [
        ({}, Column("name"), "adds up numbers"),
        ({}, Column("born", ValueType.DATE), "adds up numbers"),
        ({"decimals": 2}, Column("visits", ValueType.INTEGER), "decimals"),
    ],
)
def test_what_makes_no_sense_is_refused(given: dict[str, Any], column: Column, reason: str) -> None:
    assert reason in (Encrypt(scheme="homomorphic", **given).refuse(column) or "")


def test_numbers_too_large_stop_the_run() -> None:
    step = bind_homomorphic(Encrypt(scheme="homomorphic"), Column("pay", ValueType.INTEGER, rows=1), SECRET)
    rows = pl.Series([0], dtype=pl.UInt64)
    with pytest.raises(DataError, match="1 value") as raised:
        step.apply(pl.DataFrame({"pay": [1 << 50], ROW: rows}))
    assert str(1 << 50) not in str(raised.value)
    with pytest.raises(DataError, match="went missing"):
        step.apply(pl.DataFrame({"pay": pl.Series([None], dtype=pl.Int64), ROW: rows}))


def test_truth_values_are_counted() -> None:
    column = Column("ill", ValueType.BOOLEAN, rows=3)
    step = bind_homomorphic(Encrypt(scheme="homomorphic"), column, SECRET)
    frame = pl.DataFrame({"ill": ["true", "False", "TRUE"], ROW: pl.Series(range(3), dtype=pl.UInt64)})
    beside = step.sidecar_files[0]
    waiting = step.apply(frame).lazy().select(pl.col(name).alias(to) for name, to in beside.columns.items())
    assert beside.shape is not None
    assert open_totals(encrypted_sum(beside.shape(waiting).collect()), SECRET)[ALL].sum == 2
