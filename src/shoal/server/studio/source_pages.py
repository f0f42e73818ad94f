"""Start, Source, Know, Choose: from a file to what is wanted of it."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Form, HTTPException, Query, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import ValidationError

from shoal.errors import AccessError, InputError
from shoal.policy import PRESETS, UseCase
from shoal.schema import Role
from shoal.server.access.sessions import Principal
from shoal.server.governance.overview import waiting_for
from shoal.server.jobs.drafting import PolicyChoices
from shoal.server.jobs.job_queue import JobKind
from shoal.server.jobs.synthesis_choices import SynthesisChoices
from shoal.server.jobs.table_fetching import TableWish
from shoal.server.source_acts import files_offered, take_from_database, take_from_folder
from shoal.server.store.tables import JOBS, SOURCES
from shoal.server.studio.page_rendering import page
from shoal.server.studio_acts import ask, choose, demo_blocks, forget_source, take_in
from shoal.server.web.languages import said
from shoal.server.web.paging import Before
from shoal.server.web.permits import Permit, parts_of

ROUTER = APIRouter(include_in_schema=False)
SHOWN: Final = 8
ROLES: Final = {
    Role.DIRECT: said("names a person by itself: it is taken out or replaced"),
    Role.QUASI: said("many share it, but together such columns may fit one person: it is generalised"),
    Role.SENSITIVE: said(
        "what the recipient needs and an attacker wants: kept, but whose it is gets lost in the crowd"
    ),
    Role.INSENSITIVE: said("helps nobody to find or to harm a person: it stays as it is"),
}


@ROUTER.get("/")
def start(
    request: Request,
    who: Annotated[Principal, Depends(Permit("own.read"))],
    sources: Before = None,
    jobs: Before = None,
) -> Response:
    """``sources`` and ``jobs`` are where earlier ones begin."""
    return _start(request, who, before=(sources, jobs))


def _start(
    request: Request,
    who: Principal,
    *,
    problem: str | None = None,
    status: int = 200,
    before: tuple[float | None, float | None] = (None, None),
) -> Response:
    parts = parts_of(request)
    uploaded = parts.all_own(SOURCES, who, most=SHOWN + 1, before=before[0])
    made = parts.all_own(JOBS, who, most=SHOWN + 1, before=before[1], kinds=(JobKind.RUN, JobKind.SYNTH))
    return page(
        request,
        "start.html",
        status=status,
        sources=uploaded[:SHOWN],
        jobs=made[:SHOWN],
        more_sources=uploaded[SHOWN - 1]["created"] if len(uploaded) > SHOWN else None,
        more_jobs=made[SHOWN - 1]["created"] if len(made) > SHOWN else None,
        names=parts.own_names(SOURCES, who, (job["source"] for job in made)),
        waits=_waits(request, who),
        files=files_offered(parts) if who.may("source.upload") else [],
        servers=parts.home.settings.table_servers,
        problem=problem,
    )


def _waits(request: Request, who: Principal) -> list[dict[str, Any]]:
    """What the registry wants of this person; nothing of those who were not admitted."""
    desk = parts_of(request).desk
    if not desk.begun or not who.may("govern.read"):
        return []
    try:
        with desk.visit(who.account.name) as visit:
            return waiting_for(visit)
    except AccessError:
        return []


@ROUTER.post("/demo")
async def demo(request: Request, who: Annotated[Principal, Depends(Permit("source.upload"))]) -> Response:
    made = await take_in(parts_of(request), who, "hospital.csv", demo_blocks())
    return RedirectResponse(f"/sources/{made['source']}", 303)


@ROUTER.post("/sources/from-folder")
async def from_folder(
    request: Request,
    file: Annotated[str, Form(max_length=300)],
    who: Annotated[Principal, Depends(Permit("source.upload"))],
) -> Response:
    made = await take_from_folder(parts_of(request), who, file)
    return RedirectResponse(f"/sources/{made['source']}", 303)


@ROUTER.post("/sources/from-database")
def from_database(  # noqa: PLR0913, PLR0917  # one argument for each field of the form
    request: Request,
    server: Annotated[str, Form(max_length=300)],
    database: Annotated[str, Form(max_length=100)],
    user: Annotated[str, Form(max_length=100)],
    table: Annotated[str, Form(max_length=100)],
    who: Annotated[Principal, Depends(Permit("source.upload"))],
    password: Annotated[str, Form(max_length=300)] = "",
) -> Response:
    schema, _, name = table.rpartition(".")
    told = {"server": server, "database": database, "user": user, "password": password, "table": name}
    try:
        made = take_from_database(parts_of(request), who, TableWish.model_validate({**told, "db_schema": schema}))
    except ValidationError:
        wrong = "a database and a table have names of letters, digits, dots and dashes"
        return _start(request, who, problem=wrong, status=422)
    except InputError as error:
        return _start(request, who, problem=str(error), status=422)
    return RedirectResponse(f"/sources/{made['source']}", 303)


@ROUTER.get("/sources/{source}")
def show_source(request: Request, source: str, who: Annotated[Principal, Depends(Permit("source.read"))]) -> Response:
    values = _known(request, source, who)
    parts = parts_of(request)
    preview = parts.found_in(source, "preview") if who.may("source.preview") else None
    inspection = parts.own(JOBS, who, values["source"]["inspection"])
    return page(request, "source.html", **values, preview=preview, job=inspection, events=[])


@ROUTER.post("/sources/{source}/delete")
def delete_source(
    request: Request, source: str, who: Annotated[Principal, Depends(Permit("source.delete"))]
) -> Response:
    forget_source(parts_of(request), who, source)
    return RedirectResponse("/", 303)


@ROUTER.get("/sources/{source}/know")
def know(request: Request, source: str, who: Annotated[Principal, Depends(Permit("source.read"))]) -> Response:
    values = _looked_at(request, source, who)
    spread = parts_of(request).found_in(source, "spread") or {"columns": {}, "alone": None}
    return page(request, "know.html", **values, roles=ROLES, spread=spread)


@ROUTER.post("/sources/{source}/role")
def change_role(
    request: Request,
    source: str,
    column: Annotated[str, Form(max_length=10_000)],
    role: Annotated[Role, Form()],
    who: Annotated[Principal, Depends(Permit("source.choose"))],
) -> Response:
    """One row of the table of columns, with the role that was chosen."""
    values = _looked_at(request, source, who)
    found = next((one for one in values["profile"]["columns"] if one["name"] == column), None)
    if found is None:
        raise HTTPException(404, "there is no such column")
    chosen = values["choices"]
    roles = {name: given for name, given in chosen.roles.items() if name != column}
    if str(role) != found["role"]:
        roles[column] = role
    choose(parts_of(request), who, source, chosen.model_copy(update={"roles": roles}))
    values["choices"] = chosen.model_copy(update={"roles": roles})
    spread = parts_of(request).found_in(source, "spread") or {"columns": {}}
    told = {**values, "column": found, "roles": ROLES, "number": _number(values, column), "spread": spread}
    return page(request, "know_row.html", **told)


def _number(values: dict[str, Any], column: str) -> int:
    return [one["name"] for one in values["profile"]["columns"]].index(column)


@ROUTER.get("/sources/{source}/choose")
def choose_goal(
    request: Request,
    source: str,
    who: Annotated[Principal, Depends(Permit("source.read"))],
    k: Annotated[int | None, Query(ge=2, le=100_000)] = None,
    limit: Annotated[float | None, Query(ge=0, le=1)] = None,
) -> Response:
    """``k`` and ``limit`` are those of a try that somebody clicked on."""
    values = _looked_at(request, source, who)
    picked = {"k": k, "suppression_limit": limit}
    told = {name: value for name, value in picked.items() if value is not None}
    values["choices"] = values["choices"].model_copy(update=told)
    return page(request, "choose.html", **values, cases=PRESETS, problem=None)


@ROUTER.get("/sources/{source}/synthetic")
def choose_synthesis(
    request: Request, source: str, who: Annotated[Principal, Depends(Permit("source.read"))]
) -> Response:
    return page(request, "synthetic.html", **_looked_at(request, source, who), problem=None)


@ROUTER.post("/sources/{source}/synthetic")
def start_synthesis(  # noqa: PLR0913, PLR0917  # one argument for each part of the request
    request: Request,
    source: str,
    method: Annotated[str, Form(pattern="^(sequential|marginals|network)$")],
    who: Annotated[Principal, Depends(Permit("job.start"))],
    rows: Annotated[str, Form(pattern="^[0-9]{0,8}$")] = "",
    epsilon: Annotated[str, Form(max_length=20)] = "",
) -> Response:
    values = _looked_at(request, source, who)
    given = {"method": method, "rows": rows or None, "epsilon": epsilon if method != "sequential" else None}
    try:
        choices = SynthesisChoices.model_validate({name: value for name, value in given.items() if value}).checked()
        made = ask(parts_of(request), who, JobKind.SYNTH, source, {"synthesis": choices.model_dump()})
    except ValidationError:
        wrong = "ε is a number above 0, and there are 10,000,000 records at most"
        return page(request, "synthetic.html", status=422, **values, problem=wrong)
    except InputError as error:
        return page(request, "synthetic.html", status=422, **values, problem=str(error))
    return RedirectResponse(f"/jobs/{made['job']}", 303)


@ROUTER.post("/sources/{source}/choose")
def start_run(  # noqa: PLR0913, PLR0917  # one argument for each field of the form
    request: Request,
    source: str,
    use_case: Annotated[UseCase, Form()],
    k: Annotated[int, Form(ge=2, le=100_000)],
    limit: Annotated[float, Form(ge=0, le=100)],
    who: Annotated[Principal, Depends(Permit("job.start"))],
    act: Annotated[str, Form(pattern="^(run|explore)$")] = "run",
    seed: Annotated[str, Form(max_length=20, pattern="^-?[0-9]*$")] = "",
    evidence: Annotated[bool, Form()] = False,  # noqa: FBT002
) -> Response:
    """The choices are kept; then the release is made, or only tried out."""
    parts, values = parts_of(request), _looked_at(request, source, who)
    wanted = values["choices"].model_copy(update={"use_case": use_case, "k": k, "suppression_limit": limit / 100})
    choose(parts, who, source, PolicyChoices.model_validate(wanted.model_dump()))
    told: dict[str, Any] = {"seed": int(seed)} if seed.strip("-") and act == "run" else {}
    told |= {"evidence": True} if evidence and act == "run" else {}
    if not -(2**63) <= told.get("seed", 0) < 2**63:
        raise InputError("is beyond 64 bits", field="seed")
    try:
        made = ask(parts, who, JobKind(act), source, told)
    except InputError as error:
        values["choices"] = wanted
        return page(request, "choose.html", status=422, **values, cases=PRESETS, problem=str(error))
    return RedirectResponse(f"/jobs/{made['job']}", 303)


def _known(request: Request, source: str, who: Principal) -> dict[str, Any]:
    parts = parts_of(request)
    row = parts.own(SOURCES, who, source)
    choices = PolicyChoices.model_validate(row["choices"])
    return {"source": row, "choices": choices, "profile": parts.found_in(source, "profile")}


def _looked_at(request: Request, source: str, who: Principal) -> dict[str, Any]:
    values = _known(request, source, who)
    if values["profile"] is None:
        raise HTTPException(404, "the source is not looked at yet")
    return values
