"""Odd tables get a good result or one clear line: types stay, words among numbers stay, nothing falls over."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.support.commands import Call

import shoal
from shoal.errors import DataError

pytestmark = pytest.mark.requirement("T-25")

ROWS = 240
_NUMBERS = np.random.default_rng(19)
_START = datetime.datetime(2024, 1, 1)  # noqa: DTZ001


def _moments() -> pl.Series:
    return pl.Series([_START + datetime.timedelta(minutes=int(one)) for one in _NUMBERS.integers(0, 10**5, ROWS)])


ODD: Mapping[str, pl.Series] = {
    "all missing": pl.Series([None] * ROWS, dtype=pl.Int64),
    "no numbers": pl.Series(_NUMBERS.choice([float("nan"), float("inf"), 3.0], ROWS)),
    "some no numbers": pl.Series([float("nan") if at % 5 == 0 else float(at % 50) for at in range(ROWS)]),
    "ends of the type": pl.Series([2**63 - 1 if at % 2 else -(2**63) for at in range(ROWS)]),
    "beyond signed numbers": pl.Series([2**63 + at % 7 for at in range(ROWS)], dtype=pl.UInt64),
    "beyond all numbers": pl.Series([str(10**25 + at % 7) for at in range(ROWS)]),
    "huge": pl.Series(_NUMBERS.choice([1e300, -1e300, 1e-300, 3.0], ROWS)),
    "of all sizes": pl.Series(10.0 ** _NUMBERS.uniform(-20, 20, ROWS)),
    "long decimals": pl.Series([Decimal(int(one)) * 10**18 for one in _NUMBERS.integers(10**12, 10**13, ROWS)]),
    "negative nought": pl.Series(_NUMBERS.choice([-0.0, 0.0, 1.5], ROWS)),
    "ends of the calendar": pl.Series(
        [datetime.date(9999, 12, 31), datetime.date(1, 1, 1), *[datetime.date(1990, 1, 1)] * 28] * (ROWS // 30)
    ),
    "times": _moments().dt.time(),
    "spans": pl.Series([datetime.timedelta(minutes=int(one)) for one in _NUMBERS.integers(0, 900, ROWS)]),
    "nanoseconds": _moments().cast(pl.Datetime("ns")),
    "milliseconds": _moments().cast(pl.Datetime("ms")),
    "zoned": _moments().dt.replace_time_zone("Europe/Berlin", ambiguous="earliest", non_existent="null"),
    "small": pl.Series(_NUMBERS.integers(-128, 128, ROWS)).cast(pl.Int8),
    "unsigned": pl.Series(_NUMBERS.integers(0, 256, ROWS)).cast(pl.UInt8),
    "single": pl.Series(_NUMBERS.normal(0, 1, ROWS)).cast(pl.Float32),
    "money": pl.Series([Decimal(int(one)).scaleb(-2) for one in _NUMBERS.integers(0, 10**5, ROWS)]),
    "digits as text": pl.Series(_NUMBERS.choice(["0", "1", "2"], ROWS)),
    "truth": pl.Series(_NUMBERS.choice([True, False], ROWS)),
}

NOT_BLURRED = {
    *("no numbers", "some no numbers", "ends of the type", "beyond signed numbers", "huge", "spans"),
}


def beside_age(values: pl.Series, name: str = "odd") -> pl.DataFrame:
    return pl.DataFrame({"age": _NUMBERS.integers(18, 90, len(values)), name: values})


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("method", ["sequential", "network", "hybrid"])
@pytest.mark.parametrize("name", ODD)
def test_every_type_comes_back(name: str, method: str) -> None:
    table = beside_age(ODD[name])
    epsilon = 1 if method == "network" else None
    made = shoal.synthesise(table, method=method, epsilon=epsilon, seed=1, evidence=name in {"huge", "times"}).data
    if method == "network" and made["odd"].to_list()[:1] == ["synthetic-1"]:
        return  # so little was seen of it within ε that it was numbered anew
    assert made.schema == table.schema
    assert made.height


@pytest.mark.parametrize("name", ODD)
def test_test_data_has_the_types_that_are_stored(name: str) -> None:
    table = beside_age(ODD[name])
    assert shoal.synthesise(table, method="test-data", seed=1).data.schema == table.schema


@pytest.mark.parametrize("name", ODD)
def test_heavy_test_data_leaves_out_what_noise_does_not_fit(name: str, tmp_path: Path, call: Call) -> None:
    beside_age(ODD[name]).write_parquet(tmp_path / "odd.parquet")
    assert call("synth", "odd.parquet", "-o", "out", "--method", "test-data", "--heavy").code == 0
    kept = pl.read_parquet(tmp_path / "out" / "data.parquet").columns
    assert ("odd" in kept) == (name not in NOT_BLURRED)


def test_words_among_numbers_stay_as_frequent() -> None:
    lab = [["<5", ">1000", "neg", "lost"][at % 4] if at % 5 == 0 else f"{at / 10:.1f}" for at in range(1000)]
    made = shoal.synthesise(beside_age(pl.Series(lab), "lab"), seed=1, evidence=False).data["lab"]
    words = made.filter(made.is_in(["<5", ">1000", "neg", "lost"]))
    assert abs(len(words) - 200) < 30
    numbers = made.filter(~made.is_in(["<5", ">1000", "neg", "lost"])).cast(pl.Float64)
    assert 40 < float(numbers.mean()) < 60  # type: ignore[arg-type]
    assert made.null_count() == 0


def test_dates_outside_the_calendar_spoil_no_others() -> None:
    born = [str(datetime.date(1950, 1, 1) + datetime.timedelta(days=37 * at)) for at in range(400)]
    born[7], born[70] = "2001-02-30", "0000-00-00"
    made = shoal.synthesise(beside_age(pl.Series(born), "born"), seed=1, evidence=False).data["born"]
    days = made.drop_nulls().str.to_date()
    assert len(days) > 390
    assert days.is_between(datetime.date(1950, 1, 1), datetime.date(1991, 1, 1)).all()


def test_codes_with_digits_are_no_measurements() -> None:
    codes = [f"V{at}" if at % 9 == 0 else str(200 + at) for at in range(300)]
    release = shoal.synthesise(beside_age(pl.Series(codes), "code"), seed=1, evidence=False)
    assert release.manifest.synthesis is not None
    assert release.manifest.synthesis.shapes["code"]["kind"] in {"identifier", "text"}


def test_times_as_text_are_times() -> None:
    seen = pl.Series([f"{at % 24:02d}:{7 * at % 60:02d}" for at in range(ROWS)])
    made = shoal.synthesise(beside_age(seen, "seen"), seed=1, evidence=False).data["seen"]
    assert made.str.contains("^[0-2][0-9]:[0-5][0-9]$").all()
    assert made.n_unique() > 50


def test_keys_of_a_text_file_stay_numbers(tmp_path: Path, call: Call) -> None:
    beside_age(pl.Series(range(1, ROWS + 1)), "visit_id").write_csv(tmp_path / "visits.csv")
    assert call("synth", "visits.csv", "-o", "out", "--no-evidence").code == 0
    keys = pl.read_csv(tmp_path / "out" / "data.csv")["visit_id"]
    assert keys.dtype == pl.Int64
    assert keys.n_unique() == ROWS
    assert not keys.is_in(range(1, ROWS + 1)).any()


@pytest.mark.parametrize("method", ["sequential", "marginals"])
def test_a_table_of_which_nothing_can_be_learnt(tmp_path: Path, call: Call, method: str) -> None:
    pl.DataFrame({"id": range(ROWS), "gone": pl.Series([None] * ROWS, dtype=pl.String)}).write_csv(tmp_path / "ids.csv")
    epsilon = ("--epsilon", "1") if method == "marginals" else ()
    assert call("synth", "ids.csv", "-o", "out", "--method", method, *epsilon).code == 0
    told = json.loads((tmp_path / "out" / "release.json").read_text())
    assert told["kind"] == "synthetic"
    gated = call("synth", "ids.csv", "-o", "gated", "--method", method, *epsilon, "--require", "tv1=0.1")
    assert gated.code == 2
    assert not (tmp_path / "gated").exists()


def test_a_wide_table_of_test_data_is_refused(tmp_path: Path, call: Call) -> None:
    pl.DataFrame({f"c{at}": [1, 2] for at in range(1001)}).write_csv(tmp_path / "wide.csv")
    done = call("synth", "wide.csv", "-o", "out", "--method", "test-data", "--heavy")
    assert done.code == 2
    assert "1,001 columns is too wide" in done.stderr


def test_many_columns_of_few_values_take_seconds() -> None:
    """A budget of so many pairs that looking at each closely would take minutes."""
    table = pl.DataFrame({f"c{at}": _NUMBERS.integers(0, 2, 300) for at in range(40)})
    made = shoal.synthesise(table, method="marginals", epsilon=1, seed=1, evidence=False).data
    assert made.schema == table.schema


def test_independent_columns_betray_no_members() -> None:
    """Trees that split wherever chance lets them keep the peculiarities of few records."""
    numbers = np.random.default_rng(5)
    table = pl.DataFrame({f"q{at}": numbers.choice(["yes", "no", "unknown"], 2000) for at in range(24)})
    release = shoal.synthesise(table, seed=1)
    assert not [one.attack for one in release.attacks if one.found]
    assert release.model is not None
    assert sum(one["leaves"] for one in release.model.inspect()["columns"].values()) < 100


def test_too_few_records_are_refused_in_one_line() -> None:
    with pytest.raises(DataError, match=r"too small to be synthesised \(records: 3 of at least 10, columns: 1\)"):
        shoal.synthesise(pl.DataFrame({"age": [1, 2, 3]}), seed=1)


def test_a_table_that_is_too_wide_is_refused_before_its_texts_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """To read ten thousand columns took a minute, after which they were refused all the same."""
    monkeypatch.setattr("shoal.synthetic_release.run.typed", None)
    wide = pl.DataFrame({f"c{place}": ["1", "2"] for place in range(1_001)})
    with pytest.raises(DataError, match="too wide: at most 1,000"):
        shoal.synthesise(wide, method="marginals", epsilon=1.0, delta=1e-9, evidence=False)
