"""What the API and the pages both do with texts: take one in, keep what was decided, forget it."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import AsyncIterator, Mapping
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import Any, Final

from fastapi import HTTPException
from sqlalchemy import delete, insert, update
from starlette.concurrency import run_in_threadpool

from shoal.errors import InputError
from shoal.io import write_atomic
from shoal.randomness import now
from shoal.server.access.sessions import Principal
from shoal.server.jobs.job_queue import JobKind
from shoal.server.jobs.text_scrubbing import DOCUMENT, FOUND, SCRUBBED, TEXT, TextChoices, phrase_file, recogniser_file
from shoal.server.store.database import new_id
from shoal.server.store.stored import refuse_beyond, stored_bytes
from shoal.server.store.tables import TEXTS
from shoal.server.studio_acts import keep_answer, once, room_left
from shoal.server.web.parts import StudioParts

LONGEST_NAME: Final = 100
FILES: Final = (SCRUBBED, "stays.txt", "goes.txt", "recognisers.yaml")


def take_in_text(parts: StudioParts, who: Principal, name: str, text: str) -> dict[str, str]:
    if not text.strip():
        raise InputError("is empty", field="text")
    called = re.sub(r"[\x00-\x1f\x7f]", " ", name).strip()[:LONGEST_NAME] or "a text"
    identifier = new_id()
    folder = parts.home.text(identifier)
    folder.mkdir(mode=0o700, parents=True)
    try:
        written = text.encode(errors="replace")
        write_atomic(folder / TEXT, written.decode(), private=True)
        return _register(parts, who, identifier, (called, len(written)))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def document_suffix(name: str) -> str:
    """The ending of a document that can be read here."""
    from shoal.documents.registry import endings

    suffix = PurePath(name).suffix.lower()
    if suffix not in endings():
        raise InputError(f"a document ends with one of {' '.join(sorted(endings()))}", field="name")
    return suffix


async def take_in_document(
    parts: StudioParts, who: Principal, name: str, blocks: AsyncIterator[bytes], key: str | None = None
) -> dict[str, str]:
    """A document, block by block; nobody opens it but a worker, in a child process with limits."""
    suffix, identifier, size = await run_in_threadpool(document_suffix, name), new_id(), 0
    digest = hashlib.sha256()
    called = re.sub(r"[^\w .()+-]", "-", PurePath(name.replace("\\", "/")).name).strip()[:LONGEST_NAME] or "a document"
    left, folder = await run_in_threadpool(room_left, parts, who), parts.home.text(identifier)
    await run_in_threadpool(lambda: folder.mkdir(mode=0o700, parents=True))
    try:
        with (folder / f"{DOCUMENT}{suffix}").open("wb") as file:
            async for block in blocks:
                size += len(block)
                digest.update(block)
                refuse_beyond(left, size)
                await run_in_threadpool(file.write, block)
        asked = {"document": called, "sha256": digest.hexdigest()}
        made = await run_in_threadpool(_register, parts, who, identifier, (called, size), key, asked)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    if made["text"] != identifier:
        shutil.rmtree(folder, ignore_errors=True)
    return made


def _register(  # noqa: PLR0913, PLR0917  # what it is, and how it is known when it is sent again
    parts: StudioParts,
    who: Principal,
    identifier: str,
    told: tuple[str, int],
    key: str | None = None,
    asked: Mapping[str, Any] = MappingProxyType({}),
) -> dict[str, str]:
    called, size = told
    if size == 0:
        raise InputError("the file is empty", field="file")
    with parts.home.database.transaction() as connection:
        if (before := once(connection, who, key, asked)) is not None:
            return before
        refuse_beyond(parts.home.settings.stored_bytes - stored_bytes(connection, who.account.id), size)
        job = parts.queue.add(connection, who.account.id, JobKind.SCRUB, identifier, {})
        row = {"id": identifier, "owner": who.account.id, "name": called, "size": size, "job": job}
        choices = TextChoices().model_dump(mode="json")
        connection.execute(insert(TEXTS).values(**row, choices=choices, created=now().timestamp()))
        body = {"text": identifier, "job": job}
        keep_answer(connection, who, key, asked, body)
    return body


def scrubbed_document(parts: StudioParts, who: Principal, text: str) -> Path | None:
    """The document without it; None of a text that was pasted, or before it is done."""
    folder = parts.home.text(parts.own(TEXTS, who, text)["id"])
    return next((path for path in folder.glob("scrubbed.*") if path.name != SCRUBBED), None)


def decide(parts: StudioParts, who: Principal, text: str, choices: TextChoices) -> dict[str, str]:
    """What stays and what goes from now on; the text is scrubbed anew. The phrases are kept with the text alone, since
    a job stays when the text is deleted.
    """
    parts.own(TEXTS, who, text)
    kept = choices.model_dump(mode="json")
    with parts.home.database.transaction() as connection:
        job = parts.queue.add(connection, who.account.id, JobKind.SCRUB, text, {})
        mine = (TEXTS.c.id == text, TEXTS.c.owner == who.account.id)
        connection.execute(update(TEXTS).where(*mine).values(choices=kept, job=job))
    return {"text": text, "job": job}


def found_in_text(parts: StudioParts, who: Principal, text: str) -> Mapping[str, Any] | None:
    """None before it was looked through."""
    path = parts.home.text(parts.own(TEXTS, who, text)["id"]) / FOUND
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def text_file(parts: StudioParts, who: Principal, text: str, name: str) -> str:
    """What can be taken away: the scrubbed text, and what was decided as files that the command line reads."""
    row = parts.own(TEXTS, who, text)
    choices = TextChoices.model_validate(row["choices"])
    made = {
        "stays.txt": lambda: phrase_file(choices.allow, "phrases that stay; shoal scrub takes the list"),
        "goes.txt": lambda: phrase_file(choices.deny, "phrases that go; shoal scrub takes the list"),
        "recognisers.yaml": lambda: recogniser_file(choices),
    }
    if name in made:
        return made[name]()
    path = parts.home.text(text) / SCRUBBED
    if name != SCRUBBED or not path.exists():
        raise HTTPException(404, "there is nothing here")
    return path.read_text(encoding="utf-8")


def forget_text(parts: StudioParts, who: Principal, text: str) -> None:
    """The text, what was found in it, and the text without it."""
    parts.own(TEXTS, who, text)
    with parts.home.database.transaction() as connection:
        connection.execute(delete(TEXTS).where(TEXTS.c.id == text, TEXTS.c.owner == who.account.id))
    shutil.rmtree(parts.home.text(text), ignore_errors=True)
