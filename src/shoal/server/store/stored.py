"""How much an account keeps, and what is still free for it."""

from __future__ import annotations

from sqlalchemy import Connection, func, select

from shoal.errors import InputError
from shoal.server.store.tables import SOURCES, TEXTS


def stored_bytes(connection: Connection, owner: str) -> int:
    """Of tables, texts and documents."""
    sizes = [
        select(func.coalesce(func.sum(table.c.size), 0)).where(table.c.owner == owner) for table in (SOURCES, TEXTS)
    ]
    return sum(int(connection.execute(size).scalar_one()) for size in sizes)


def refuse_beyond(left: int, size: int) -> None:
    if size > left:
        raise InputError("your uploads would take more room than you have", advice="delete one first")
