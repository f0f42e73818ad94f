"""What the API and the pages both do: take a source in, keep choices, ask for jobs. Each act is one transaction."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final

from fastapi import HTTPException
from sqlalchemy import Connection, delete, insert, select, update
from starlette.concurrency import run_in_threadpool

from shoal.errors import InputError
from shoal.randomness import now
from shoal.server.access.sessions import Principal
from shoal.server.jobs.drafting import PolicyChoices
from shoal.server.jobs.job_queue import JobKind
from shoal.server.store.database import new_id
from shoal.server.store.stored import refuse_beyond, stored_bytes
from shoal.server.store.tables import ANSWERS, POLICIES, RELEASES, SOURCES
from shoal.server.web.parts import StudioParts

LONGEST_NAME: Final = 120
"""In bytes, of the 255 that a disk allows."""
BLOCK: Final = 1024 * 1024


def file_name(given: str) -> str:
    r"""A name that is a name on any disk, and a table by its ending.

    >>> file_name("../../etc/pass<b>wd.csv"), file_name("C:\\tmp\\a\r\nb.CSV")
    ('pass-b-wd.csv', 'a-b.CSV')
    """
    from shoal.io.formats.base import table_suffixes

    last = re.split(r"[/\\]", given)[-1]
    name = re.sub(r"-{2,}", "-", re.sub(r"[^\w .()+-]", "-", last)).strip(" .-")
    stem = Path(name).stem.encode()[:LONGEST_NAME].decode(errors="ignore")
    suffix = Path(name).suffix
    if suffix.lower() not in table_suffixes() or not stem:
        kinds = ", ".join(sorted(table_suffixes()))
        raise InputError(f"a table is a file whose name ends with one of {kinds}", field="name")
    return stem + suffix


def once(
    connection: Connection, principal: Principal, key: str | None, asked: Mapping[str, Any]
) -> dict[str, Any] | None:
    """What was answered when the same was asked with this key before; the same key for something else is refused."""
    if key is None:
        return None
    mine = (ANSWERS.c.owner == principal.account.id, ANSWERS.c.key == key)
    row = connection.execute(select(ANSWERS).where(*mine)).first()
    if row is None:
        return None
    if row.fingerprint != _fingerprint(asked):
        raise HTTPException(422, "the idempotency key was used for something else")
    return dict(row.body)


def keep_answer(
    connection: Connection, principal: Principal, key: str | None, asked: Mapping[str, Any], body: Mapping[str, Any]
) -> None:
    if key is not None:
        kept = {"owner": principal.account.id, "key": key, "fingerprint": _fingerprint(asked), "body": dict(body)}
        connection.execute(insert(ANSWERS).values(**kept, created=now().timestamp()))


def _fingerprint(asked: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(asked, sort_keys=True, default=str).encode()).hexdigest()


async def take_in(
    parts: StudioParts, principal: Principal, name: str, blocks: AsyncIterator[bytes], key: str | None = None
) -> dict[str, str]:
    """A file, block by block, never whole in memory; it is a source once it is complete, and looked at by a worker."""
    checked, identifier = file_name(name), new_id()
    folder = parts.home.upload(identifier)
    path, digest, size = folder / "data" / checked, hashlib.sha256(), 0
    left = await run_in_threadpool(room_left, parts, principal)
    await run_in_threadpool(_make_folder, path.parent)
    try:
        with path.open("wb") as file:
            async for block in blocks:
                digest.update(block)
                size += len(block)
                refuse_beyond(left, size)
                await run_in_threadpool(file.write, block)
            await run_in_threadpool(_to_disk, file)
        return await run_in_threadpool(
            _register, parts, principal, identifier, (checked, size, digest.hexdigest()), key
        )
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def room_left(parts: StudioParts, principal: Principal) -> int:
    """As it stands now. Others of theirs may be on their way: what is registered is counted once more."""
    with parts.home.database.reading() as connection:
        return parts.home.settings.stored_bytes - stored_bytes(connection, principal.account.id)


def _make_folder(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True)


def _to_disk(file: BinaryIO) -> None:
    """A source that the database knows is there after a loss of power, too."""
    file.flush()
    os.fsync(file.fileno())


def _register(
    parts: StudioParts, principal: Principal, identifier: str, told: tuple[str, int, str], key: str | None
) -> dict[str, str]:
    name, size, sha256 = told
    if size == 0:
        raise InputError("the file is empty", field="file")
    asked = {"upload": name, "sha256": sha256}
    with parts.home.database.transaction() as connection:
        before = once(connection, principal, key, asked)
        if before is None:
            refuse_beyond(parts.home.settings.stored_bytes - stored_bytes(connection, principal.account.id), size)
            job = parts.queue.add(connection, principal.account.id, JobKind.INSPECT, identifier, {})
            row = {"id": identifier, "owner": principal.account.id, "name": name, "size": size, "sha256": sha256}
            choices = PolicyChoices().model_dump(mode="json")
            connection.execute(
                insert(SOURCES).values(**row, choices=choices, inspection=job, created=now().timestamp())
            )
            body = {"source": identifier, "job": job}
            keep_answer(connection, principal, key, asked, body)
            return body
    parts.home.forget_upload(identifier)
    return before


async def demo_blocks() -> AsyncIterator[bytes]:
    """The made-up hospital that comes with the library."""
    yield await run_in_threadpool(_hospital)


def _hospital() -> bytes:
    from shoal.examples import hospital

    return hospital.table().write_csv().encode()


def choose(parts: StudioParts, principal: Principal, source: str, choices: PolicyChoices) -> None:
    mine = (SOURCES.c.id == source, SOURCES.c.owner == principal.account.id)
    with parts.home.database.transaction() as connection:
        connection.execute(update(SOURCES).where(*mine).values(choices=choices.model_dump(mode="json")))


def ask(  # noqa: PLR0913  # who asks, for what, and how it is known when asked again
    parts: StudioParts,
    principal: Principal,
    kind: JobKind,
    source: str,
    request: Mapping[str, Any],
    *,
    key: str | None = None,
) -> dict[str, str]:
    """A job on a source of theirs, with the choices that stand now."""
    row = parts.own(SOURCES, principal, source)
    asked = {"kind": kind, "source": source, **request}
    with parts.home.database.transaction() as connection:
        before = once(connection, principal, key, asked)
        if before is not None:
            return before
        told = {"choices": row["choices"], **request}
        job = parts.queue.add(connection, principal.account.id, kind, source, told)
        keep_answer(connection, principal, key, asked, {"job": job})
    return {"job": job}


def forget_source(parts: StudioParts, principal: Principal, source: str) -> None:
    """The upload and what was found in it. Policies and releases that were made of it stay."""
    parts.own(SOURCES, principal, source)
    with parts.home.database.transaction() as connection:
        connection.execute(delete(SOURCES).where(SOURCES.c.id == source, SOURCES.c.owner == principal.account.id))
        parts.queue.forget_secrets_about(connection, source)
    parts.home.forget_upload(source)


def release_folder(parts: StudioParts, principal: Principal, release: str) -> Path:
    return parts.home.release(parts.own(RELEASES, principal, release)["id"])


def policy_text(parts: StudioParts, principal: Principal, policy: str) -> str:
    return str(parts.own(POLICIES, principal, policy)["text"])
