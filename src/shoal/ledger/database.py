"""Transactions on a SQLite file or on PostgreSQL, by one code path: one writer at a time, readers see one moment.

SQLite runs in WAL mode with every commit flushed to disk, and overwrites what is deleted. A file is never made, and
one that holds something else is never changed, by opening it. Driver errors never leave here as they are: they may
hold values.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Final

from sqlalchemy import URL, Connection, Engine, MetaData, Select, Table, bindparam, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from shoal.errors import InputError, IntegrityError, ShoalError, SourceError, TargetError, install_advice
from shoal.io.atomic import unfinished
from shoal.io.atomic.folder_commit import give_new_name
from shoal.ledger.db_errors import database_error

PATIENCE_MS: Final = 600_000
_SETTINGS: Final = (
    "PRAGMA page_size = 16384",
    f"PRAGMA busy_timeout = {PATIENCE_MS}",
    "PRAGMA synchronous = FULL",
    "PRAGMA secure_delete = ON",
    "PRAGMA cache_size = -65536",
)
_STRANGE_ON_SQLITE: Final = text(
    "SELECT name FROM sqlite_master WHERE type IN ('view', 'trigger') AND tbl_name IN :tables"
).bindparams(bindparam("tables", expanding=True))
_STRANGE_ON_POSTGRESQL: Final = text(
    "SELECT relname FROM pg_class AS one WHERE relname IN :tables AND pg_table_is_visible(one.oid) AND"
    " (relkind <> 'r' OR relhasrules OR relrowsecurity"
    " OR EXISTS (SELECT 1 FROM pg_trigger WHERE tgrelid = one.oid AND NOT tgisinternal))"
).bindparams(bindparam("tables", expanding=True))
"""Views, triggers, rules and hidden rows in the place of our tables or on them: this program makes none."""
_MAKING: Final = 0x53484F414C
"""The advisory lock of whoever makes tables in a PostgreSQL database."""


class TransactionalDatabase:
    """Where something lasting is kept. A subclass says what it is called in messages."""

    kind: ClassVar[str]
    """What stands in the database, in one word for messages."""
    how_to_make: ClassVar[str | None] = None
    """Advice for who opens what isn't there."""

    def __init__(self, place: str) -> None:
        self.label, url = _located(place, self.kind)
        self.is_file = url.get_backend_name() == "sqlite"
        self.path = Path(url.database or "") if self.is_file else None
        self.place = str(self.path) if self.path else self.label
        try:
            self._engine = _file_engine(url) if self.is_file else _engine(url)
        except ModuleNotFoundError:
            raise InputError(f"{self.label}: needs a driver", advice=install_advice("db")) from None
        self._holding = False
        self._held: Connection | None = None
        self._whole = False

    @contextmanager
    def holding(self) -> Iterator[None]:
        """One connection for what is read and written within, which is opened with the first use of it.

        For a moment, not for an hour: a server may end a connection that does nothing, a file may be exchanged.
        """
        if self._holding:
            yield
            return
        self._holding, self._whole = True, False
        try:
            yield
        finally:
            held, self._holding, self._held = self._held, False, None
            if held is not None:
                with self._plainly():
                    held.close()

    @contextmanager
    def making(self, metadata: MetaData, mark: Table, *, new_file: bool) -> Iterator[Connection]:
        """New tables and what is put in them, whole or not at all. Where ``mark`` stands already, nothing is touched.

        With ``new_file`` a SQLite file must not exist yet; without, the tables may join others in a file.
        """
        if self.path is not None and (new_file or not self.path.exists()):
            with self._new_file(self.path) as engine, self._alone(engine) as connection:
                metadata.create_all(connection)
                yield connection
            return
        with self._alone(self._engine) as connection:
            self._refuse_existing(connection, mark)
            metadata.create_all(connection)
            yield connection

    @contextmanager
    def _alone(self, engine: Engine) -> Iterator[Connection]:
        """Whoever makes tables, until they are committed."""
        with self._plainly(), engine.connect() as connection:
            if not self.is_file:
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_MAKING})")
                yield connection
                connection.commit()
                return
            connection.exec_driver_sql("PRAGMA journal_mode = WAL")
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            yield connection
            connection.exec_driver_sql("COMMIT")

    @contextmanager
    def _new_file(self, path: Path) -> Iterator[Engine]:
        """It has its name once it is whole. Who comes meanwhile finds none; nobody can have written to it and lose it.

        It is made in a hidden folder, for its owner's eyes only, and nothing but SQLite has it open: closing it would
        drop the locks of every connection that this process has to it.
        """
        final = unfinished.settled(path)
        with self._naming():
            if final.exists():
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
            unfinished.sweep(final)
            folder, lock = unfinished.locked_folder(final)
        try:
            made = folder / "made"
            with self._naming():
                os.close(os.open(made, os.O_CREAT | os.O_EXCL | os.O_WRONLY, unfinished.PRIVATE))
            yield _set_up_engine(URL.create("sqlite+pysqlite", database=str(made)))
            with self._naming():
                unfinished.flush(made)
                unfinished.committing(folder)
                give_new_name(made, final)
                unfinished.flush_folder(final.parent)
        finally:
            unfinished.remove(folder)
            unfinished.release(folder, lock)

    @contextmanager
    def _naming(self) -> Iterator[None]:
        try:
            yield
        except FileExistsError:
            raise TargetError(f"{self.label}: exists already") from None
        except OSError as error:
            raise TargetError(f"{self.label}: can't be made ({error.strerror})") from None

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """One moment, while others write."""
        self._need_file()
        with self._plainly(), self._connected() as connection:
            if self.is_file:
                connection.exec_driver_sql("BEGIN")
            else:
                connection.execution_options(isolation_level="REPEATABLE READ")
            self._refuse_cut(connection)
            yield connection

    @contextmanager
    def transaction(self, lock: Select[Any] | None = None) -> Iterator[Connection]:
        """Committed at the end, undone if anything fails. Alone on SQLite; on PostgreSQL after what ``lock`` locks."""
        self._need_file()
        with self._plainly(), self._connected() as connection:
            if not self.is_file:
                connection.execution_options(isolation_level="READ COMMITTED")  # sees what the one before has written
                if lock is not None:
                    connection.execute(lock)
                yield connection
                connection.commit()
                return
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            try:
                self._refuse_cut(connection)
                yield connection
                connection.exec_driver_sql("COMMIT")
            except BaseException:
                with suppress(SQLAlchemyError):
                    connection.exec_driver_sql("ROLLBACK")
                raise

    def require_sound(self, connection: Connection, metadata: MetaData) -> None:
        """That what is looked up is what stands in the tables, or an IntegrityError.

        Whoever goes through a table sees its rows; whoever looks something up in it goes by an index, which may have
        been altered alone. A view or a trigger can tell each reader something else.
        """
        strange = _STRANGE_ON_SQLITE if self.is_file else _STRANGE_ON_POSTGRESQL
        found = connection.execute(strange, {"tables": list(metadata.tables)}).scalars().first()
        if found is not None:
            raise IntegrityError(f"{self.label}: was altered: '{found}' is no table of this program, or acts on one")
        if self.is_file and connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar() != "ok":
            raise IntegrityError(f"{self.label}: is damaged: an index tells something else than its table")

    def close(self) -> None:
        if not self.is_file:  # nothing is kept open to a file
            self._engine.dispose()

    @contextmanager
    def _connected(self) -> Iterator[Connection]:
        """Without a transaction that is still open."""
        if not self._holding:
            with self._engine.connect() as connection:
                yield connection
            return
        if self._held is None:
            self._held = self._engine.connect()
        connection = self._held
        try:
            yield connection
        finally:
            self._end_transaction(connection)

    def _end_transaction(self, connection: Connection) -> None:
        with suppress(SQLAlchemyError):
            connection.rollback()
            if self.is_file and connection.connection.dbapi_connection.in_transaction:  # type: ignore[union-attr]
                connection.exec_driver_sql("ROLLBACK")
                connection.rollback()

    def _refuse_existing(self, connection: Connection, mark: Table) -> None:
        if self._engine.dialect.has_table(connection, mark.name):
            raise TargetError(f"{self.label}: there is a {self.kind} already")

    def _need_file(self) -> None:
        if self.path is not None and not self.path.is_file():
            raise SourceError(f"{self.label}: there is no such {self.kind}", advice=self.how_to_make)

    def _refuse_cut(self, connection: Connection) -> None:
        """A file that is shorter than it says itself. While there is a log, that may put it right.

        Of a connection that is held it is seen once.

        SQLite is asked, and the file isn't opened here: closing it again would drop the locks of every connection that
        this process has to it (fcntl), and others would take the log away from under them.
        """
        path = self.path
        if path is None or (self._holding and self._whole):
            return
        self._whole = True
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        size = connection.exec_driver_sql("PRAGMA page_size").scalar_one()
        log = Path(f"{path}-wal")
        if not (log.exists() and log.stat().st_size) and path.stat().st_size < pages * size:
            self._whole = False
            raise IntegrityError(f"{self.label}: is damaged: the file was cut short")

    @contextmanager
    def _plainly(self) -> Iterator[None]:
        try:
            yield
        except ShoalError:
            raise
        except (SQLAlchemyError, OSError, self._engine.dialect.loaded_dbapi.Error) as error:
            cause = error.orig if isinstance(error, DBAPIError) and error.orig else error
            raise database_error(self.label, str(cause).lower(), self.kind) from None
        except UnicodeDecodeError:
            raise IntegrityError(f"{self.label}: is damaged: it holds text that is none") from None


def _located(place: str, kind: str) -> tuple[str, URL]:
    """What to call the place, and its address for SQLAlchemy."""
    if "://" not in place:
        return place, URL.create("sqlite+pysqlite", database=os.path.abspath(place))  # noqa: PTH100 - keeps links
    try:
        url = make_url(place)
        backend = url.get_backend_name()
    except (ArgumentError, NoSuchModuleError, ValueError):
        raise InputError(f"the {kind}'s address can't be read, as in postgresql://user@host/database") from None
    label = url.set(password=None).render_as_string().split("?")[0]
    if backend == "postgresql":
        return label, url.set(drivername="postgresql+psycopg")
    if backend == "sqlite" and url.database:
        return label, url.set(drivername="sqlite+pysqlite")
    raise InputError(f"{label}: a {kind} is a SQLite file or a PostgreSQL database")


def _engine(url: URL, **settings: Any) -> Engine:
    return create_engine(url, poolclass=NullPool, hide_parameters=True, **settings)


@lru_cache(maxsize=64)
def _file_engine(url: URL) -> Engine:
    """One for each file: it holds no connection, but statements in SQLite's words, which take longer than they run."""
    return _set_up_engine(url)


def _set_up_engine(url: URL) -> Engine:
    engine = _engine(url, isolation_level="AUTOCOMMIT")
    event.listen(engine, "connect", _set_up)
    return engine


def _set_up(connection: Any, _: object) -> None:
    for setting in _SETTINGS:
        connection.execute(setting)
