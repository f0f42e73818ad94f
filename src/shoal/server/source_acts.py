"""Sources that are not uploaded: files of a folder that the operator opened, tables of servers that they named."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

from fastapi import HTTPException
from sqlalchemy import insert
from starlette.concurrency import run_in_threadpool

from shoal.errors import InputError
from shoal.randomness import now
from shoal.server.access.sessions import Principal
from shoal.server.jobs.drafting import PolicyChoices
from shoal.server.jobs.job_queue import JobKind
from shoal.server.jobs.table_fetching import TABLE, TableWish
from shoal.server.store.database import new_id
from shoal.server.store.stored import refuse_beyond
from shoal.server.store.tables import SOURCES
from shoal.server.studio_acts import BLOCK, room_left, take_in
from shoal.server.web.parts import StudioParts

LISTED: Final = 200


def files_offered(parts: StudioParts) -> list[dict[str, Any]]:
    """Tables in the operator's folder itself. What a link leads to elsewhere is not there."""
    from shoal.io.formats.base import table_suffixes

    folder = parts.home.settings.tables_folder
    if folder is None or not folder.is_dir():
        return []
    found = [
        path for path in sorted(folder.iterdir())
        if path.suffix.lower() in table_suffixes() and path.is_file() and not path.is_symlink()
    ]  # fmt: skip
    return [{"name": path.name, "size": path.stat().st_size} for path in found[:LISTED]]


async def take_from_folder(parts: StudioParts, who: Principal, name: str) -> dict[str, str]:
    """A copy of one of them, as if it were uploaded."""
    folder = parts.home.settings.tables_folder
    offered = await run_in_threadpool(files_offered, parts)
    if folder is None or name not in [one["name"] for one in offered]:
        raise HTTPException(404, "there is no such file")
    return await take_in(parts, who, name, _blocks(folder / name))


async def _blocks(path: Path) -> AsyncIterator[bytes]:
    with path.open("rb") as file:
        while block := await run_in_threadpool(file.read, BLOCK):
            yield block


def take_from_database(parts: StudioParts, who: Principal, wish: TableWish) -> dict[str, str]:
    """A job reads the table once; what is looked at from then on is the copy."""
    if wish.server not in parts.home.settings.table_servers:
        raise InputError("is none of those that the operator named", field="server")
    refuse_beyond(room_left(parts, who), 1)
    identifier = new_id()
    folder = parts.home.upload(identifier)
    (folder / "data").mkdir(mode=0o700, parents=True)
    try:
        with parts.home.database.transaction() as connection:
            told = {"table": wish.table}
            job = parts.queue.add(connection, who.account.id, JobKind.FETCH, identifier, told, wish.secret)
            row = {"id": identifier, "owner": who.account.id, "name": TABLE, "size": 0, "sha256": "", "inspection": job}
            choices = PolicyChoices().model_dump(mode="json")
            connection.execute(insert(SOURCES).values(**row, choices=choices, created=now().timestamp()))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return {"source": identifier, "job": job}
