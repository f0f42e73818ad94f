"""A POST that comes again with its key is answered as it was, and done once.

Jobs and uploads keep their answer with the transaction that begins them. Here is what holds for every other POST of the
API: the key is put down before anything is done, and the answer after it. A server that dies in between leaves a key
whose end nobody knows; who asks again is told so, and looks before they ask with another key.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from inspect import isclass
from typing import Annotated, Any, Final

from fastapi import Depends, Header, HTTPException, Request
from fastapi.responses import JSONResponse, Response
from fastapi.routing import APIRoute
from sqlalchemy import ColumnElement, and_, delete, insert, select, update
from starlette.concurrency import run_in_threadpool

from shoal.crypto.mac import mac
from shoal.errors import BugError
from shoal.randomness import now
from shoal.server.home import StudioHome
from shoal.server.store.tables import ANSWERS
from shoal.server.web.permits import OpenDoor, parts_of, permit_of

HEADER: Final = "Idempotency-Key"
LONGEST: Final = 100
KEPT_DAYS: Final = 7
UNKNOWN: Final = "this was begun, and its end is not known: look whether it was done before you ask with another key"
UNTOLD: Final = "this was done, and what it was answered is shown to nobody twice"
IdempotencyKey = Annotated[str | None, Header(alias=HEADER, max_length=LONGEST)]
Handler = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True)
class KeptAnswers:
    home: StudioHome

    def fingerprint(self, *parts: bytes) -> str:
        """Keyed: what was asked may hold a password, and nobody is to try which."""
        return mac(self.home.key.derive("what was asked"), parts).hex()

    def begin(self, owner: str, key: str, fingerprint: str) -> dict[str, Any] | None:
        """What was answered before; None of what is asked for the first time, which is put down."""
        moment = now().timestamp()
        with self.home.database.transaction() as connection:
            connection.execute(delete(ANSWERS).where(ANSWERS.c.created < moment - 86_400 * KEPT_DAYS))
            row = connection.execute(select(ANSWERS).where(_mine(owner, key))).first()
            if row is None:
                told = {"owner": owner, "key": key, "fingerprint": fingerprint, "body": {}}
                connection.execute(insert(ANSWERS).values(**told, created=moment))
                return None
        if row.fingerprint != fingerprint:
            raise HTTPException(422, "the idempotency key was used for something else")
        if not row.body:
            raise HTTPException(409, UNKNOWN)
        return dict(row.body)

    def end(self, owner: str, key: str, answer: dict[str, Any]) -> None:
        with self.home.database.transaction() as connection:
            connection.execute(update(ANSWERS).where(_mine(owner, key)).values(body=answer))

    def drop(self, owner: str, key: str) -> None:
        """Of what was refused: nothing was done, so it may be asked again."""
        with self.home.database.transaction() as connection:
            connection.execute(delete(ANSWERS).where(_mine(owner, key)))


def _mine(owner: str, key: str) -> ColumnElement[bool]:
    return and_(ANSWERS.c.owner == owner, ANSWERS.c.key == key)


def _described(key: IdempotencyKey = None) -> None:
    """Puts the header into the description of the API."""


class OnceRoute(APIRoute):
    """A route of the API. A POST that names the header itself keeps its answer by itself."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **told: Any) -> None:
        if "POST" in (told.get("methods") or ()) and "key" not in endpoint.__annotations__:
            told["dependencies"] = [*(told.get("dependencies") or ()), Depends(_described)]
        super().__init__(path, endpoint, **told)

    @property
    def heeds_key(self) -> bool:
        return any(below.call is _described for below in self.dependant.dependencies)

    def get_route_handler(self) -> Any:
        handle = super().get_route_handler()
        if not self.heeds_key:
            return handle

        async def once(request: Request) -> Response:
            key = request.headers.get(HEADER)
            return await (handle(request) if key is None else self._once(request, key, handle))

        return once

    async def _once(self, request: Request, key: str, handle: Handler) -> Response:
        permit = permit_of(self)
        if isinstance(permit, OpenDoor):
            raise BugError(f"{self.path}: whose key this is can't be known")
        if not 0 < len(key) <= LONGEST:
            raise HTTPException(422, f"an idempotency key has 1 to {LONGEST} characters")
        owner = (await permit(request)).account.id
        kept = KeptAnswers(parts_of(request).home)
        address = f"{request.url.path}?{request.url.query}".encode()
        asked = kept.fingerprint(address, await request.body())
        before = await run_in_threadpool(kept.begin, owner, key, asked)
        if before is not None:
            return _again(before)
        try:
            response = await handle(request)
        except Exception as error:
            if _is_refusal(request, error):
                await run_in_threadpool(kept.drop, owner, key)
            raise
        await run_in_threadpool(kept.end, owner, key, _to_keep(response))
        return response


def _is_refusal(request: Request, error: Exception) -> bool:
    """What is answered plainly has done nothing; of our own mistakes nobody knows."""
    answered = tuple(kind for kind in request.app.exception_handlers if isclass(kind))
    return isinstance(error, answered) and not isinstance(error, BugError)


def _to_keep(response: Response) -> dict[str, Any]:
    if response.headers.get("cache-control") == "no-store":
        return {"status": 409}
    return {"status": response.status_code, "answer": json.loads(bytes(response.body) or b"null")}


def _again(before: dict[str, Any]) -> Response:
    if "answer" not in before:
        raise HTTPException(409, UNTOLD)
    if before["answer"] is None:
        return Response(status_code=before["status"])
    return JSONResponse(before["answer"], before["status"])
