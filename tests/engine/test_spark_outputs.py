"""Where records go on Spark: parts that never pass the driver, one file, a database, a Spark frame."""

from __future__ import annotations

import gc
import json
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from tests.servers import postgres, postgres_url

import shoal
from shoal.cli import main
from shoal.engine.selection import make_engine
from shoal.engine.spark import ParquetFiles, SparkEngine
from shoal.engine.spark.session import refuse_master
from shoal.errors import DataError, InputError
from shoal.io import parts_target
from shoal.io.frames import source_at
from shoal.io.targets import FileTarget, file_target
from shoal.policy import Policy
from shoal.release.run import release_folder
from shoal.results.release_folder import ReleaseFolder

__all__ = ["postgres", "postgres_url"]

pytestmark = pytest.mark.requirement("L-04", "D-01")

ROWS = 120
TABLE = pl.DataFrame(
    {
        "person": [f"p{row % 50}" for row in range(ROWS)],
        "age": [20 + row * 7 % 40 for row in range(ROWS)],
        "city": ["Pune", "Agra", None] * 40,
        "pay": [row * 10.25 for row in range(ROWS)],
        "small": pl.Series([row % 200 for row in range(ROWS)], dtype=pl.UInt8),
    }
)
POLICY = """
shoal: 1
name: twice
person: person
attributes:
  person: {role: direct, technique: {pseudonymise: {}}}
  age: {role: quasi, hierarchy: {intervals: {widths: [10, 20]}}}
  city: {role: quasi}
  pay: {role: insensitive, technique: {noise: {laplace: {scale: 50}}}}
  small: {role: insensitive}
privacy: [{k_anonymity: {k: 4}}]
solve: {suppression_limit: 0.3}
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Three files, the smallest first: Spark takes the largest first."""
    folder = tmp_path / "in.parquet"
    folder.mkdir()
    for number, (start, end) in enumerate(((0, 20), (20, 60), (60, ROWS))):
        TABLE[start:end].write_parquet(folder / f"part-{number}.parquet")
    return folder


def read(folder: Path) -> pl.DataFrame:
    scans = {".parquet": pl.read_parquet, ".csv": lambda path: pl.read_csv(path, infer_schema=False)}
    return pl.concat([scans[folder.suffix](path) for path in sorted(folder.iterdir())])


def hidden(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*") if path.name.startswith((".", "_"))]


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
class TestParts:
    @pytest.mark.parametrize("ending", ["parquet", "csv"])
    def test_the_same_release_in_parts_on_every_engine(self, source: Path, tmp_path: Path, ending: str) -> None:
        given = source
        if ending == "csv":
            given = tmp_path / "in.csv"
            TABLE.write_csv(given, separator=";")
        there, here = (
            release_folder(
                Policy.from_text(POLICY), tmp_path / engine, data=str(given), engine=engine, parts=True, seed=3
            )
            for engine in ("spark", "polars")
        )
        assert_frame_equal(read(there.data), read(here.data), check_row_order=False)
        told = [release.manifest.to_dict() for release in (there, here)]
        for facts in told:
            for by_chance in ("created", "data", "timing", "peak_rss_mb", "engine", "versions"):
                del facts[by_chance]
        assert told[0] == told[1]
        assert hidden(tmp_path / "spark") == []
        names = [part.path for part in there.manifest.data.parts]
        assert names == [f"part-{number:05}.{ending}" for number in range(len(names))]
        assert sum(part.rows for part in there.manifest.data.parts) == ROWS  # type: ignore[misc]
        ReleaseFolder.at(str(tmp_path / "spark")).require_untouched()

    def test_nothing_is_streamed_by_the_driver(
        self, spark: SparkEngine, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refused(*_: object) -> None:
            raise AssertionError("the driver writes")

        monkeypatch.setattr(FileTarget, "write", refused)
        monkeypatch.setattr(FileTarget, "write_batches", refused)
        target = parts_target(file_target(tmp_path / "out.parquet"))
        assert spark.sink(spark.scan(ParquetFiles.under(source)), target) == ROWS
        assert read(target.path).schema == TABLE.schema
        with pytest.raises(AssertionError, match="the driver writes"):
            spark.sink(spark.scan(ParquetFiles.under(source)), file_target(tmp_path / "one.parquet"))
        assert sorted(path.name for path in tmp_path.iterdir()) == ["in.parquet", "out.parquet"]

    def test_records_keep_their_order_where_parts_are_neighbours(self, spark: SparkEngine, tmp_path: Path) -> None:
        TABLE.write_parquet(tmp_path / "in.parquet", row_group_size=10)
        spark.session.conf.set("spark.sql.files.maxPartitionBytes", "1500")
        try:
            target = parts_target(file_target(tmp_path / "out.parquet"))
            spark.sink(spark.scan(ParquetFiles((tmp_path / "in.parquet",))), target)
        finally:
            spark.session.conf.unset("spark.sql.files.maxPartitionBytes")
        assert len(target.parts) > 2
        assert_frame_equal(target.scan().collect(), TABLE)


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("database", ["sqlite", pytest.param("postgresql", marks=pytest.mark.server)])
def test_a_database_is_filled_from_what_the_executors_wrote(
    source: Path, tmp_path: Path, database: str, request: pytest.FixtureRequest
) -> None:
    url = f"sqlite:///{tmp_path}/out.db" if database == "sqlite" else request.getfixturevalue("postgres_url")
    policy = Policy.from_text(f"{POLICY}target: {{url: '{url}', table: people_of_spark}}\n")
    release = release_folder(policy, tmp_path / "out", data=str(source), engine="spark", parts=True, seed=3)
    stored = source_at(f"{url}#people_of_spark").scan().collect()
    assert_frame_equal(stored, read(release.data), check_dtypes=False, check_row_order=False)


@pytest.mark.spark
class TestFrames:
    def test_a_frame_comes_back_as_one_with_the_records_that_polars_gives(
        self, spark: SparkEngine, source: Path, tmp_path: Path
    ) -> None:
        frame = spark.session.read.parquet(str(source)).repartition(3)
        policy = Policy.from_text(POLICY)
        release = shoal.anonymise(frame, policy, seed=4, shared=tmp_path)
        from pyspark.sql import DataFrame

        assert isinstance(release.data, DataFrame)
        assert release.data.sparkSession is frame.sparkSession
        first, second = (pl.DataFrame(pl.from_arrow(release.data.toArrow())) for _ in range(2))
        assert_frame_equal(first, second)
        content = TABLE.cast({"small": pl.Int16()})
        expected = shoal.anonymise(content.sort(content.columns, nulls_last=False), policy, seed=4)
        assert_frame_equal(first, expected.data, check_row_order=False, check_dtypes=False)
        assert release.risk == expected.risk
        assert release.folder is None

    def test_the_copy_goes_and_the_result_stays_while_a_frame_of_it_is_there(
        self, spark: SparkEngine, source: Path, tmp_path: Path
    ) -> None:
        frame, shared = spark.session.newSession().read.parquet(str(source)), tmp_path / "what is {shared}, 100%"
        shared.mkdir()
        kept = shoal.anonymise(frame, Policy.from_text(POLICY), shared=shared).data.filter("pay is not null")
        del frame
        gc.collect()
        (folder,) = shared.iterdir()
        assert [path.name for path in folder.iterdir()] == ["release"]
        assert folder.stat().st_mode & 0o077 == 0
        assert kept.count() == ROWS

    def test_a_release_that_fails_leaves_nothing(self, spark: SparkEngine, source: Path, tmp_path: Path) -> None:
        frame, shared = spark.session.read.parquet(str(source)), tmp_path / "shared"
        shared.mkdir()
        policy = Policy.from_text(POLICY.replace("  small: {role: insensitive}\n", ""))
        with pytest.raises((DataError, InputError)):
            shoal.anonymise(frame, policy, shared=shared)
        assert list(shared.iterdir()) == []


class TestMaster:
    def test_it_is_about_spark(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"master says where Spark runs \(add engine=spark"):
            make_engine("polars", spool=tmp_path, master="local[1]")
        engine = make_engine("spark", spool=tmp_path, master="spark://there:7077")
        assert engine.master == "spark://there:7077"  # type: ignore[attr-defined]

    def test_on_the_command_line(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        TABLE.write_parquet(tmp_path / "in.parquet")
        (tmp_path / "policy.yaml").write_text(POLICY)
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(
            "sys.argv", ["shoal", "run", "policy.yaml", "-i", "in.parquet", "--master", "yarn", "--json"]
        )
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 2
        assert "--master" in json.loads(capsys.readouterr().out)["error"]["message"]
        assert sorted(path.name for path in tmp_path.iterdir()) == ["in.parquet", "policy.yaml"]

    @pytest.mark.parametrize("master", ["local", "local[4]", "local[*]", "local[2, 3]", "local-cluster[2,1,1024]"])
    def test_masters_on_one_machine(self, master: str) -> None:
        refuse_master(master)

    @pytest.mark.parametrize("master", ["spark://a:7077", "spark://a:7077,b:7077", "yarn", "k8s://https://a:6443"])
    def test_masters_of_clusters(self, master: str) -> None:
        refuse_master(master)

    @pytest.mark.parametrize("master", ["", "foo", "local[a]", "spark://a", "yarn-client", "http://a:7077"])
    def test_what_is_none(self, master: str) -> None:
        with pytest.raises(InputError, match="is no master of Spark"):
            refuse_master(master)
