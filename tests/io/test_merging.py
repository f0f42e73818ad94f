"""Several sources as one table: conversions against plain Python, order, and what is refused."""

from __future__ import annotations

import string
import subprocess
import sys
from datetime import date
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from shoal.errors import DataError, PolicyError, SourceError
from shoal.io import FileSource
from shoal.io.merging.conversion import Conversion
from shoal.io.merging.mapping import ColumnOrigin, TargetColumn
from shoal.policy.source_mapping import mapping_from_text
from shoal.policy.sources import open_merged
from shoal.schema.values import ValueType

MAPPING = """
shoal: 1
columns:
  hospital: text
  id: {required: true}
  sex: {values: [female, male]}
  born: date
sources:
  - source: north-*.csv
    columns:
      hospital: {constant: North}
      id: number
      sex: {from: gender, values: {m: male, f: female}}
      born: {from: dob, format: "%d/%m/%Y"}
    drop: [phone]
  - source: {path: south.csv, separator: "|"}
    keep: [id, sex]
    columns:
      hospital: {constant: South}
      born: {absent: true}
"""


@pytest.fixture
def hospitals(tmp_path: Path) -> Path:
    (tmp_path / "north-1.csv").write_text("number,gender,dob,phone\n001,m,31/01/1980,1\n2,f,01/02/1981,2\n")
    (tmp_path / "north-2.csv").write_text("gender,number,phone,dob\nf,3,3,\n")
    (tmp_path / "south.csv").write_text("id|sex\n1|female\n2|\n")
    (tmp_path / "map.yaml").write_text(MAPPING)
    return tmp_path / "map.yaml"


def changed(mapping: Path, old: str, new: str) -> Path:
    assert old in mapping.read_text()
    mapping.write_text(mapping.read_text().replace(old, new, 1))
    return mapping


def converted(values: pl.Series, origin: ColumnOrigin, target: TargetColumn) -> tuple[list[object], dict[str, int]]:
    one = Conversion("x", origin, target, values.dtype)
    frame = values.alias("a").to_frame().lazy()
    failed = {why: frame.select(count).collect().item() for why, count in one.failures().items()}
    return frame.select(one.values()).collect()["x"].to_list(), {why: count for why, count in failed.items() if count}


def test_records_stand_one_after_the_other_in_the_order_of_the_mapping(hospitals: Path) -> None:
    merged = open_merged(hospitals, "map.yaml")
    born = [date(1980, 1, 31), date(1981, 2, 1), None, None, None]
    expected = pl.DataFrame(
        {
            "hospital": ["North"] * 3 + ["South"] * 2,
            "id": ["001", "2", "3", "1", "2"],
            "sex": ["male", "female", "female", "female", None],
            "born": born,
        }
    )
    for _ in range(2):
        assert_frame_equal(merged.scan().collect(engine="streaming"), expected)
    assert merged.rows == expected.height
    assert merged.format == "csv"
    assert isinstance(merged, FileSource)
    assert [path.name for path in merged.files] == ["map.yaml", "north-1.csv", "north-2.csv", "south.csv"]


def test_a_column_by_itself_has_as_many_values_as_the_table(hospitals: Path) -> None:
    """Constants and absent columns must not shrink to one value when nothing else is asked for."""
    frame = open_merged(hospitals, "map.yaml").scan()
    assert frame.select("hospital").collect(engine="streaming").height == 5
    assert frame.select(pl.len()).collect(engine="streaming").item() == 5
    assert frame.select("born").collect(engine="streaming")["born"].null_count() == 3


def test_sources_of_several_kinds_and_a_database_are_merged(hospitals: Path) -> None:
    pl.DataFrame({"id": [7], "sex": ["male"]}).write_parquet(hospitals.parent / "south.parquet")
    changed(hospitals, '{path: south.csv, separator: "|"}', "south.parquet")
    merged = open_merged(hospitals, "map.yaml")
    assert merged.format == "parquet"
    assert merged.scan().collect()["id"].to_list() == ["001", "2", "3", "7"]
    pl.DataFrame({"id": ["8"], "sex": ["male"]}).write_database("south", f"sqlite:///{hospitals.parent}/south.db")
    changed(hospitals, "south.parquet", "{url: 'sqlite:///south.db', table: south}")
    from_database = open_merged(hospitals, "map.yaml")
    assert from_database.scan().collect()["id"].to_list() == ["001", "2", "3", "8"]
    assert not isinstance(from_database, FileSource)


def test_what_can_not_be_converted_is_counted_by_column_and_never_shown(hospitals: Path) -> None:
    (hospitals.parent / "north-2.csv").write_text("gender,number,phone,dob\nsecret,,3,1999-99-99\nf,5,3,hidden\n")
    with pytest.raises(DataError) as raised:
        open_merged(hospitals, "map.yaml")
    said = str(raised.value)
    assert "north-*.csv: column 'gender': not listed in `values` (1 value(s))" in said
    assert "column 'dob': not to be read as date in the format %d/%m/%Y (2 value(s))" in said
    assert "column 'number': missing, and required (1 value(s))" in said
    assert not any(value in said for value in ("secret", "hidden", "1999"))


def test_columns_that_nobody_names_stop_it_with_their_lines(hospitals: Path) -> None:
    changed(hospitals, "    drop: [phone]\n", "")
    changed(hospitals, "from: gender", "from: gendr")
    with pytest.raises(PolicyError) as raised:
        open_merged(hospitals, "map.yaml")
    told = [str(problem) for problem in raised.value.problems]
    assert told == [
        "line 9, column 5: sources.0: north-1.csv has 2 column(s) that are neither used nor in `drop`: "
        "'gender', 'phone'",
        "line 13, column 7: sources.0.columns.sex: north-1.csv has no column 'gendr'; did you mean 'gender'?",
    ]


def test_files_of_a_pattern_need_the_same_columns(hospitals: Path) -> None:
    (hospitals.parent / "north-2.csv").write_text("gender,number,phone\nf,3,3\n")
    with pytest.raises(PolicyError, match=r"north-2\.csv has other columns than north-1\.csv"):
        open_merged(hospitals, "map.yaml")


def test_a_pattern_that_no_file_fits_is_an_error(hospitals: Path) -> None:
    changed(hospitals, "north-*.csv", "west-*.csv")
    with pytest.raises(SourceError, match=r"west-\*\.csv: no file fits"):
        open_merged(hospitals, "map.yaml")


def test_a_source_that_was_changed_is_not_read_again(hospitals: Path) -> None:
    merged = open_merged(hospitals, "map.yaml")
    (hospitals.parent / "south.csv").write_text("id|sex\n1|other than what was checked\n")
    with pytest.raises(SourceError, match="changed"):
        merged.scan().collect()


def test_everything_wrong_with_a_mapping_is_told_at_once() -> None:
    text = """
shoal: 1
columns: {id: text, age: integer, sex: {values: [f, m]}}
sources:
  - source: a.csv
    columns:
      idd: number
      age: {from: years, format: "%Y"}
      sex: {constant: x}
    drop: [years]
  - source: b.csv
    keep: [id]
    columns: {id: id, age: {absent: true}}
"""
    with pytest.raises(PolicyError) as raised:
        mapping_from_text(text)
    told = "\n".join(map(str, raised.value.problems))
    for part in (
        "line 5, column 5: sources.0: nothing fills 'id'",
        "line 7, column 7: sources.0.columns.idd: the merged table has no column 'idd'; did you mean 'id'?",
        "line 8, column 7: sources.0.columns.age: format: is of dates, and the merged column is integer",
        "line 9, column 7: sources.0.columns.sex: gives a value that the merged column doesn't list",
        "line 10, column 5: sources.0.drop: 'years' is used and dropped",
        "line 11, column 5: sources.1: nothing fills 'sex'",
        "line 13, column 15: sources.1.columns.id: 'id' stands in `keep` too",
    ):
        assert part in told


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "a mapping is a mapping that begins with `shoal: 1`"),
        ("{shoal: 1, colums: {a: text}, sources: []}", "unknown key 'colums'; did you mean 'columns'"),
        ("{shoal: 1, columns: {}, sources: []}", "sources: there is none"),
        ("{shoal: 1, columns: {a: txt}, sources: []}", "columns.a: has to be"),
        (
            "{shoal: 1, columns: {a: text}, sources: [{source: x.csv, columns: {a: {fron: b}}}]}",
            "unknown parameter 'fron'; did you mean 'from'",
        ),
        (
            "{shoal: 1, columns: {a: text}, sources: [{source: x.csv, columns: {a: {from: b, constant: c}}}]}",
            "say one of from, constant and absent",
        ),
    ],
)
def test_a_mapping_that_is_none_says_why(text: str, said: str) -> None:
    with pytest.raises(PolicyError) as raised:
        mapping_from_text(text)
    assert said in str(raised.value)


@given(st.lists(st.one_of(st.none(), st.text(string.digits + "-.e x", max_size=6)), max_size=20))
def test_whole_numbers_are_read_exactly_or_counted(values: list[str | None]) -> None:
    read, failed = converted(
        pl.Series(values, dtype=pl.String()), ColumnOrigin(column="a"), TargetColumn(type=ValueType.INTEGER)
    )
    for text, number in zip(values, read, strict=True):
        assert number is None or (text is not None and int(text) == number)
    lost = sum(text is not None and number is None for text, number in zip(values, read, strict=True))
    assert sum(failed.values()) == lost
    plain = [text for text in values if text is not None and text.isdigit()]
    assert len(plain) <= len([number for number in read if number is not None])


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True, width=32), max_size=20))
def test_no_number_is_cut_to_a_whole_one(values: list[float]) -> None:
    read, failed = converted(
        pl.Series(values, dtype=pl.Float64()), ColumnOrigin(column="a"), TargetColumn(type=ValueType.INTEGER)
    )
    fits = [value.is_integer() and abs(value) < 2**63 for value in values]
    assert [number is not None for number in read] == fits
    assert sum(failed.values()) == len(values) - sum(fits)


@given(
    st.lists(st.one_of(st.none(), st.sampled_from(["m", "f", "x", "M", ""])), max_size=20),
    st.sampled_from(["refuse", "keep", "missing"]),
)
def test_values_are_replaced_as_a_dictionary_would(values: list[str | None], others: str) -> None:
    listed = {"m": "male", "f": "female", "x": None}
    origin = ColumnOrigin.model_validate({"from": "a", "values": listed, "others": others})
    read, failed = converted(pl.Series(values, dtype=pl.String()), origin, TargetColumn())
    rest = [value for value in values if value is not None and value not in listed]
    kept = (lambda value: value) if others == "keep" else (lambda _: None)
    assert read == [None if one is None else listed.get(one, kept(one)) for one in values]
    assert sum(failed.values()) == (len(rest) if others == "refuse" else 0)


@given(st.lists(st.dates(date(1000, 1, 1), date(2999, 12, 31)), min_size=1, max_size=20))
def test_dates_in_any_format_become_the_same_dates(dates: list[date]) -> None:
    target = TargetColumn(type=ValueType.DATE)
    for pattern in ("%d/%m/%Y", "%Y%m%d", "%d %b %Y", "%Y-%m-%d %H:%M"):
        written = pl.Series([f"{one:{pattern}}".zfill(8) for one in dates])
        assert converted(written, ColumnOrigin(column="a", format=pattern), target) == (dates, {})
    assert converted(pl.Series([one.isoformat() for one in dates]), ColumnOrigin(column="a"), target) == (dates, {})


def test_units_and_times_and_truth_values_are_brought_into_one_form() -> None:
    pounds = ColumnOrigin(column="a", multiply=0.45359237, decimals=1)
    assert converted(pl.Series(["150", None, "x"]), pounds, TargetColumn(type=ValueType.DECIMAL)) == (
        [68.0, None, None],
        {"not to be read as decimal": 1},
    )
    celsius = ColumnOrigin(column="a", multiply=5 / 9, add=-160 / 9, decimals=0)
    assert converted(pl.Series([212, 32]), celsius, TargetColumn(type=ValueType.INTEGER)) == ([100, 0], {})
    times = pl.Series(["2026-03-31T12:00:00", "2026-03-31 12:00:00.5"])
    read, failed = converted(times, ColumnOrigin(column="a"), TargetColumn(type=ValueType.DATETIME))
    assert ([str(one) for one in read], failed) == (["2026-03-31 12:00:00", "2026-03-31 12:00:00.500000"], {})
    truths = pl.Series(["true", "FALSE", "yes"])
    assert converted(truths, ColumnOrigin(column="a"), TargetColumn(type=ValueType.BOOLEAN)) == (
        [True, False, None],
        {"not to be read as boolean": 1},
    )
    serials = converted(pl.Series([45000]), ColumnOrigin(column="a"), TargetColumn(type=ValueType.DATE))
    assert serials == ([None], {"not to be read as date": 1})


def test_a_constant_that_does_not_fit_is_told_with_its_line(hospitals: Path) -> None:
    changed(hospitals, "hospital: text", "hospital: integer")
    with pytest.raises(PolicyError, match=r"line 11, .*hospital: constant: is not to be read as integer"):
        open_merged(hospitals, "map.yaml")


MEASURED = """
import resource, sys
from pathlib import Path
from shoal.io import open_target, parse_target
from shoal.policy.sources import open_merged
merged = open_merged(Path(sys.argv[1]), "m")
open_target(parse_target(sys.argv[2]), like=merged).write(merged.scan())
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""
WORDS = """\
shoal: 1
columns: {id: integer, sex: {type: text, values: [female, male]}, smokes: boolean}
sources: [{source: many.csv, keep: [id, smokes], columns: {sex: {from: sex, values: {f: female, m: male}}}}]
"""


@pytest.mark.slow
@pytest.mark.parametrize("written", ["out.csv", "out.parquet"])
def test_memory_does_not_grow_with_the_records(tmp_path: Path, written: str) -> None:
    """Words that are replaced don't wait for the whole table. Pages of the file that is read count as memory too, so
    they are allowed for: the table itself takes six times as much."""
    (tmp_path / "mapping.yaml").write_text(WORDS)
    peaks, sizes = [], []
    for records in (500_000, 6_000_000):
        numbers = pl.int_range(records, eager=True)
        values = {"id": numbers, "sex": pl.Series(["f", "m"]).gather(numbers % 2), "smokes": numbers % 3 == 0}
        pl.DataFrame(values).write_csv(tmp_path / "many.csv")
        sizes.append((tmp_path / "many.csv").stat().st_size)
        places = [str(tmp_path / name) for name in ("mapping.yaml", f"{records}-{written}")]
        command = [sys.executable, "-c", MEASURED, *places]
        peaks.append(int(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
    assert peaks[1] - peaks[0] < 2.5 * (sizes[1] - sizes[0]), (peaks, sizes)
