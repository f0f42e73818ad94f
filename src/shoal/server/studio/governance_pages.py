"""Govern: projects and their steps, what is due, records and what may be done with them, checklists, the chain."""

from __future__ import annotations

import re
from functools import partial
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Form, Query, Request
from fastapi.responses import RedirectResponse, Response

from shoal.errors import ShoalError
from shoal.govern.record_kinds import record_kind
from shoal.govern.training import training_topic, training_topics
from shoal.server.access.sessions import Principal
from shoal.server.governance.act_forms import from_form
from shoal.server.governance.overview import (
    checklists,
    incident_clock,
    overview,
    project_facts,
    project_steps,
    release_facts,
)
from shoal.server.governance.registry_acts import ask_composition, enter_release, verified
from shoal.server.governance.registry_desk import NoRecordError, NoRegistryError, RegistryVisit, told_state
from shoal.server.studio.charts import release_graph
from shoal.server.studio.page_rendering import page
from shoal.server.web.answers import status_of
from shoal.server.web.permits import Permit, parts_of

ROUTER = APIRouter(prefix="/govern", include_in_schema=False)
Reader = Annotated[Principal, Depends(Permit("govern.read"))]
Actor = Annotated[Principal, Depends(Permit("govern.act"))]
Identifier = Annotated[str, Form(max_length=64)]
ENTRIES: Final = 60
_LISTED: Final = ("title", "status", "project", "owner", "seeker", "until", "severity", "roles", "on")


async def sent_fields(request: Request) -> dict[str, list[str]]:
    """All fields of a form, whichever act it is for."""
    form = await request.form()
    return {name: [one for one in form.getlist(name) if isinstance(one, str)] for name in form}


Sent = Annotated[dict[str, list[str]], Depends(sent_fields)]


@ROUTER.get("")
def govern(request: Request, who: Reader) -> Response:
    try:
        with parts_of(request).desk.visit(who.account.name) as visit:
            about = {kind: record_kind(kind).about for kind in visit.kinds}
            told = {**overview(visit), "about": about, "may_open": visit.may("project", "open")}
            return page(request, "govern/overview.html", **told)
    except NoRegistryError:
        return page(request, "govern/none.html", problem=None)


@ROUTER.post("/begin")
def begin(request: Request, who: Annotated[Principal, Depends(Permit("govern.begin"))]) -> Response:
    parts_of(request).desk.begin(who.account.name)
    return RedirectResponse("/govern", 303)


@ROUTER.get("/projects/{identifier}")
def show_project(request: Request, identifier: str, who: Reader) -> Response:
    with parts_of(request).desk.visit(who.account.name) as visit:
        return _project(request, visit, identifier)


def _project(request: Request, visit: RegistryVisit, identifier: str, **more: Any) -> Response:
    state = visit.project(identifier)
    forms = {form.act: form for form in visit.forms("project", state)}
    shown = {"problem": None, "problem_act": "", "entered": {}, "status": 200} | more
    return page(
        request,
        "govern/project.html",
        project=project_facts(identifier, state),
        steps=project_steps(state),
        notes=state.notes,
        forms=forms,
        releases=[release_facts(name, one) for name, one in visit.states("release", identifier).items()],
        requests=visit.states("request", identifier),
        history=visit.history("project", identifier),
        **shown,
    )


@ROUTER.get("/projects/{identifier}/checklists")
def show_checklists(request: Request, identifier: str, who: Reader) -> Response:
    with parts_of(request).desk.visit(who.account.name) as visit:
        filled = checklists(visit, identifier)
        return page(request, "govern/checklists.html", project=identifier, lists=filled, named=partial(_named, visit))


def _named(visit: RegistryVisit, closes: str) -> list[str]:
    """Kinds of record that commands are about: who reads the page does the same on theirs."""
    found = dict.fromkeys(re.findall(r"shoal register ([a-z-]+)", closes))
    return [kind for kind in found if kind in visit.kinds]


@ROUTER.get("/records/{kind}")
def list_records(
    request: Request, kind: str, who: Reader, project: Annotated[str, Query(max_length=64)] = ""
) -> Response:
    with parts_of(request).desk.visit(who.account.name) as visit:
        found = visit.states(kind, project)
        if kind == "release":
            rows = [release_facts(name, state) for name, state in found.items()]
            return page(request, "govern/releases.html", releases=rows, project=project, graph=release_graph(rows))
        rows = [{"id": name, **told_state(state)} for name, state in found.items()]
        columns = [name for name in _LISTED if any(row.get(name) for row in rows)]
        new = [form.act for form in visit.forms(kind, None)]
        about = record_kind(kind).about
        return page(request, "govern/records.html", kind=kind, about=about, rows=rows, columns=columns, new=new)


@ROUTER.get("/records/{kind}/{identifier}")
def show_record(request: Request, kind: str, identifier: str, who: Reader) -> Response:
    with parts_of(request).desk.visit(who.account.name) as visit:
        return _record(request, visit, kind, identifier)


def _record(request: Request, visit: RegistryVisit, kind: str, identifier: str, **more: Any) -> Response:
    state = visit.state(kind, identifier)
    shown = {"problem": None, "problem_act": "", "entered": {}, "status": 200} | more
    return page(
        request,
        "govern/record.html",
        kind=kind,
        identifier=identifier,
        record=told_state(state),
        forms=visit.forms(kind, state),
        history=visit.history(kind, identifier),
        clock=incident_clock(state),
        composes=kind == "release" and state.status == "entered" and visit.may("release", "compose"),
        **shown,
    )


@ROUTER.post("/records/{kind}/{identifier}/{act}")
def act_on_record(  # noqa: PLR0913, PLR0917  # one argument for each part of the request
    request: Request, kind: str, identifier: str, act: str, who: Actor, sent: Sent
) -> Response:
    with parts_of(request).desk.visit(who.account.name) as visit:
        visit.state(kind, identifier)
        told = from_form(visit.form(kind, act), sent)
        try:
            visit.perform(kind, act, identifier, told)
        except ShoalError as error:
            wrong: dict[str, Any] = {"problem": str(error), "problem_act": act, "entered": told}
            wrong["status"] = status_of(error)
            if kind == "project":
                return _project(request, visit, identifier, **wrong)
            return _record(request, visit, kind, identifier, **wrong)
    return RedirectResponse(_address(kind, identifier), 303)


def _address(kind: str, identifier: str) -> str:
    return f"/govern/projects/{identifier}" if kind == "project" else f"/govern/records/{kind}/{identifier}"


@ROUTER.get("/new/{kind}")
def new_record(request: Request, kind: str, who: Reader) -> Response:
    with parts_of(request).desk.visit(who.account.name) as visit:
        return _new(request, visit, kind)


def _new(request: Request, visit: RegistryVisit, kind: str, **more: Any) -> Response:
    forms = visit.forms(kind, None)
    if not forms:
        raise NoRecordError
    shown = {"problem": None, "entered": {}, "identifier": "", "status": 200} | more
    return page(request, "govern/new.html", kind=kind, about=record_kind(kind).about, forms=forms, **shown)


@ROUTER.post("/new/{kind}/{act}")
def begin_record(  # noqa: PLR0913, PLR0917  # one argument for each part of the request
    request: Request, kind: str, act: str, identifier: Identifier, who: Actor, sent: Sent
) -> Response:
    with parts_of(request).desk.visit(who.account.name) as visit:
        told = from_form(visit.form(kind, act), sent)
        try:
            visit.perform(kind, act, identifier.strip(), told)
        except ShoalError as error:
            wrong = {"problem": str(error), "entered": told, "identifier": identifier, "status": status_of(error)}
            return _new(request, visit, kind, **wrong)
    return RedirectResponse(_address(kind, identifier.strip()), 303)


@ROUTER.post("/enter")
def enter(request: Request, release: Identifier, project: Identifier, entry: Identifier, who: Actor) -> Response:
    """A release of the studio becomes a record of a project."""
    made = enter_release(parts_of(request), who, release, project.strip(), entry.strip())
    return RedirectResponse(_address("release", made["id"]), 303)


@ROUTER.post("/compositions")
def check_composition(request: Request, entry: Identifier, who: Actor) -> Response:
    return RedirectResponse(f"/jobs/{ask_composition(parts_of(request), who, entry)['job']}", 303)


@ROUTER.get("/chain")
def chain(request: Request, who: Reader) -> Response:
    with parts_of(request).desk.visit(who.account.name) as visit:
        return _chain(request, visit, result=None)


@ROUTER.post("/chain")
def verify(request: Request, who: Reader) -> Response:
    with parts_of(request).desk.visit(who.account.name) as visit:
        return _chain(request, visit, result=verified(visit))


def _chain(request: Request, visit: RegistryVisit, *, result: dict[str, Any] | None) -> Response:
    entries = [one for one in visit.registry.latest(ENTRIES) if visit.may_read(one.kind)]
    return page(request, "govern/chain.html", entries=entries, result=result)


@ROUTER.get("/training")
def training(request: Request, who: Reader) -> Response:
    with parts_of(request).desk.visit(who.account.name) as visit:
        person = visit.state("person", visit.name)
        results = getattr(person, "last_results", {})
        until = getattr(person, "trained_until", None)
        return page(request, "govern/training.html", topics=training_topics(), results=results, until=until)


@ROUTER.get("/training/{topic}")
def read_topic(request: Request, topic: str, who: Reader) -> Response:
    return _topic(request, topic)


def _topic(request: Request, topic: str, *, problem: str | None = None, status: int = 200) -> Response:
    if topic not in training_topics():
        raise NoRecordError
    return page(request, "govern/topic.html", status=status, name=topic, topic=training_topic(topic), problem=problem)


@ROUTER.post("/training/{topic}")
def sit(request: Request, topic: str, who: Actor, sent: Sent) -> Response:
    """The examination, marked at once, as `shoal register training take` does."""
    if topic not in training_topics():
        raise NoRecordError
    asked = training_topic(topic).questions
    given = [next(iter(sent.get(f"question-{number}", [])), "0") for number in range(len(asked))]
    answers = [int(one) if one.isascii() and one.isdigit() else 0 for one in given]
    try:
        with parts_of(request).desk.visit(who.account.name) as visit:
            visit.registry.perform("person", "sit", visit.name, {"topic": topic, "answers": answers}, by=visit.name)
    except ShoalError as error:
        return _topic(request, topic, problem=str(error), status=status_of(error))
    return RedirectResponse("/govern/training", 303)
