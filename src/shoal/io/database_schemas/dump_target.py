"""A file of SQL that makes the copy where it is run: with ``psql``, ``mariadb``, ``sqlite3`` or another client.

The parts of it, one for each table, lie in the folder of the unfinished copy; the file appears whole at the end.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, Final

import polars as pl

from shoal.errors import TargetError
from shoal.io.atomic.file_replacement import atomic_path, write_atomic
from shoal.io.database_schemas.catalogue import TableFacts
from shoal.io.database_schemas.row_text import copy_text, inserts
from shoal.io.database_schemas.schema_target import ALL_DONE, MARIADB_MODE, CopiedTable, SchemaTarget
from shoal.io.databases.column_types import converted, storable

_HEADS: Final = {
    "postgresql": "SET client_encoding TO 'UTF8';\nSET standard_conforming_strings TO on;\nBEGIN;\n",
    "mysql": f"SET NAMES utf8mb4;\nSET SESSION sql_mode = '{MARIADB_MODE}';\n"
    "SET FOREIGN_KEY_CHECKS = 0;\nSTART TRANSACTION;\n",
    "sqlite": "PRAGMA foreign_keys = OFF;\nBEGIN;\n",
    "oracle": "ALTER SESSION SET NLS_DATE_FORMAT = 'YYYY-MM-DD';\n"
    "ALTER SESSION SET NLS_TIMESTAMP_FORMAT = 'YYYY-MM-DD HH24:MI:SS.FF';\n",
    "mssql": "SET DATEFORMAT ymd;\nBEGIN TRANSACTION;\n",
}
_ENDS: Final = {
    "postgresql": "COMMIT;\n",
    "mysql": "COMMIT;\nSET FOREIGN_KEY_CHECKS = 1;\n",
    "sqlite": "COMMIT;\n",
    "oracle": "COMMIT;\n",
    "mssql": "COMMIT TRANSACTION;\n",
}


class DumpTarget(SchemaTarget):
    def __init__(self, path: Path, kind: str, parts: Path) -> None:
        self.path, self.kind, self.parts = path, kind, parts
        self.label = str(path)

    def refuse_occupied(self) -> None:
        if self.path.exists():
            raise TargetError(f"{self.path}: exists already")
        if not self.path.parent.is_dir():
            raise TargetError(f"{self.path}: its folder does not exist")

    def begin(self, copy: str) -> None:
        self.remove(copy, ())
        self.parts.mkdir(mode=0o700, parents=True)
        write_atomic(self.parts / "copy", copy)

    def done(self, copy: str) -> dict[str, CopiedTable] | None:
        mark = self.parts / "copy"
        if not mark.is_file() or mark.read_text() != copy:
            return None
        found = {path.stem: CopiedTable.from_json(path.read_text()) for path in sorted(self.parts.glob("*.json"))}
        return {bytes.fromhex(name[1:]).decode(): told for name, told in found.items()}

    def fill(self, copy: str, table: TableFacts, frame: pl.LazyFrame) -> int:
        stored, rows = storable(frame.collect_schema(), self.kind, f"{self.label}#{table.name}"), 0
        batches = converted(frame, stored).collect_batches(maintain_order=True, engine="streaming")
        with atomic_path(self._part(table.name, "sql"), self.label) as hidden, hidden.open("wb") as file:
            for batch, written in self._written(table, batches):
                file.write(written)
                rows += batch
        told = CopiedTable(rows, {one.name: one.declared for one in table.columns})
        write_atomic(self._part(table.name, "json"), told.to_json())
        return rows

    def _part(self, table: str, ending: str) -> Path:
        """A table's name may be none that a file can have."""
        return self.parts / f"t{table.encode().hex()}.{ending}"

    def _written(self, table: TableFacts, batches: Iterator[pl.DataFrame]) -> Iterator[tuple[int, bytes]]:
        names = self.statements
        own, columns = names.name(table.name), names.names([one.name for one in table.columns])
        if self.kind == "postgresql":
            yield 0, f"COPY {own} ({columns}) FROM stdin;\n".encode()
        for batch in batches:
            if self.kind == "postgresql":
                yield batch.height, copy_text(batch, f"{self.label}#{table.name}")
            else:
                yield batch.height, "".join(inserts(batch, own, columns, self.kind)).encode()
        yield 0, b"\\.\n" if self.kind == "postgresql" else b""

    def finish(self, copy: str, tables: Sequence[TableFacts], views: Mapping[str, str]) -> dict[str, str]:
        with atomic_path(self.path, self.label) as hidden, hidden.open("wb") as file:
            file.write(_HEADS.get(self.kind, "").encode())
            for table in tables:
                self._say(file, [self.statements.create(table)])
                with self._part(table.name, "sql").open("rb") as part:
                    shutil.copyfileobj(part, file)
            for table in tables:
                self._say(file, self.statements.keys(table))
            for table in tables:
                self._say(file, (statement for _, statement in self.statements.references(table)))
            for table in tables:
                self._say(file, (*self.statements.numbering(table), *self.statements.comments(table)))
            self._say(file, (f"CREATE VIEW {self.statements.name(name)} AS {query}" for name, query in views.items()))
            file.write(_ENDS.get(self.kind, "").encode())
        write_atomic(self._part(ALL_DONE, "json"), CopiedTable(0, {}).to_json())
        return {}

    @staticmethod
    def _say(file: BinaryIO, statements: Iterator[str] | Sequence[str]) -> None:
        for statement in statements:
            file.write(f"{statement};\n".encode())

    def close(self, copy: str) -> None:
        self.remove(copy, ())

    def remove(self, copy: str, tables: Sequence[str]) -> None:
        if self.parts.is_dir():
            shutil.rmtree(self.parts)
