"""Middleware for ASGI and WSGI: JSON that leaves an application is what the reader's role may see.

A reader without a role, a role without masks, a response that isn't JSON (but for kinds let through by name), a field
that the policy doesn't know: the body is withheld and the reader is told so, with no word of what it held.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any, Final

from shoal.errors import ShoalError
from shoal.live.applications.field_masks import FieldMasks

_FORBIDDEN, _FAILED = 403, 500
_WITHHELD: Final = {
    _FORBIDDEN: b'{"detail": "nothing of this may be seen"}',
    _FAILED: b'{"detail": "the response could not be masked, so it is withheld"}',
}
_MOST_BYTES: Final = 64 << 20
_REASONS: Final = {_FORBIDDEN: "403 Forbidden", _FAILED: "500 Internal Server Error"}

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
AsgiApp = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]


@dataclass(frozen=True)
class ResponseMasks:
    """By role what is seen; ``let_through`` are kinds of content without data, such as ``text/css``."""

    roles: Mapping[str, FieldMasks]
    let_through: frozenset[str] = frozenset()
    most_bytes: int = _MOST_BYTES

    def answered(self, role: str | None, kind: str, encoding: str, body: bytes) -> tuple[int | None, bytes]:
        """The body as it may be seen, or a status and what is said instead."""
        content = kind.partition(";")[0].strip().lower()
        if not body or content in self.let_through:
            return None, body
        masks = self.roles.get(role) if role is not None else None
        if masks is None:
            return _FORBIDDEN, _WITHHELD[_FORBIDDEN]
        if encoding or not (content == "application/json" or content.endswith("+json")):
            return _FAILED, _WITHHELD[_FAILED]
        try:
            return None, json.dumps(masks.json(json.loads(body)), default=str).encode()
        except (ValueError, RecursionError, ShoalError):
            return _FAILED, _WITHHELD[_FAILED]


@dataclass
class MaskedResponses:
    """ASGI middleware; ``role_of`` tells a reader's role by the scope of a request, after authentication."""

    app: AsgiApp
    masks: ResponseMasks
    role_of: Callable[[Mapping[str, Any]], str | None]

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # what comes over a socket has no end at which it could be read
            return
        held = _HeldResponse(self.masks, self.role_of(scope), send)
        await self.app(scope, receive, held)
        await held.finish()


@dataclass
class _HeldResponse:
    masks: ResponseMasks
    role: str | None
    send: Send
    start: Message = field(default_factory=dict)
    parts: list[bytes] = field(default_factory=list)
    size: int = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.start = dict(message)
        elif message["type"] == "http.response.body":
            self.size += len(message.get("body", b""))
            if self.size <= self.masks.most_bytes:
                self.parts.append(message.get("body", b""))

    async def finish(self) -> None:
        headers = {bytes(name).lower(): bytes(value) for name, value in self.start.get("headers", ())}
        kind = headers.get(b"content-type", b"").decode("latin-1")
        encoding = headers.get(b"content-encoding", b"").decode("latin-1")
        status: int | None = _FAILED
        body = _WITHHELD[_FAILED]
        if self.start and self.size <= self.masks.most_bytes:
            status, body = self.masks.answered(self.role, kind, encoding, b"".join(self.parts))
        kept = {b"content-type": b"application/json"} if status else headers
        sent = [(name, value) for name, value in kept.items() if name not in (b"content-length", b"etag")]
        sent.append((b"content-length", str(len(body)).encode()))
        await self.send(
            {**self.start, "type": "http.response.start", "status": status or self.start["status"], "headers": sent}
        )
        await self.send({"type": "http.response.body", "body": body})


@dataclass
class MaskedWsgiResponses:
    """The same for WSGI; ``role_of`` is given the environ."""

    app: Callable[..., Iterable[bytes]]
    masks: ResponseMasks
    role_of: Callable[[Mapping[str, Any]], str | None]

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        told: list[Any] = []

        def held(status: str, headers: list[tuple[str, str]], _error: Any = None) -> Callable[[bytes], object]:
            told[:] = [status, headers]
            return parts.append

        parts: list[bytes] = []
        answer = self.app(environ, held)
        try:
            parts += answer
        finally:
            close = getattr(answer, "close", None)
            if close is not None:
                close()
        status, headers = told
        known = {name.lower(): value for name, value in headers}
        kind, encoding = known.get("content-type", ""), known.get("content-encoding", "")
        refused, body = self.masks.answered(self.role_of(environ), kind, encoding, b"".join(parts))
        kept = [("Content-Type", "application/json")] if refused else headers
        sent = [(name, value) for name, value in kept if name.lower() not in ("content-length", "etag")]
        start_response(_REASONS[refused] if refused else status, [*sent, ("Content-Length", str(len(body)))])
        return [body]
