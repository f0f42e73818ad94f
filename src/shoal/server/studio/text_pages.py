"""Texts: paste one, see what it says of people, decide what goes, take the rest away."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Form, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import ValidationError

from shoal.errors import InputError, ShoalError
from shoal.scrub.phrase_list import PhraseLists
from shoal.server.access.sessions import Principal
from shoal.server.jobs.job_queue import OPEN_STATES
from shoal.server.jobs.text_scrubbing import TextChoices
from shoal.server.store.tables import JOBS, TEXTS
from shoal.server.studio.page_rendering import page
from shoal.server.text_acts import FILES, decide, forget_text, found_in_text, scrubbed_document, take_in_text
from shoal.server.web.paging import SHOWN, Before, following
from shoal.server.web.parts import StudioParts
from shoal.server.web.permits import Permit, parts_of

ROUTER = APIRouter(prefix="/texts", include_in_schema=False)
_GROUPS: Final = {
    "people": ("person", "name", "title", "username", "job_title", "occupation", "group", "nationality", "religion"),
    "contact": ("email", "phone", "url", "domain", "address", "ip"),
    "places": ("place", "location", "organisation"),
    "times": ("date", "time", "datetime", "age", "birth_date", "date_of_birth"),
    "marked": ("listed",),
}
_GROUP_OF: Final = {kind: group for group, kinds in _GROUPS.items() for kind in kinds}


@ROUTER.get("")
def texts(request: Request, who: Annotated[Principal, Depends(Permit("text.read"))], before: Before = None) -> Response:
    return _texts(request, who, before=before)


def _texts(
    request: Request, who: Principal, *, problem: str | None = None, entered: str = "", before: float | None = None
) -> Response:
    from shoal.documents.registry import endings

    found = parts_of(request).all_own(TEXTS, who, most=SHOWN, before=before)
    told = {"texts": found, "more": following(found), "endings": ",".join(sorted(endings()))}
    return page(request, "texts.html", status=200 if problem is None else 422, problem=problem, entered=entered, **told)


@ROUTER.post("")
def add_text(
    request: Request,
    who: Annotated[Principal, Depends(Permit("text.add"))],
    text: Annotated[str, Form()] = "",
    name: Annotated[str, Form(max_length=200)] = "",
) -> Response:
    parts = parts_of(request)
    try:
        made = take_in_text(parts, who, name, text)
    except ShoalError as error:
        return _texts(request, who, problem=str(error), entered=text)
    return RedirectResponse(f"/texts/{made['text']}", 303)


@ROUTER.get("/{text}")
def show_text(request: Request, text: str, who: Annotated[Principal, Depends(Permit("text.read"))]) -> Response:
    return _shown(request, text, who)


def _shown(request: Request, text: str, who: Principal, *, problem: str | None = None, status: int = 200) -> Response:
    parts = parts_of(request)
    row = parts.own(TEXTS, who, text)
    job = parts.own(JOBS, who, row["job"])
    found = None if job["state"] in OPEN_STATES else found_in_text(parts, who, text)
    shown = {
        "row": row,
        "job": job,
        "found": found,
        "problem": problem,
        "files": _files(parts, who, text),
        "group": _group,
    }
    choices = TextChoices.model_validate(row["choices"])
    return page(request, "text.html", status=status, **shown, choices=choices, phrases=_phrases(found))


def _files(parts: StudioParts, who: Principal, text: str) -> tuple[str, ...]:
    document = scrubbed_document(parts, who, text)
    return FILES if document is None else (document.name, *FILES)


def _group(kind: str) -> str:
    return _GROUP_OF.get(kind, "numbers")


def _phrases(found: Any) -> list[dict[str, Any]]:
    """Each phrase that was found, once, in the order of the text."""
    told: dict[str, dict[str, Any]] = {}
    for piece in (found or {}).get("pieces", ()):
        if "kind" in piece:
            phrase = " ".join(piece["text"].split())
            known = told.setdefault(phrase.casefold(), {"phrase": phrase, **piece, "times": 0})
            known["times"] += 1
            known["goes"] = known["goes"] or piece["goes"]
    return list(told.values())


@ROUTER.post("/{text}/choices")
def set_choices(  # noqa: PLR0913, PLR0917  # one argument for each part of the request
    request: Request,
    text: str,
    who: Annotated[Principal, Depends(Permit("text.decide"))],
    replace: Annotated[str, Form(pattern="^(label|mask|pseudonym)$")] = "label",
    stays: Annotated[list[str] | None, Form()] = None,
    goes: Annotated[str, Form()] = "",
) -> Response:
    parts_of(request).own(TEXTS, who, text)
    try:
        told = {"replace": replace, "allow": stays or [], "deny": goes.splitlines()}
        choices = TextChoices.model_validate(told)
        PhraseLists.of(choices.allow, choices.deny)
        decide(parts_of(request), who, text, choices)
    except ValidationError:
        wrong = "a phrase is too long, or has a # before it"
        return _shown(request, text, who, problem=wrong, status=422)
    except InputError as error:
        return _shown(request, text, who, problem=str(error), status=422)
    return RedirectResponse(f"/texts/{text}", 303)


@ROUTER.post("/{text}/delete")
def delete_text(request: Request, text: str, who: Annotated[Principal, Depends(Permit("text.delete"))]) -> Response:
    forget_text(parts_of(request), who, text)
    return RedirectResponse("/texts", 303)
