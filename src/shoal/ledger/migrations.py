"""How tables change from one version of this program to the next: numbered steps, all of them or none.

The version stands in a table of its own. Where that table is missing the version is 1: the first that was published had
none. A step only adds, so that what an older version wrote can be read without being changed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlalchemy import Connection, Table, delete, insert, select

from shoal.errors import IntegrityError

Migration = Callable[[Connection], None]
"""Number *n*, from 0, takes tables of version *n* + 1 to the next."""


def schema_version(connection: Connection, mark: Table) -> int:
    if not connection.dialect.has_table(connection, mark.name):
        return 1
    found = connection.execute(select(mark.c.version)).scalars().all()
    if len(found) != 1 or type(found[0]) is not int:
        raise IntegrityError("the database does not say which version of its tables it has")
    return found[0]


def refuse_newer(connection: Connection, mark: Table, migrations: Sequence[Migration], label: str) -> int:
    """The version, where this program knows it."""
    version, known = schema_version(connection, mark), len(migrations) + 1
    if not 1 <= version <= known:
        raise IntegrityError(
            f"{label}: was written by a newer version ({version}; this one knows {known})",
            advice="update shoal, or restore the backup from before",
        )
    return version


def migrate(connection: Connection, mark: Table, migrations: Sequence[Migration], label: str) -> None:
    """Within the caller's transaction, who has to have locked out other writers before."""
    version = refuse_newer(connection, mark, migrations, label)
    if version == len(migrations) + 1:
        return
    for step in migrations[version - 1 :]:
        step(connection)
    set_version(connection, mark, len(migrations) + 1)


def set_version(connection: Connection, mark: Table, version: int) -> None:
    mark.create(connection, checkfirst=True)
    connection.execute(delete(mark))
    connection.execute(insert(mark).values(version=version))
