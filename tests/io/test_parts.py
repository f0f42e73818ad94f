"""Folders of parts: written in order and in one go, read as one table, told apart from what is not one."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from shoal.assess.measure.request import MeasureRequest
from shoal.assess.measure.table_measurement import measure_data
from shoal.errors import InputError, SourceError, TargetError
from shoal.io import FileOptions, PartsSource, PartsTarget, open_source, parts_target
from shoal.io.formats import partitioned
from shoal.io.formats.partitioned import checksum, checksum_of
from shoal.io.targets import file_target
from shoal.policy import Policy
from shoal.release.run import Release, release_folder
from shoal.results.release_folder import ReleaseFolder
from shoal.scan.policy_suggestion import holds_tables

pytestmark = pytest.mark.requirement("D-01")

TABLE = pl.DataFrame({"a": range(25), "b": [f'x,"{row}"' if row % 3 else None for row in range(25)]})


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.io.formats.partitioned.PART_ROWS", 10)
    monkeypatch.setattr("shoal.io.formats.partitioned._BATCH_ROWS", 5)


def written(path: Path, table: pl.DataFrame = TABLE) -> PartsTarget:
    target = parts_target(file_target(path))
    target.write(table.lazy())
    return target


@pytest.mark.parametrize("name", ["data.parquet", "data.csv", "data.tsv"])
def test_parts_hold_the_table_in_order(tmp_path: Path, name: str) -> None:
    target = written(tmp_path / name)
    ending = Path(name).suffix
    assert [part.path for part in target.parts] == [f"part-0000{number}{ending}" for number in range(3)]
    assert [part.rows for part in target.parts] == [10, 10, 5]
    assert sorted(path.name for path in (tmp_path / name).iterdir()) == [part.path for part in target.parts]
    expected = TABLE if ending == ".parquet" else TABLE.cast(pl.String)
    assert_frame_equal(target.scan().collect(), expected)
    source = open_source(FileOptions(path=str(tmp_path / name)))
    assert isinstance(source, PartsSource)
    assert_frame_equal(source.scan().collect(), expected)


def test_a_table_without_records_is_one_part_without_records(tmp_path: Path) -> None:
    target = written(tmp_path / "data.parquet", TABLE[:0])
    assert [(part.path, part.rows) for part in target.parts] == [("part-00000.parquet", 0)]
    assert target.scan().collect().schema == TABLE.schema


def test_the_checksum_is_that_of_the_tool(tmp_path: Path) -> None:
    target = written(tmp_path / "data.csv")
    command = ["sh", "-c", "sha256sum part-* | sha256sum"]
    said = subprocess.run(command, cwd=target.path, check=True, capture_output=True, text=True).stdout
    assert said.split()[0] == checksum(target.parts) == checksum_of(target.path)
    first = target.path / target.parts[0].path
    assert target.parts[0].sha256 == hashlib.sha256(first.read_bytes()).hexdigest()


def test_files_of_others_are_taken_over_in_order(tmp_path: Path) -> None:
    target = parts_target(file_target(tmp_path / "data.parquet"))
    names = ["z.parquet", "a.parquet"]
    for number, name in enumerate(names):
        TABLE[number * 5 : number * 5 + 5].write_parquet(tmp_path / name)
    target.adopt([(tmp_path / name, partitioned.PartFile(name, 5, "…")) for name in names])
    assert [part.path for part in target.parts] == ["part-00000.parquet", "part-00001.parquet"]
    assert_frame_equal(target.scan().collect(), TABLE[:10])
    assert [path.name for path in tmp_path.iterdir()] == ["data.parquet"]


def test_what_is_there_is_not_written_over(tmp_path: Path) -> None:
    target = parts_target(file_target(tmp_path / "data.parquet"))
    target.path.mkdir()
    with pytest.raises(TargetError):
        target.write(TABLE.lazy())


@pytest.mark.parametrize("name", ["data.xlsx", "data.jsonl", "data.arrow"])
def test_formats_that_have_no_parts(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="parts are written as Parquet or CSV"):
        parts_target(file_target(tmp_path / name))


class TestFoldersOfOthers:
    def _open(self, folder: Path) -> pl.DataFrame:
        return open_source(FileOptions(path=str(folder))).scan().collect()

    def test_as_spark_writes_them(self, tmp_path: Path) -> None:
        folder = tmp_path / "people"
        folder.mkdir()
        for number in range(2):
            TABLE[number * 5 : number * 5 + 5].write_parquet(folder / f"part-0000{number}-3f-c000.snappy.parquet")
        (folder / "_SUCCESS").touch()
        (folder / ".part-00000.crc").write_bytes(b"x")
        assert_frame_equal(self._open(folder), TABLE[:10])

    def test_a_folder_of_anything_is_not_one(self, tmp_path: Path) -> None:
        TABLE.write_parquet(tmp_path / "a.parquet")
        with pytest.raises(SourceError, match="is a folder, not a file"):
            self._open(tmp_path)

    def test_parts_that_are_not_alike(self, tmp_path: Path) -> None:
        TABLE.write_parquet(tmp_path / "part-0.parquet")
        TABLE.select("a").write_parquet(tmp_path / "part-1.parquet")
        with pytest.raises(SourceError, match="not all the same columns"):
            self._open(tmp_path)
        (tmp_path / "part-1.parquet").unlink()
        TABLE.write_csv(tmp_path / "part-1.csv")
        with pytest.raises(SourceError, match="Parquet files throughout"):
            self._open(tmp_path)

    def test_texts_that_are_not_alike(self, tmp_path: Path) -> None:
        TABLE.write_csv(tmp_path / "part-0.csv")
        TABLE.rename({"a": "c"}).write_csv(tmp_path / "part-1.csv")
        with pytest.raises(SourceError, match="not all the same columns"):
            self._open(tmp_path)

    def test_none(self, tmp_path: Path) -> None:
        (tmp_path / "data.parquet").mkdir()
        with pytest.raises(SourceError, match="there are no parts in it"):
            self._open(tmp_path / "data.parquet")

    def test_a_broken_part(self, tmp_path: Path) -> None:
        TABLE.write_parquet(tmp_path / "part-0.parquet")
        (tmp_path / "part-1.parquet").write_bytes(b"PAR1\x15 and no more")
        with pytest.raises(SourceError, match="a part is not a whole Parquet file"):
            self._open(tmp_path)

    def test_a_part_that_was_changed(self, tmp_path: Path) -> None:
        TABLE.write_parquet(tmp_path / "part-0.parquet")
        source = open_source(FileOptions(path=str(tmp_path)))
        TABLE[:3].write_parquet(tmp_path / "part-0.parquet")
        with pytest.raises(SourceError, match="was changed"):
            source.scan()


POLICY = """
shoal: 1
name: clinic
output: {parts: true}
attributes:
  a: {role: quasi, hierarchy: {intervals: {widths: [5, 10]}}}
  b: {role: insensitive}
privacy: [{k_anonymity: {k: 5}}]
read_back: {accept: [{columns: [], tells: a, because: the order of parts is what is tested}]}
"""


@pytest.mark.requirement("L-04")
@pytest.mark.parametrize("ending", ["parquet", "csv"])
class TestReleases:
    def test_the_policy_asks_for_parts(self, tmp_path: Path, ending: str) -> None:
        whole, data = self._released(tmp_path, ending)
        assert whole.height == TABLE.height
        told = data.manifest.to_dict()["data"]
        assert told["path"] == f"data.{ending}"
        assert sum(part["rows"] for part in told["parts"]) == told["rows"] == TABLE.height
        assert sorted(path.name for path in (tmp_path / "release").iterdir()) == [
            f"data.{ending}", "recipient.html", "release.json", "report.html",
        ]  # fmt: skip

    def test_one_file_has_the_same_records(self, tmp_path: Path, ending: str) -> None:
        parts, _ = self._released(tmp_path, ending)
        one = release_folder(
            Policy.from_text(POLICY), tmp_path / "one", data=str(tmp_path / f"in.{ending}"), seed=1, parts=False
        )
        assert one.data.is_file()
        assert_frame_equal(open_source(FileOptions(path=str(one.data))).scan().collect(), parts)
        assert "parts" not in one.manifest.to_dict()["data"]

    def test_it_can_be_measured_and_its_parts_are_guarded(self, tmp_path: Path, ending: str) -> None:
        self._released(tmp_path, ending)
        measured = measure_data(str(tmp_path / "release"), MeasureRequest(quasi=("a",), sensitive=()))
        assert measured.measurement.risk.k >= 5
        ReleaseFolder.at(str(tmp_path / "release")).require_untouched()
        last = sorted((tmp_path / "release" / f"data.{ending}").iterdir())[-1]
        last.unlink()
        with pytest.raises(SourceError, match="not the file that was released"):
            ReleaseFolder.at(str(tmp_path / "release")).require_untouched()

    def test_it_is_a_source_too(self, tmp_path: Path, ending: str) -> None:
        self._released(tmp_path, ending)
        policy = Policy.from_text("shoal: 1\nname: again\nattributes: {a: {role: insensitive}, b: {role: insensitive}}")
        again = release_folder(policy, tmp_path / "again", data=str(tmp_path / "release" / f"data.{ending}"))
        assert again.manifest.data.rows == TABLE.height

    def _released(self, folder: Path, ending: str) -> tuple[pl.DataFrame, Release]:
        (TABLE.write_csv if ending == "csv" else TABLE.write_parquet)(folder / f"in.{ending}")
        release = release_folder(
            Policy.from_text(POLICY), folder / "release", data=str(folder / f"in.{ending}"), seed=1
        )
        return open_source(FileOptions(path=str(release.data))).scan().collect(), release


def test_a_folder_of_parts_is_one_table_to_look_at(tmp_path: Path) -> None:
    written(tmp_path / "data.csv")
    assert not holds_tables(str(tmp_path / "data.csv"))
    TABLE.write_csv(tmp_path / "other.csv")
    assert holds_tables(str(tmp_path))
