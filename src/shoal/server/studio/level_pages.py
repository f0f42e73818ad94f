"""Levels: how a column is made coarser, chosen with a look at what becomes of values."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import RedirectResponse, Response

from shoal.errors import ShoalError
from shoal.hierarchy.classifications.classification import classification_names
from shoal.server.access.sessions import Principal
from shoal.server.jobs.drafting import PolicyChoices
from shoal.server.jobs.job_queue import JobKind, JobState
from shoal.server.jobs.level_choices import kinds_offered, setting_of_form, text_of_tree, tried
from shoal.server.store.tables import JOBS, SOURCES
from shoal.server.studio.page_rendering import page
from shoal.server.studio_acts import ask, choose
from shoal.server.web.permits import Permit, parts_of

ROUTER = APIRouter(include_in_schema=False)
Reader = Annotated[Principal, Depends(Permit("source.read"))]
Chooser = Annotated[Principal, Depends(Permit("source.choose"))]
SHOWN = 12


async def sent_levels(request: Request) -> dict[str, str]:
    form = await request.form()
    told = {name: value for name, value in form.items() if isinstance(value, str)}
    return told | {"dates.levels": ",".join(one for one in form.getlist("dates.levels") if isinstance(one, str))}


Sent = Annotated[dict[str, str], Depends(sent_levels)]


@ROUTER.get("/sources/{source}/levels/{number}")
def show_levels(request: Request, source: str, number: int, who: Reader, job: str = "") -> Response:
    values = _column(request, source, number, who)
    checked = parts_of(request).own(JOBS, who, job) if job else None
    if checked is not None and (checked["kind"] != JobKind.LEVELS or checked["source"] != source):
        raise HTTPException(404, "there is nothing here")
    kept = values["choices"].hierarchies.get(values["column"]["name"])
    running = checked is not None and checked["state"] in (JobState.QUEUED, JobState.RUNNING)
    fields = _fields(kept, _known_values(request, values, who))
    return page(request, "levels.html", **values, **fields, checked=checked, running=running, problem=None,
                preview=_preview(request, values, kept, who))  # fmt: skip


def _fields(kept: Any, known: list[str]) -> dict[str, Any]:
    """What the form shows first: what was kept, else nothing; a tree begins with the values that are known."""
    kind = "proposed" if kept is None else kept if isinstance(kept, str) else next(iter(kept))
    given = kept[kind] if isinstance(kept, dict) else {}
    tree = text_of_tree(given["tree"] if kind == "taxonomy" else known)
    told = {"kind": kind, "given": given, "tree": tree, "values": known}
    return {**told, "kinds": kinds_offered(), "classifications": classification_names()}


def _known_values(request: Request, values: dict[str, Any], who: Principal) -> list[str]:
    """Of a column with few, for those who may see them."""
    if not who.may("source.preview"):
        return []
    spread = parts_of(request).found_in(values["source"]["id"], "spread") or {"columns": {}}
    return list(spread["columns"].get(values["column"]["name"], {}).get("values", ()))


def _column(request: Request, source: str, number: int, who: Principal) -> dict[str, Any]:
    parts = parts_of(request)
    row, profile = parts.own(SOURCES, who, source), parts.found_in(source, "profile")
    if profile is None or not 0 <= number < len(profile["columns"]):
        raise HTTPException(404, "there is nothing here")
    choices = PolicyChoices.model_validate(row["choices"])
    return {"source": row, "number": number, "column": profile["columns"][number], "choices": choices}


def _preview(request: Request, values: dict[str, Any], setting: Any, who: Principal) -> dict[str, Any] | None:
    """For those who may see the first records; others see what each level does, in words, once it was checked."""
    if setting is None or not who.may("source.preview"):
        return None
    found, name = parts_of(request).found_in(values["source"]["id"], "preview"), values["column"]["name"]
    if found is None or name not in found["columns"]:
        return None
    place = found["columns"].index(name)
    seen = sorted({row[place] for row in found["rows"] if row[place] is not None})[:SHOWN]
    try:
        return {"levels": tried(setting, name, seen), "problem": None}
    except ShoalError as error:
        return {"levels": None, "problem": str(error)}


@ROUTER.post("/sources/{source}/levels/{number}/preview")
def preview_levels(request: Request, source: str, number: int, who: Chooser, sent: Sent) -> Response:
    values = _column(request, source, number, who)
    try:
        preview = _preview(request, values, setting_of_form(sent.get("kind", ""), sent), who)
    except ShoalError as error:
        preview = {"levels": None, "problem": str(error)}
    return page(request, "levels_preview.html", preview=preview)


@ROUTER.post("/sources/{source}/levels/{number}")
def keep_levels(request: Request, source: str, number: int, who: Chooser, sent: Sent) -> Response:
    """Kept, and checked against the whole column by a worker."""
    parts, values = parts_of(request), _column(request, source, number, who)
    name, chosen = values["column"]["name"], values["choices"]
    others = {column: kept for column, kept in chosen.hierarchies.items() if column != name}
    try:
        setting = setting_of_form(sent.get("kind", ""), sent)
        kept = others | ({} if setting is None else {name: setting})
        changed = PolicyChoices.model_validate({**chosen.model_dump(), "hierarchies": kept})
        choose(parts, who, source, changed)
        if setting is None:
            return RedirectResponse(f"/sources/{source}/know", 303)
        made = ask(parts, who, JobKind.LEVELS, source, {"column": name, "setting": setting, "number": number})
    except ShoalError as error:
        shown = {"checked": None, "running": False, "problem": str(error), "preview": None}
        fields = _fields(chosen.hierarchies.get(name), _known_values(request, values, who))
        if sent.get("kind") == "taxonomy":
            fields |= {"kind": "taxonomy", "given": {}, "tree": sent.get("taxonomy.tree", "")}
        return page(request, "levels.html", status=422, **values, **fields, **shown)
    return RedirectResponse(f"/sources/{source}/levels/{number}?job={made['job']}", 303)
