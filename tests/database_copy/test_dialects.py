"""Files for databases that are not at hand: Oracle and SQL Server. What is written is read by a parser of theirs."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlglot
from sqlglot import exp
from tests.database_copy.runs import copied

READ_BY = {"oracle": "oracle", "mssql": "tsql", "postgresql": "postgres", "mysql": "mysql"}


@pytest.mark.parametrize("dialect", ["oracle", "mssql", "mysql"])
def test_a_file_in_another_dialect(small: str, tmp_path: Path, dialect: str) -> None:
    path = tmp_path / "copy.sql"
    copied(small, str(path), tmp_path, dialect=dialect)
    parsed = [one for one in sqlglot.parse(path.read_text(), read=READ_BY[dialect]) if one is not None]
    created = [one for one in parsed if isinstance(one, exp.Create) and one.kind == "TABLE"]
    assert len(created) == 12
    inserted = [one for one in parsed if isinstance(one, exp.Insert)]
    values = [len(one.expression.expressions) for one in inserted]
    assert sum(values) > 800
    assert max(values) <= {"oracle": 1, "mssql": 500}.get(dialect, 1000)
    assert "Surname" not in path.read_text()


def test_types_are_those_of_the_dialect(small: str, tmp_path: Path) -> None:
    written = {}
    for dialect in ("oracle", "mssql"):
        path = tmp_path / f"{dialect}.sql"
        copied(small, str(path), tmp_path, dialect=dialect, output=tmp_path / f"{dialect}.json")
        written[dialect] = path.read_text()
    assert "at DATETIME2" in written["mssql"]
    assert "note NVARCHAR(max)" in written["mssql"]
    assert "VARBINARY(max)" in written["mssql"]
    assert "N'Dipyrone'" in written["mssql"]
    assert "BLOB" in written["oracle"]
    assert "at TIMESTAMP" in written["oracle"]
    assert "NLS_TIMESTAMP_FORMAT" in written["oracle"]
    assert "HEXTORAW('00ff01')" in written["oracle"]
