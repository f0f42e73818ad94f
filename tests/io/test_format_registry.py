"""Formats declare themselves; what follows from their declarations is what the lists once said."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.io import file_target, parse_source
from shoal.io.formats.base import FileFormat, all_formats, format_of_suffix, table_suffixes
from shoal.io.options import FileOptions
from shoal.schema.registry import RegistrationError

pytestmark = pytest.mark.requirement("D-01")

KILLED = """
import os, signal, sys
from pathlib import Path
import polars as pl
from shoal.io import file_target
from shoal.io.formats import excel

def kill(*_):
    print(sorted(path.name for path in Path(sys.argv[1]).iterdir()), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

excel._refuse_long = kill
file_target(Path(sys.argv[1]) / "out.xlsx").write(pl.LazyFrame({"a": ["x"]}))
"""


def test_formats_are_listed_in_their_order() -> None:
    keys = ["csv", "tsv", "excel", "parquet", "jsonl", "arrow"]
    assert [one.key for one in all_formats()] == keys
    (listed, _null) = FileOptions.model_json_schema()["properties"]["format"]["anyOf"]
    assert listed == {"enum": keys, "type": "string"}


def test_an_unknown_format_is_refused_with_those_there_are() -> None:
    with pytest.raises(ValueError, match="'csv', 'tsv', 'excel', 'parquet', 'jsonl' or 'arrow'"):
        parse_source({"path": "a", "format": "cvs"})


def test_endings_of_other_files_are_no_tables_by_themselves() -> None:
    assert {".csv", ".tab", ".xls", ".pq", ".ndjson", ".ipc"} <= table_suffixes()
    assert not {".txt", ".json"} & table_suffixes()
    by_name = format_of_suffix(".TXT")
    assert by_name is not None
    assert by_name.key == "csv"


@pytest.mark.parametrize("suffixes", [(), ("csv",), (".CSV",)])
def test_a_declaration_needs_suffixes(suffixes: tuple[str, ...]) -> None:
    with pytest.raises(RegistrationError, match="suffixes"):
        FileFormat("bad", suffixes, open=_nothing, sink=None, scan=None, separator=",")  # type: ignore[arg-type]


def test_a_declaration_says_how_it_is_written() -> None:
    with pytest.raises(RegistrationError, match="sink and scan"):
        FileFormat("bad", (".bad",), open=_nothing, sink=None, scan=None)  # type: ignore[arg-type]
    with pytest.raises(RegistrationError, match="sink and scan"):
        FileFormat("bad", (".bad",), open=_nothing, sink=_nothing, scan=_nothing, separator=",")  # type: ignore[arg-type]


def _nothing(*_: object) -> None:
    raise AssertionError("nobody asks")


def test_what_a_workbook_puts_aside_is_swept_after_a_kill(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(shoal.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path)], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert done.stdout.count("-aside") == 1, "rows lie aside while the workbook is made"
    assert any(path.name.endswith("-aside") for path in tmp_path.iterdir())
    file_target(tmp_path / "out.xlsx").write(pl.LazyFrame({"a": ["x"]}))
    assert [path.name for path in tmp_path.iterdir()] == ["out.xlsx"]
