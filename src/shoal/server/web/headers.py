"""What every answer carries and every request keeps to, whichever route. Plain ASGI, so streams stay streams."""

from __future__ import annotations

import logging
import time
import traceback
from collections.abc import Callable
from pathlib import PurePath
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from shoal.server.settings import ServerSettings
from shoal.server.store.database import new_id

_LOG: Final = logging.getLogger("shoal.server")
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
REPORT_POLICY: Final = (
    "sandbox allow-popups; default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
"""For report pages, which are one file with their style inside; no script of theirs would run."""
_HEADERS: Final = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}
STREAMED: Final = {"/api/v1/sources": "upload_bytes", "/api/v1/texts/documents": "document_bytes"}
"""Routes whose body is a file, with the setting that limits it."""


METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
"""That are told apart; a word that a stranger made up is no label."""
Mishap = Callable[[Request, Exception], Response]


class BodyTooLargeError(Exception):
    """More than this request may bring."""


class RequestFigures:
    def __init__(self, registry: CollectorRegistry) -> None:
        labels = ("method", "route", "status")
        self.count = Counter("shoal_http_requests", "Requests answered", labels, registry=registry)
        self.seconds = Histogram("shoal_http_seconds", "Until the answer's end", ("route",), registry=registry)


class _GuardedAnswer:
    """What is sent, with the headers that every answer carries."""

    def __init__(self, send: Send, path: str, *, secure: bool) -> None:
        self._send, self._path, self._secure = send, path, secure
        self.request, self.status, self.begun = new_id(), 500, False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status, self.begun = message["status"], True
            headers = MutableHeaders(scope=message)
            if self._path.startswith("/static/"):
                headers.setdefault("cache-control", "no-cache")
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
            headers["x-request-id"] = self.request
            if self._secure:
                headers["strict-transport-security"] = "max-age=31536000"
        await self._send(message)


class EveryRequest:
    """Headers, the limit of bodies, one line in the log: the route's pattern and figures, never a path or a value."""

    def __init__(self, app: ASGIApp, settings: ServerSettings, figures: RequestFigures, mishap: Mishap) -> None:
        self._app, self._settings, self._figures, self._mishap = app, settings, figures, mishap

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, answer = time.perf_counter(), _GuardedAnswer(send, scope["path"], secure=self._settings.secure)
        try:
            if not self._known_host(scope):
                await PlainTextResponse("unknown host", 400)(scope, receive, answer)
            elif self._declares_too_much(scope):
                await PlainTextResponse("too large", 413)(scope, receive, answer)
            else:
                await self._app(scope, self._limited(scope, receive), answer)
        except Exception as error:  # noqa: BLE001  # passed on, the server would print its text, which may hold a value
            await self._fail(error, scope, receive, answer)
        finally:
            self._tell(scope, answer.request, answer.status, time.perf_counter() - started)

    async def _fail(self, error: Exception, scope: Scope, receive: Receive, answer: _GuardedAnswer) -> None:
        """An answer that has begun can only be broken off."""
        response: Response = PlainTextResponse("too large", 413)
        if not isinstance(error, BodyTooLargeError):
            _LOG.error("our mistake", extra={"request": answer.request, **_where(error)})
            response = self._mishap(Request(scope), error)
        if not answer.begun:
            await response(scope, receive, answer)

    def _known_host(self, scope: Scope) -> bool:
        """A page elsewhere whose name was pointed at this address can't speak for it (DNS rebinding)."""
        host = Headers(scope=scope).get("host", "")
        name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
        return "*" in self._settings.host_names or name.lower() in self._settings.host_names

    def _most(self, scope: Scope) -> int:
        return int(getattr(self._settings, STREAMED.get(scope["path"], "body_bytes")))

    def _declares_too_much(self, scope: Scope) -> bool:
        declared = Headers(scope=scope).get("content-length", "0")
        return not (declared.isascii() and declared.isdigit()) or int(declared) > self._most(scope)

    def _limited(self, scope: Scope, receive: Receive) -> Receive:
        left = self._most(scope)

        async def some() -> Message:
            nonlocal left
            message = await receive()
            left -= len(message.get("body", b""))
            if left < 0:
                raise BodyTooLargeError
            return message

        return some

    def _tell(self, scope: Scope, request: str, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "none")
        method = scope["method"] if scope["method"] in METHODS else "other"
        self._figures.count.labels(method, route, status).inc()
        self._figures.seconds.labels(route).observe(seconds)
        told = {"request": request, "method": method, "route": route, "status": status}
        account = scope.get("state", {}).get("account")
        _LOG.info("request", extra={**told, "ms": round(1000 * seconds, 1), "account": account})


def _where(error: Exception) -> dict[str, str]:
    """The kind of an error and the lines that led to it, without its text."""
    frames = traceback.extract_tb(error.__traceback__)[-3:]
    lines = [f"{PurePath(one.filename).name}:{one.lineno}" for one in frames]
    return {"error": type(error).__name__, "lines": ", ".join(lines)}
