"""Texts: what they say of people, what was decided about it, and the texts without it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from shoal.server.access.sessions import Principal
from shoal.server.jobs.text_scrubbing import TextChoices
from shoal.server.store.tables import TEXTS
from shoal.server.text_acts import (
    decide,
    forget_text,
    found_in_text,
    scrubbed_document,
    take_in_document,
    take_in_text,
    text_file,
)
from shoal.server.web.answers import attachment, file_to_keep, tagged
from shoal.server.web.once import IdempotencyKey, OnceRoute
from shoal.server.web.paging import Before, Limit, latest
from shoal.server.web.permits import Permit, parts_of

ROUTER = APIRouter(prefix="/api/v1/texts", tags=["texts"], route_class=OnceRoute)
_TOLD = ("id", "name", "size", "choices", "job", "created")


class TextRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str = Field("a text", max_length=200)
    text: str


@ROUTER.post("", status_code=201)
def add_text(
    request: Request, wanted: TextRequest, who: Annotated[Principal, Depends(Permit("text.add"))]
) -> dict[str, str]:
    """A job looks through it."""
    return take_in_text(parts_of(request), who, wanted.name, wanted.text)


@ROUTER.post(
    "/documents",
    status_code=201,
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
async def add_document(
    request: Request,
    name: Annotated[str, Query(min_length=1, max_length=300)],
    who: Annotated[Principal, Depends(Permit("text.add"))],
    key: IdempotencyKey = None,
) -> dict[str, str]:
    """A document as the body of the request, with its file name; a job reads it, in a process with limits."""
    return await take_in_document(parts_of(request), who, name, request.stream(), key)


@ROUTER.get("")
def list_texts(
    request: Request,
    who: Annotated[Principal, Depends(Permit("text.read"))],
    limit: Limit = 50,
    before: Before = None,
) -> Response:
    return latest(request, parts_of(request).all_own(TEXTS, who, most=limit, before=before), limit, _TOLD)


@ROUTER.get("/{text}")
def get_text(request: Request, text: str, who: Annotated[Principal, Depends(Permit("text.read"))]) -> Response:
    """In pieces: what was found, its kind, whether it goes; and the scrubbed text beside it."""
    parts = parts_of(request)
    row = parts.own(TEXTS, who, text)
    found = found_in_text(parts, who, text)
    if found is None:
        raise HTTPException(409, "the text is not looked through yet: see its job")
    return tagged(request, {**{name: row[name] for name in _TOLD}, **found})


@ROUTER.put("/{text}/choices", status_code=202)
def set_choices(
    request: Request, text: str, choices: TextChoices, who: Annotated[Principal, Depends(Permit("text.decide"))]
) -> dict[str, str]:
    return decide(parts_of(request), who, text, choices)


@ROUTER.get("/{text}/files/{name}")
def get_file(
    request: Request, text: str, name: str, who: Annotated[Principal, Depends(Permit("text.read"))]
) -> Response:
    """`scrubbed.txt`, `stays.txt`, `goes.txt` or `recognisers.yaml`; of a document, `scrubbed` with its ending, too."""
    document = scrubbed_document(parts_of(request), who, text)
    if document is not None and name == document.name:
        return file_to_keep(document)
    content = text_file(parts_of(request), who, text, name)
    return Response(content, media_type="application/octet-stream", headers=attachment(name))


@ROUTER.delete("/{text}", status_code=204)
def delete_text(request: Request, text: str, who: Annotated[Principal, Depends(Permit("text.delete"))]) -> None:
    forget_text(parts_of(request), who, text)
