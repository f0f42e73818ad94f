"""One suite for every engine: nothing here knows which one it tests. What a table says decides, not who read it."""

from __future__ import annotations

import datetime
import os
import signal
import stat
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from tests.support.processes import family, processes

from shoal.engine import Engine
from shoal.engine.polars import PolarsEngine
from shoal.engine.spark import ParquetFiles, SparkEngine, SparkFrameSource, counting
from shoal.errors import DataError, SourceError
from shoal.hierarchy.kinds.intervals import IntervalHierarchy
from shoal.io import FileOptions, open_source
from shoal.io.targets import file_target
from shoal.policy import Policy
from shoal.randomness import Randomness
from shoal.release.further_files import write_files
from shoal.release.run import release_folder
from shoal.schema import ROW, Column, Counts, Scope, Step, ValueType
from shoal.schema.steps import SidecarFile
from shoal.schema.type_detection import detect
from shoal.techniques import Context
from shoal.techniques.generalisation.generalise import Generalise
from shoal.techniques.generalisation.round import Round
from shoal.techniques.randomisation.noise.noise import Noise
from shoal.techniques.randomisation.permute import Permute
from shoal.techniques.randomisation.shuffle_rows import ShuffleRowsStep
from shoal.techniques.statistical.aggregation.aggregate import Aggregate
from shoal.techniques.statistical.sample import Sampling
from shoal.techniques.suppression.mask import Mask
from shoal.techniques.suppression.suppress import Suppress
from shoal.techniques.synthetic.decoys import DecoysStep

pytestmark = pytest.mark.requirement("L-04", "D-01")

ROWS = 90
AGE = Column("age", ValueType.INTEGER, storage=pl.Int64())
SALARY = Column("salary", ValueType.DECIMAL, storage=pl.Float64(), scale=2)

TABLE = pl.DataFrame(
    {
        "name": [f"name-of-{row}" for row in range(ROWS)],
        "age": [None if row % 11 == 0 else 20 + row * 7 % 40 for row in range(ROWS)],
        "salary": [None if row % 13 == 0 else row * 10.25 for row in range(ROWS)],
        "City": ["Pune", "Agra", "Delhi", None, ""] * 18,
        "city": ["x"] * ROWS,
        "file": ["a"] * ROWS,
        "_metadata": ["b"] * ROWS,
        "home.city": [f"c{row % 3}" for row in range(ROWS)],
        "visits": pl.Series([row % 200 for row in range(ROWS)], dtype=pl.UInt8),
        "seen": [datetime.date(2024, 1, 1) + datetime.timedelta(days=row) for row in range(ROWS)],
        "noted": pl.Series(range(ROWS), dtype=pl.Int64).cast(pl.Datetime("us")),
        "joined": [f"{1 + row % 28:02}/{1 + row % 12:02}/2020" for row in range(ROWS)],
        "code": [f"{row:03}" for row in range(ROWS)],
        "person": [None if row % 17 == 0 else f"p{row % 23}" for row in range(ROWS)],
    }
)
POSITIONS = TABLE.with_columns(pl.int_range(ROWS, dtype=pl.UInt64).alias(ROW))


@pytest.fixture(params=["polars", pytest.param("spark", marks=pytest.mark.spark)])
def engine(request: pytest.FixtureRequest) -> Engine:
    return PolarsEngine(batch_rows=8) if request.param == "polars" else request.getfixturevalue("spark")


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> ParquetFiles:
    """Two files of several row groups, the larger one not first, with names that would be read as patterns; a third
    one has no record.
    """
    folder = tmp_path_factory.mktemp("my data")
    TABLE[:25].write_parquet(folder / "a [1] é.parquet", row_group_size=10)
    TABLE[25:].write_parquet(folder / "b{2}*#%.parquet", row_group_size=20)
    TABLE[:0].write_parquet(folder / "c.parquet")
    (folder / "_SUCCESS").touch()
    return ParquetFiles.under(folder)


@dataclass(frozen=True)
class Reveals(Step):
    """The record's position as a column."""

    @property
    def reads(self) -> tuple[str, ...]:
        return ()

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        return frame.with_columns(pl.col(ROW).alias("position"))


@dataclass(frozen=True)
class Keeps(Step):
    least: int
    drops_records: ClassVar[bool] = True

    @property
    def reads(self) -> tuple[str, ...]:
        return ("visits",)

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        return frame.filter(pl.col("visits") >= self.least)


@dataclass(frozen=True)
class Tags(Step):
    @property
    def reads(self) -> tuple[str, ...]:
        return ("person",)

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        return frame.with_columns(pl.col("person").str.len_bytes().cast(pl.UInt64).alias("__shoal_tag"))


@dataclass(frozen=True)
class Whole(Step):
    scope: ClassVar[Scope] = Scope.TABLE

    @property
    def reads(self) -> tuple[str, ...]:
        return ("age",)

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        return frame


def context(column: Column, counts: Counts | None = None) -> Context:
    counted = {(column.name,): counts} if counts else {}
    return Context({column.name: column}, Randomness(seed=9).stream("attribute", column.name), counted)  # type: ignore[arg-type]


def age_groups() -> Step:
    counts = Counts.from_frame(TABLE.group_by("age").len("records"), ("age",), "records")
    technique = Generalise(hierarchy=IntervalHierarchy(widths=(10, 20)), level=1)
    return technique.bind(AGE, context(AGE, counts))


def four_techniques() -> list[Step]:
    code = Column("code")
    return [
        Suppress().bind(Column("name"), context(Column("name"))),
        Mask(keep_last=1, char="x").bind(code, context(code)),
        age_groups(),
        Noise.model_validate({"laplace": {"scale": 50}}).bind(SALARY, context(SALARY)),
    ]


def applied(steps: list[Step], frame: pl.DataFrame = POSITIONS, *, keep: bool = False) -> pl.DataFrame:
    """What is to be expected: the steps, one after the other, on the whole table at once."""
    for step in steps:
        frame = step.apply(frame)
    return frame if keep else frame.drop(ROW)


def same_records(found: pl.DataFrame, expected: pl.DataFrame) -> None:
    """Equal columns in the same order; equal records in any order."""
    assert_frame_equal(found, expected, check_row_order=False, check_exact=True)


def brute_force(attributes: tuple[str, ...], frame: pl.DataFrame = TABLE) -> Counter[tuple[object, ...]]:
    return Counter(frame.select(attributes).rows())


def test_columns_are_the_tables_own_in_their_order(engine: Engine, files: ParquetFiles) -> None:
    assert engine.columns(engine.scan(files)) == tuple(TABLE.columns)


@pytest.mark.requirement("D-05")
def test_value_types_are_found_from_every_value(engine: Engine, files: ParquetFiles) -> None:
    declared = {"joined": Column("joined", ValueType.DATE, date_format="%d/%m/%Y"), "code": Column("code")}
    found = engine.describe(engine.scan(files), TABLE.columns, declared)
    assert list(found) == TABLE.columns
    types = {name: column.type for name, column in found.items()}
    assert types == {
        **dict.fromkeys(("name", "City", "city", "file", "_metadata", "home.city", "code", "person"), ValueType.TEXT),
        **dict.fromkeys(("age", "visits"), ValueType.INTEGER),
        **dict.fromkeys(("seen", "joined"), ValueType.DATE),
        "salary": ValueType.DECIMAL,
        "noted": ValueType.DATETIME,
    }
    assert {name: column.storage for name, column in found.items()} == dict(TABLE.schema)
    assert {name: column.missing for name, column in found.items()} == {
        name: TABLE[name].null_count() for name in TABLE.columns
    }
    assert {column.rows for column in found.values()} == {ROWS}
    assert found["salary"].scale == 2


@pytest.mark.requirement("D-05")
def test_what_looks_like_a_number_is_read_alike(engine: Engine, tmp_path: Path) -> None:
    texts = (
        "12",
        "-3",
        "+5",
        "007",
        " 7",
        "7 ",
        "-0",
        "0",
        "1e3",
        "1.50",
        "9223372036854775807",
        "9223372036854775808",
    )
    lone = {f"only {text!r}": ["1", None, text] for text in (*texts, "\uff11", "", "NaN", "true")}
    numbers = {"large": pl.Series([2**64 - 1, 0, None], dtype=pl.UInt64), "broken": pl.Series([0.125, None, 1e-7])}
    frame = pl.DataFrame({**lone, **numbers, "none": pl.Series([None] * 3, dtype=pl.String)})
    frame.write_parquet(tmp_path / "odd.parquet")
    found = engine.describe(
        engine.scan(open_source(FileOptions(path=str(tmp_path / "odd.parquet")))), frame.columns, {}
    )
    assert found == detect(frame.lazy(), frame.columns)


@pytest.mark.requirement("D-05")
def test_what_is_declared_must_be_possible(engine: Engine, files: ParquetFiles) -> None:
    with pytest.raises(DataError, match="column 'name': declared as date"):
        engine.describe(engine.scan(files), ["name"], {"name": Column("name", ValueType.DATE)})
    as_number = engine.describe(engine.scan(files), ["code"], {"code": Column("code", ValueType.DECIMAL)})
    assert (as_number["code"].type, as_number["code"].scale) == (ValueType.DECIMAL, 0)


@pytest.mark.parametrize(
    "attributes",
    [("City",), ("age", "City"), ("home.city", "visits", "salary"), ("seen", "noted", "city", "person")],
    ids=", ".join,
)
def test_every_combination_is_counted(engine: Engine, files: ParquetFiles, attributes: tuple[str, ...]) -> None:
    counts = engine.counts(engine.scan(files), attributes)
    found = dict(zip(counts.frame().rows(), counts.records.tolist(), strict=True))
    assert found == brute_force(attributes)
    assert [values.dtype for values in counts.values] == [TABLE.schema[name] for name in attributes]
    assert counts.people.tolist() == counts.records.tolist()


def test_nothing_to_combine_counts_the_whole_table(engine: Engine, files: ParquetFiles) -> None:
    counts = engine.counts(engine.scan(files), ())
    assert (counts.records.tolist(), counts.people.tolist()) == ([ROWS], [ROWS])


@pytest.mark.requirement("D-09")
def test_people_are_counted_once_wherever_they_appear(engine: Engine, files: ParquetFiles) -> None:
    counts = engine.counts(engine.scan(files), ("home.city", "City"), "person")
    people = defaultdict(set)
    for home, city, person in TABLE.select("home.city", "City", "person").iter_rows():
        people[home, city].add(person)
    assert counts.total_people == TABLE["person"].n_unique()
    assert len(counts.shared), "the example has nobody in two combinations"
    each = counts.people_in(np.arange(counts.size), counts.size)
    assert dict(zip(counts.frame().rows(), each.tolist(), strict=True)) == {
        key: len(who) for key, who in people.items()
    }
    assert engine.counts(engine.scan(files), (), "person").people.tolist() == [TABLE["person"].n_unique()]


def test_counts_are_of_the_table_as_the_steps_leave_it(engine: Engine, files: ParquetFiles) -> None:
    table = engine.map(engine.scan(files), [*four_techniques(), Keeps(30)])
    counts = engine.counts(table, ("age", "City"))
    expected = brute_force(("age", "City"), applied([*four_techniques(), Keeps(30)]))
    assert dict(zip(counts.frame().rows(), counts.records.tolist(), strict=True)) == expected
    assert engine.counts(table, ()).total_records == expected.total()


def test_a_record_keeps_its_position_in_the_source(engine: Engine, files: ParquetFiles) -> None:
    table = engine.map(engine.scan(files), [Keeps(10), Reveals()])
    counts = engine.counts(table, ("position", "name"))
    assert sorted(counts.frame().rows()) == [(row, f"name-of-{row}") for row in range(10, ROWS)]


@pytest.mark.requirement("T-01", "T-04", "T-08", "T-14")
def test_the_same_seed_gives_the_same_records(engine: Engine, files: ParquetFiles, tmp_path: Path) -> None:
    target = file_target(tmp_path / "out.parquet")
    assert engine.sink(engine.map(engine.scan(files), four_techniques()), target) == ROWS
    same_records(target.scan().collect(), applied(four_techniques()))
    assert [path.name for path in tmp_path.iterdir()] == [target.path.name]


def test_text_is_written_to_the_letter(engine: Engine, files: ParquetFiles, tmp_path: Path) -> None:
    target = file_target(tmp_path / "out.csv")
    assert engine.sink(engine.map(engine.scan(files), four_techniques()), target) == ROWS
    expected = applied(four_techniques()).write_csv().splitlines()
    found = target.path.read_text().splitlines()
    assert found[0] == expected[0]
    assert sorted(found) == sorted(expected)


def test_hidden_columns_are_put_aside_beside_their_records(engine: Engine, files: ParquetFiles, tmp_path: Path) -> None:
    target, aside = file_target(tmp_path / "out.parquet"), tmp_path / "aside.arrow"
    table = engine.map(engine.scan(files), [Tags()])
    assert engine.columns(table) == tuple(TABLE.columns)
    assert engine.sink(table, target, aside=aside) == ROWS
    found = target.scan().collect()
    same_records(found, TABLE)
    tags = pl.read_ipc(aside)
    assert tags.schema == {"__shoal_tag": pl.UInt64}
    assert tags["__shoal_tag"].equals(found["person"].str.len_bytes().cast(pl.UInt64), check_names=False)


def test_further_files_hold_the_hidden_columns_of_their_records(
    engine: Engine, files: ParquetFiles, tmp_path: Path
) -> None:
    target, aside = file_target(tmp_path / "out.parquet"), tmp_path / "aside.arrow"
    engine.sink(engine.map(engine.scan(files), [Tags(), Keeps(10)]), target, aside=aside)
    counted = SidecarFile("lengths", {"__shoal_tag": "n"}, lambda frame: frame.group_by("n").len("records"))
    written = write_files(
        [SidecarFile("each/length", {"__shoal_tag": "length"}), counted],
        aside,
        tmp_path,
        like=open_source(_first(files)),
    )
    assert [file.told.path for file in written] == ["each/length.parquet", "lengths.parquet"]
    lengths = target.scan().collect()["person"].str.len_bytes()
    assert pl.read_parquet(tmp_path / "each/length.parquet")["length"].to_list() == lengths.to_list()
    assert dict(pl.read_parquet(tmp_path / "lengths.parquet").iter_rows()) == Counter(lengths.to_list())


def _first(files: ParquetFiles) -> FileOptions:
    return FileOptions(path=str(files.paths[0]))


def test_one_file_is_read_as_the_policy_names_it(engine: Engine, files: ParquetFiles, tmp_path: Path) -> None:
    source = open_source(FileOptions(path=str(files.paths[1])))
    target = file_target(tmp_path / "out.parquet")
    steps = four_techniques()
    assert engine.sink(engine.map(engine.scan(source), steps), target) == ROWS - 25
    alone = TABLE[25:].with_columns(pl.int_range(ROWS - 25, dtype=pl.UInt64).alias(ROW))
    same_records(target.scan().collect(), applied(steps, alone))


def test_no_record_may_be_left(engine: Engine, files: ParquetFiles, tmp_path: Path) -> None:
    table = engine.map(engine.scan(files), [Keeps(200)])
    assert engine.counts(table, ("City",)).size == 0
    target = file_target(tmp_path / "out.csv")
    assert engine.sink(table, target) == 0
    assert target.path.read_text() == ",".join(TABLE.columns) + "\n"


def test_no_column_left_is_an_error(engine: Engine, files: ParquetFiles, tmp_path: Path) -> None:
    steps = [Suppress().bind(Column(name), context(Column(name))) for name in TABLE.columns]
    with pytest.raises(DataError, match="no column"):
        engine.sink(engine.map(engine.scan(files), steps), file_target(tmp_path / "out.csv"))


def test_an_error_in_a_step_arrives_as_it_was_raised(engine: Engine, files: ParquetFiles, tmp_path: Path) -> None:
    wrong = Column("name", ValueType.INTEGER)
    step = Noise.model_validate({"laplace": {"scale": 1}}).bind(wrong, context(wrong))
    table = engine.map(engine.scan(files), [step])
    for act in (
        lambda: engine.counts(table, ("name",)),
        lambda: engine.sink(table, file_target(tmp_path / "out.csv")),
    ):
        with pytest.raises(DataError, match=r"^column 'name': \d+ value\(s\) can't be read as integer number$"):
            act()
    assert not list(tmp_path.iterdir())


def permuted(**parameters: object) -> Step:
    return Permute.model_validate(parameters).bind(AGE, context(AGE))


def sampled(person: str | None = None, **parameters: object) -> Step:
    stream = Randomness(seed=9).stream("table", "sample")
    return Sampling.model_validate(parameters).bind(Context({}, stream, person=person))


def rounded() -> Step:
    visits = Column("visits", ValueType.INTEGER, storage=pl.UInt8())
    return Round.model_validate({"base": 7, "method": "controlled"}).bind(visits, context(visits))


WHOLE: dict[str, Callable[[], Step]] = {
    "dealt by ranks": lambda: permuted(**{"with": ["City", "visits"]}),
    "dealt in strata": lambda: permuted(within=["home.city", "City"]),
    "deranged": lambda: permuted(derange=True),
    "drawn by ranks": lambda: sampled(fraction=0.3),
    "drawn in strata": lambda: sampled(fraction=0.5, within=["salary"]),
    "drawn by person": lambda: sampled("person", fraction=0.4),
    "drawn by person in strata": lambda: sampled("person", fraction=0.4, within=["City"]),
    "all of them": lambda: sampled(fraction=1.0),
    "none of them": lambda: sampled(fraction=0.001),
    "rounded": rounded,
}


@pytest.mark.requirement("T-11", "T-15")
@pytest.mark.parametrize("name", WHOLE)
def test_a_step_on_the_whole_table(engine: Engine, files: ParquetFiles, tmp_path: Path, name: str) -> None:
    """After steps that leave holes between the positions, and before others."""
    steps = [Keeps(5), WHOLE[name](), Reveals(), *four_techniques()]
    table = through(engine, engine.scan(files), steps)
    target = file_target(tmp_path / "out.parquet")
    expected = applied(steps)
    assert engine.sink(table, target) == expected.height
    same_records(pl.read_parquet(target.path), expected)
    counts = engine.counts(table, ("City", "age"))
    found = dict(zip(counts.frame().rows(), counts.records.tolist(), strict=True))
    assert found == brute_force(("City", "age"), expected)


@pytest.mark.requirement("S-12", "T-15")
def test_records_are_added_and_all_are_put_in_order(engine: Engine, files: ParquetFiles, tmp_path: Path) -> None:
    """Two steps add records, which go through all steps that come later; every engine writes the same order."""
    stream = Randomness(seed=4).stream("table", "decoys")
    adds = [DecoysStep(TABLE[5:8], stream), DecoysStep(TABLE[:2], stream)]
    steps = [Keeps(5), adds[0], permuted(), adds[1], Reveals(), *four_techniques(), ShuffleRowsStep(stream)]
    table = through(engine, engine.scan(files), steps)
    target = file_target(tmp_path / "out.parquet")
    assert engine.sink(table, target) == ROWS
    added = [pl.concat([TABLE[5:8], TABLE[:2]]).with_columns(pl.int_range(ROWS, ROWS + 5, dtype=pl.UInt64).alias(ROW))]
    permuted_once = permuted().apply(pl.concat([Keeps(5).apply(POSITIONS), added[0][:3]]))
    expected = pl.concat([permuted_once, added[0][3:]])
    expected = ShuffleRowsStep(stream).apply(applied([Reveals(), *four_techniques()], expected, keep=True)).drop(ROW)
    assert_frame_equal(target.scan().collect(), expected, check_exact=True)
    assert engine.counts(table, ()).total_records == ROWS


@pytest.mark.parametrize("person", [None, "person"])
@pytest.mark.requirement("T-16")
def test_records_are_reduced_to_a_table(
    engine: Engine, files: ParquetFiles, tmp_path: Path, person: str | None
) -> None:
    measures = {"n": "count", "most": {"max": "salary"}, "sum": {"sum": "salary"}, "first": {"min": "seen"}}
    columns = {"salary": SALARY, "seen": Column("seen", ValueType.DATE, storage=pl.Date())}
    technique = Aggregate.model_validate(
        {
            "by": ["City", "home.city"],
            "measures": measures,
            "minimum": 2,
            "totals": True,
            "dominance": {"largest": 1, "share": 0.9},
        }
    )
    step = technique.bind(Context(columns, Randomness(seed=1).stream("table"), person=person))
    table = through(engine, engine.scan(files), [Keeps(5), step])
    target = file_target(tmp_path / "out.parquet")
    expected = step.finish(step.apply(Keeps(5).apply(POSITIONS)))
    assert engine.sink(table, target) == expected.height
    same_records(target.scan().collect(), expected)
    assert engine.columns(table) == tuple(expected.columns)
    assert engine.counts(table, ("City",)).total_records == expected.height


def through(engine: Engine, table: object, steps: Sequence[Step]) -> object:
    acts = {Scope.ROW: lambda table, step: engine.map(table, [step]), Scope.REDUCE: engine.reduce}
    for step in steps:
        table = acts.get(step.scope, engine.shuffle)(table, step)
    return table


@pytest.mark.spark
@pytest.mark.requirement("D-09")
def test_all_engines_give_the_same_counts(spark: SparkEngine, files: ParquetFiles) -> None:
    one = PolarsEngine()
    for attributes, person in ((("age", "City"), None), (("home.city", "City", "age"), "person")):
        steps = four_techniques()
        first = one.counts(one.map(one.scan(files), steps), attributes, person)
        second = spark.counts(spark.map(spark.scan(files), steps), attributes, person)
        for left, right in zip(first.values, second.values, strict=True):
            assert left.equals(right, check_dtypes=True)
        for name in ("codes", "records", "people"):
            assert np.array_equal(getattr(first, name), getattr(second, name))
        assert _shared(first) == _shared(second)


@pytest.mark.spark
@pytest.mark.requirement("D-09")
@pytest.mark.parametrize("person", [None, "person"])
def test_counts_reach_the_driver_in_slices_up_to_a_limit(
    spark: SparkEngine, files: ParquetFiles, monkeypatch: pytest.MonkeyPatch, person: str | None
) -> None:
    attributes, table = ("code", "City"), spark.scan(files)
    whole = spark.counts(table, attributes, person)
    monkeypatch.setattr(counting, "SLICE", 25)
    sliced = spark.counts(table, attributes, person)
    assert whole.frame().equals(sliced.frame())
    assert whole.people.tolist() == sliced.people.tolist()
    monkeypatch.setattr(counting, "MOST", ROWS - 1)
    with pytest.raises(DataError, match=r"^there are 90 different combinations of code, City; .* 'code' \(about"):
        spark.counts(table, attributes, person)


@pytest.mark.spark
@pytest.mark.requirement("D-09")
def test_people_in_many_places_count_towards_the_limit(
    spark: SparkEngine, files: ParquetFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "MOST", 40)
    with pytest.raises(DataError, match=r"pairs of a person and one of their several combinations of home\.city"):
        spark.counts(spark.scan(files), ("home.city", "City"), "person")


def _shared(counts: Counts) -> Counter[tuple[int, ...]]:
    """Who is listed under which number is by chance; what they appear in is not."""
    places = defaultdict(list)
    for person, combination in counts.shared.tolist():
        places[person].append(combination)
    return Counter(tuple(sorted(each)) for each in places.values())


@pytest.mark.spark
def test_an_outcome_that_is_lost_is_made_again_alike(spark: SparkEngine, files: ParquetFiles, tmp_path: Path) -> None:
    """An executor is killed after a step on the whole table, with what it kept of the outcome."""
    steps = [permuted(), WHOLE["rounded"](), *four_techniques()]
    table = through(spark, spark.scan(files), steps)
    before, after = (file_target(tmp_path / f"{name}.parquet") for name in ("before", "after"))
    spark.sink(table, before)  # type: ignore[arg-type]
    executors = [pid for pid in family(os.getpid()) if pid in processes("CoarseGrainedExecutorBackend")]
    assert len(executors) == 2
    for pid in executors:
        os.kill(pid, signal.SIGKILL)
    assert spark.sink(table, after) == ROWS  # type: ignore[arg-type]
    same_records(after.scan().collect(), applied(steps))
    same_records(before.scan().collect(), applied(steps))


@pytest.mark.spark
@pytest.mark.requirement("L-04")
def test_a_frame_of_sparks_has_the_order_of_its_content(spark: SparkEngine, tmp_path: Path) -> None:
    """However it is cut, and as one machine has it that reads the sorted table; alike records are interchangeable."""
    from pyspark.sql import SparkSession

    known = pl.concat([TABLE.head(40), TABLE.head(10)]).drop("city")
    at, pay = pl.col("noted").dt.replace_time_zone("UTC"), pl.col("salary").cast(pl.Decimal(12, 2))
    known = known.with_columns(at.alias("at"), pay.alias("Pay.x"))
    known.write_parquet(tmp_path / "known.parquet")
    theirs = SparkSession.getActiveSession()
    assert theirs is not None
    read = theirs.read.parquet(str(tmp_path / "known.parquet"))
    steps = [sampled(fraction=0.7), permuted(), four_techniques()[-1]]
    found = []
    for parts in (1, 3):
        (tmp_path / f"copy {parts}").mkdir()
        source = SparkFrameSource(read.repartition(parts), tmp_path / f"copy {parts}")
        target = file_target(tmp_path / f"{parts}.parquet")
        spark.sink(through(spark, spark.scan(source), steps), target)  # type: ignore[arg-type]
        found.append(target.scan().collect())
    ordered = known.with_columns(pl.col("visits").cast(pl.Int16))
    ordered = ordered.sort(ordered.columns, nulls_last=False)
    same_records(source.scan().collect(), ordered)
    expected = applied(steps, ordered.with_columns(pl.int_range(50, dtype=pl.UInt64).alias(ROW)))
    for frame in found:
        same_records(frame, expected)


@pytest.mark.spark
@pytest.mark.parametrize("made", ["array(1)", "struct(1)", "map(1, 2)", "cast('a' as binary)", "interval '1' day"])
def test_a_frame_of_sparks_has_single_values(spark: SparkEngine, tmp_path: Path, made: str) -> None:
    frame = spark.session.sql(f"select 1 as a, {made} as b")
    with pytest.raises(DataError, match=r"^Spark frame: column 'b' is of Spark's type \w+, not one of single values$"):
        spark.scan(SparkFrameSource(frame, tmp_path))
    assert not list(tmp_path.iterdir())


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
@pytest.mark.requirement("D-01")
def test_what_spark_does_not_read_is_copied_for_a_while(tmp_path: Path) -> None:
    text, spool = tmp_path / "a.csv", tmp_path / "spool"
    text.write_text("code;town\n007;\n08;Pune\n")
    spool.mkdir()
    source, engine = open_source(FileOptions(path=str(text))), SparkEngine(spool=spool)
    with closing(engine):
        table = engine.map(engine.scan(source), [Reveals()])
        counts = engine.counts(table, ("position", "code", "town"))
        (copies,) = spool.iterdir()
        assert stat.S_IMODE(copies.stat().st_mode) == 0o700
    assert (
        counts.frame().rows()
        == PolarsEngine()
        .counts(PolarsEngine().map(PolarsEngine().scan(source), [Reveals()]), ("position", "code", "town"))
        .frame()
        .rows()
    )
    assert not list(spool.iterdir())


@pytest.mark.spark
def test_a_file_that_spark_cannot_read_is_named(spark: SparkEngine, tmp_path: Path) -> None:
    path = tmp_path / "times.parquet"
    pl.DataFrame({"at": pl.Series([1]).cast(pl.Time)}).write_parquet(path)
    with pytest.raises(SourceError, match=rf"^{path}: Spark can't read it \(UNSUPPORTED_TIME_TYPE\)$"):
        spark.scan(open_source(FileOptions(path=str(path))))


@pytest.mark.spark
def test_a_running_spark_is_used_and_its_settings_are_left_alone(spark: SparkEngine) -> None:
    from pyspark.sql import SparkSession

    theirs, ours = SparkSession.getActiveSession(), SparkEngine(master="spark://nowhere:7077").session
    assert theirs is not None
    assert ours.sparkContext is theirs.sparkContext is spark.session.sparkContext
    assert (theirs.conf.get("spark.sql.caseSensitive"), ours.conf.get("spark.sql.caseSensitive")) == ("false", "true")


POLICY = """
shoal: 1
name: twice
person: person
attributes:
  name: suppress
  person: {role: direct, technique: {mask: {keep_last: 1, length: 6}}}
  age: {role: quasi, hierarchy: {intervals: {widths: [10, 20]}}}
  City: {role: quasi}
  salary: {role: insensitive, technique: {noise: {laplace: {scale: 50}}}}
  code: {role: direct, technique: {mask: {keep_last: 1}}}
  "*": suppress
privacy:
  - k_anonymity: {k: 4}
solve: {suppression_limit: 0.2}
"""


@pytest.mark.spark
@pytest.mark.requirement("S-01", "D-09")
@pytest.mark.usefixtures("spark")
def test_one_policy_gives_one_release_on_every_engine(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    TABLE.write_parquet(path, row_group_size=20)
    policy = Policy.from_text(POLICY)
    first, second = (
        release_folder(policy, tmp_path / engine, data=str(path), engine=engine, seed=3)
        for engine in ("polars", "spark")
    )
    same_records(pl.read_parquet(second.data), pl.read_parquet(first.data))
    told = [release.manifest.to_dict() for release in (first, second)]
    for facts in told:
        assert facts["risk"]["k"] >= 4
        for by_chance in ("created", "data", "timing", "peak_rss_mb", "engine", "versions"):
            del facts[by_chance]
    assert told[0] == told[1]
