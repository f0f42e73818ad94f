"""Answers in JSON with an ETag, files to keep, and errors in the form of RFC 9457."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fastapi import Request
from fastapi.responses import FileResponse, JSONResponse, Response

from shoal.errors import AccessError, ShoalError

_REVALIDATE = "private, no-cache"


def tagged(request: Request, content: Any) -> Response:
    """304 where the caller has it already."""
    body = json.dumps(content, sort_keys=True, default=str).encode()
    tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": _REVALIDATE, "Vary": "Cookie, Authorization"}
    known = {one.strip() for one in request.headers.get("if-none-match", "").split(",")}
    if tag in known:
        return Response(status_code=304, headers=headers)
    return Response(body, headers=headers, media_type="application/json")


def attachment(name: str) -> dict[str, str]:
    """To be kept, not shown; the name is written so that it can't end the header (RFC 6266)."""
    return {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}"}


def file_to_keep(path: Path) -> FileResponse:
    return FileResponse(path, media_type="application/octet-stream", headers=attachment(path.name))


def problem(status: int, detail: str, code: str | None = None) -> JSONResponse:
    body = {"status": status, "title": detail} | ({} if code is None else {"code": code})
    return JSONResponse(body, status, media_type="application/problem+json")


def status_of(error: ShoalError) -> int:
    """
    >>> from shoal.errors import BugError, InputError
    >>> status_of(InputError("x")), status_of(AccessError("x")), status_of(BugError("x"))
    (422, 403, 500)
    """
    if isinstance(error, AccessError):
        return 403
    return 422 if error.exit_code in (1, 2) else 500
