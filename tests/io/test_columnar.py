"""Parquet, Arrow and JSON lines: types are kept, broken files are refused in words that show no value."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import polars as pl
import pyarrow as pa
import pytest

from shoal.errors import SourceError
from shoal.io import explained, open_source, parse_source
from shoal.io.row_estimates import estimated_rows

moment = datetime.datetime.fromisoformat
pytestmark = pytest.mark.requirement("D-01")

FRAME = pl.DataFrame(
    {
        "id": [3, 1, None],
        "price": pl.Series(["1.50", "2.25", None]).cast(pl.Decimal(10, 2)),
        "share": [0.5, None, 1.0],
        "name": ["Asha", "007", None],
        "seen": [datetime.date(2024, 2, 29), None, datetime.date(1950, 1, 1)],
        "at": [moment("2024-02-29T12:30:15.000005"), None, moment("1950-01-01")],
        "well": [True, None, False],
    }
)


def write_stream(frame: pl.DataFrame, path: Path) -> None:
    table = frame.to_arrow()
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=2)


WRITERS: dict[str, Callable[[pl.DataFrame, Path], object]] = {
    "data.parquet": lambda frame, path: frame.write_parquet(path),
    "data.arrow": lambda frame, path: frame.write_ipc(path),
    "data.feather": write_stream,
}


def test_types_and_order_are_kept(tmp_path: Path) -> None:
    for name, write in WRITERS.items():
        write(FRAME, tmp_path / name)
        source = open_source(parse_source(str(tmp_path / name)))
        for _ in range(2):
            assert source.scan().collect(engine="streaming").equals(FRAME)
        assert source.scan().select("name").head(1).collect().item() == "Asha"
        assert estimated_rows(source) == getattr(source, "rows", None) == FRAME.height


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_moments_of_any_precision(tmp_path: Path, unit: Literal["ms", "us", "ns"]) -> None:
    """Pandas writes nanoseconds, which reach no year that could not be written out."""
    frame = FRAME.select(pl.col("at").cast(pl.Datetime(unit)))
    for name, write in WRITERS.items():
        write(frame, tmp_path / name)
        assert open_source(parse_source(str(tmp_path / name))).scan().collect().equals(frame)


@pytest.mark.parametrize("day", [2**31 - 1, -(2**31), 2_932_897, -719_163])
def test_a_day_outside_the_calendar_is_refused(tmp_path: Path, day: int) -> None:
    for name, write in WRITERS.items():
        write(pl.DataFrame({"seen": pl.Series([0, day], dtype=pl.Int32).cast(pl.Date)}), tmp_path / name)
        with pytest.raises(SourceError, match="column 'seen' holds dates outside the years 1 to 9999"):
            open_source(parse_source(str(tmp_path / name)))


def test_the_content_tells_what_a_file_without_an_ending_is(tmp_path: Path) -> None:
    for write in WRITERS.values():
        write(FRAME, tmp_path / "data")
        assert open_source(parse_source(str(tmp_path / "data"))).scan().collect().equals(FRAME)


def test_categories_and_missing_columns_are_text(tmp_path: Path) -> None:
    kinds = pl.DataFrame(
        {"a": pl.Series(["x", "y"], dtype=pl.Categorical), "b": pl.Series([None, None], dtype=pl.Null)}
    )
    kinds = kinds.with_columns(c=pl.Series(["u", "v"], dtype=pl.Enum(["u", "v"])))
    kinds.write_parquet(tmp_path / "data.parquet")
    frame = open_source(parse_source(str(tmp_path / "data.parquet"))).scan().collect()
    assert frame.schema == pl.Schema({"a": pl.String(), "b": pl.String(), "c": pl.String()})
    assert frame.rows() == [("x", None, "u"), ("y", None, "v")]


def json_lines(folder: Path, text: str | bytes) -> Path:
    path = folder / "data.jsonl"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_json_lines(tmp_path: Path) -> None:
    path = json_lines(tmp_path, '{"id": 1, "name": "007"}\n\n{"name": "é", "id": 2.5}\n')
    frame = open_source(parse_source(str(path))).scan().collect(engine="streaming")
    assert frame.rows() == [(1.0, "007"), (2.5, "é")]


def test_a_key_or_type_that_shows_up_late_counts(tmp_path: Path) -> None:
    path = json_lines(tmp_path, '{"id": 1}\n' * 5000 + '{"id": "x", "late": true}\n')
    frame = open_source(parse_source(str(path))).scan().collect(engine="streaming")
    assert frame.columns == ["id", "late"]
    assert frame.row(-1) == ("x", True)
    assert frame.height == 5001


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": 1}\n{"a": "secret"\n{"a": 3}\n', "not made of one JSON object per line (line 2)"),
        ('{"a": 1}\n["secret"]\n', "not made of one JSON object per line (line 2)"),
        ('[{"a": "secret"}]', "not made of one JSON object per line (line 1)"),
        (b'{"a": "\xe9"}\n', "not made of one JSON object per line (line 1)"),
        ("\n\n", "not made of one JSON object per line"),
        ('{"a": {"b": "secret"}, "c": [1]}\n', "column(s) a, c hold lists, records or binary data"),
        ('{"a": 1, "": 2}\n', "1 column(s) have no name"),
        ("", "is empty"),
    ],
)
def test_json_lines_that_are_none(tmp_path: Path, text: str | bytes, said: str) -> None:
    with pytest.raises(SourceError) as caught:
        open_source(parse_source(str(json_lines(tmp_path, text))))
    assert said in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("name", list(WRITERS))
@pytest.mark.parametrize("share", [0.1, 0.5, 0.95])
def test_truncated_files(tmp_path: Path, name: str, share: float) -> None:
    path = tmp_path / name
    WRITERS[name](pl.concat([FRAME] * 200), path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(SourceError, match="is not a whole"):
        source = open_source(parse_source(str(path)))
        with explained(source):
            source.scan().collect(engine="streaming")


def test_pages_that_are_damaged(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    pl.concat([FRAME] * 2000).write_parquet(path)
    data = bytearray(path.read_bytes())
    data[20:300] = b"\xaa" * 280
    path.write_bytes(bytes(data))
    with pytest.raises(SourceError, match="is not a whole Parquet file"):
        source = open_source(parse_source({"path": str(path), "format": "parquet"}))
        with explained(source):
            source.scan().collect(engine="streaming")


def test_without_records(tmp_path: Path) -> None:
    for name, write in WRITERS.items():
        write(FRAME.clear(), tmp_path / name)
        with pytest.raises(SourceError, match="there are no records"):
            open_source(parse_source(str(tmp_path / name)))


def test_what_is_not_a_table_of_single_values(tmp_path: Path) -> None:
    pl.DataFrame({"a": [1], "b": [[1, 2]], "c": [b"x"]}).write_parquet(tmp_path / "data.parquet")
    with pytest.raises(SourceError, match=r"column\(s\) b, c hold lists"):
        open_source(parse_source(str(tmp_path / "data.parquet")))


def test_a_name_that_promises_another_format(tmp_path: Path) -> None:
    FRAME.write_parquet(tmp_path / "data.arrow")
    with pytest.raises(SourceError, match=r"is a Parquet file \(say format=parquet\)"):
        open_source(parse_source(str(tmp_path / "data.arrow")))
    (tmp_path / "text.parquet").write_text("a,b\n1,2\n")
    with pytest.raises(SourceError, match="is not a whole Parquet file"):
        open_source(parse_source(str(tmp_path / "text.parquet")))


def test_options_that_mean_nothing(tmp_path: Path) -> None:
    FRAME.write_parquet(tmp_path / "data.parquet")
    with pytest.raises(SourceError, match="separator, encoding can't be said of a file in the format parquet"):
        open_source(parse_source({"path": str(tmp_path / "data.parquet"), "separator": ";", "encoding": "cp1252"}))


def test_a_file_that_changes(tmp_path: Path) -> None:
    FRAME.write_parquet(tmp_path / "data.parquet")
    source = open_source(parse_source(str(tmp_path / "data.parquet")))
    FRAME.head(1).write_parquet(tmp_path / "data.parquet")
    with pytest.raises(SourceError, match="was changed"):
        source.scan()
