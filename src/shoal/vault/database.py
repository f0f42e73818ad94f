"""The database behind a vault: a SQLite file, or PostgreSQL. One writer at a time; readers see one moment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

from sqlalchemy import Connection, select

from shoal.ledger.database import TransactionalDatabase
from shoal.vault.tables import domain_key, head, metadata


class VaultDatabase(TransactionalDatabase):
    kind: ClassVar[str] = "vault"
    how_to_make: ClassVar[str | None] = "make one with `shoal vault init`"

    @contextmanager
    def filling(self) -> Iterator[Connection]:
        """A new vault: its tables and what is put in them, whole or not at all. Nothing that is there is touched."""
        with self.making(metadata, head, new_file=True) as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Alone: committed at the end, undone if anything fails."""
        with self.transaction(select(head.c.generation).with_for_update()) as connection:
            yield connection

    def forget(self) -> None:
        """Nothing that was deleted stays in the file or in its log; of PostgreSQL's own log this can't be said."""
        with self._plainly(), self._engine.connect() as connection:
            if self.is_file:
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
                connection.exec_driver_sql("VACUUM")
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
            else:
                alone = connection.execution_options(isolation_level="AUTOCOMMIT")
                alone.exec_driver_sql(f"VACUUM FULL {domain_key.name}")

    def sound(self) -> bool:
        """Whether the database itself finds its pages and indices in order."""
        with self._plainly(), self._engine.connect() as connection:
            if not self.is_file:
                return True
            return connection.exec_driver_sql("PRAGMA integrity_check").scalar() == "ok"

    def holds(self, secrets: Sequence[bytes]) -> bool:
        """Whether one of these stands anywhere in the file or in its log."""
        if self.path is None:
            return False
        files = [Path(f"{self.path}{end}") for end in ("", "-wal")]
        return any(_stands_in(path, secrets) for path in files if path.exists())


def _stands_in(path: Path, secrets: Sequence[bytes]) -> bool:
    longest, before = max(map(len, secrets), default=1), b""
    with path.open("rb") as file:
        while part := file.read(1 << 24):
            if any(secret in before + part for secret in secrets):
                return True
            before = part[-longest:]
    return False
