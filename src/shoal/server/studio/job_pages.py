"""Run and Result: a job while it works, and what came of it."""

from __future__ import annotations

import json
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Form, HTTPException, Query, Request
from fastapi.responses import RedirectResponse, Response

from shoal.errors import AccessError
from shoal.results.release_folder import ReleaseFolder
from shoal.server.access.sessions import Principal
from shoal.server.jobs.job_queue import OPEN_STATES, JobKind, JobState
from shoal.server.release_certificates import (
    CertificateCheck,
    certify_release,
    check_certificate,
    is_certified,
    key_fingerprint,
    public_pem,
)
from shoal.server.store.tables import JOBS, RELEASES, SOURCES
from shoal.server.studio.charts import class_chart, frontier_chart, lattice_chart
from shoal.server.studio.page_rendering import page
from shoal.server.studio_acts import ask
from shoal.server.web.answers import attachment
from shoal.server.web.languages import said
from shoal.server.web.parts import StudioParts
from shoal.server.web.permits import Permit, parts_of

ROUTER = APIRouter(include_in_schema=False)
RecordReader = Annotated[Principal, Depends(Permit("source.preview"))]
PHASES: Final = {
    "fetch": said("Fetch the table"),
    "read": said("Look at the columns"),
    "draft": said("Draft the policy, and try what the table can bear"),
    "try": said("Try other settings"),
    "count": said("Count who looks alike"),
    "solve": said("Find the least loss"),
    "rewrite": said("Write the data"),
    "recount": said("Count again what was written"),
    "read back": said("Look what other columns give away"),
    "last look": said("Search for identifiers that are left"),
    "evidence": said("Measure risk and usefulness"),
    "report": said("Write the report"),
    "commit": said("Make it the release"),
    "scrub": said("Look for what the text says of people"),
    "answer": said("Work out the answer, and add the noise"),
    "compose": said("Look at all releases of the same people together"),
}
_OF_KIND: Final = {
    JobKind.INSPECT: ("read",),
    JobKind.FETCH: ("fetch", "read"),
    JobKind.EXPLORE: ("read", "draft", "try"),
    JobKind.RUN: tuple(name for name in PHASES if name not in ("fetch", "try", "compose", "scrub", "answer")),
    JobKind.SCRUB: ("scrub",),
    JobKind.COMPOSE: ("compose",),
    JobKind.QUERY: ("answer",),
    JobKind.EXPLAIN: ("count",),
}


@ROUTER.get("/jobs/{job}")
def show_job(
    request: Request,
    job: str,
    who: Annotated[Principal, Depends(Permit("job.read"))],
    first: Annotated[int, Query(ge=0, le=1000)] = 0,
    second: Annotated[int, Query(ge=0, le=1000)] = 0,
) -> Response:
    """``first`` and ``second`` are two tries to be compared."""
    standing = _standing(parts_of(request), who, job)
    row = standing["job"]
    explored = row["kind"] == JobKind.EXPLORE and row["state"] == JobState.DONE
    tries = row["result"]["tries"] if explored else []
    pair = [(number, tries[number]) for number in (first, second) if number < len(tries) and tries[number]["feasible"]]
    compared = pair if first != second and len(pair) == 2 else []
    return page(request, "run.html", **standing, chart=frontier_chart(tries), compared=compared,
                lattice=lattice_chart(row["result"].get("lattice", ()) if explored else ()))  # fmt: skip


@ROUTER.get("/jobs/{job}/progress")
def progress(request: Request, job: str, who: Annotated[Principal, Depends(Permit("job.read"))]) -> Response:
    """The part of the page that changes; when the job has ended, the page that follows."""
    standing = _standing(parts_of(request), who, job)
    answer = page(request, "progress.html", **standing)
    if standing["follows"] is not None:
        answer.headers["HX-Redirect"] = standing["follows"]
    return answer


@ROUTER.post("/jobs/{job}/cancel")
def cancel(request: Request, job: str, who: Annotated[Principal, Depends(Permit("job.cancel"))]) -> Response:
    parts = parts_of(request)
    parts.own(JOBS, who, job)
    parts.queue.cancel(who.account.id, job)
    return RedirectResponse(f"/jobs/{job}", 303)


@ROUTER.get("/releases/{release}")
def result(request: Request, release: str, who: Annotated[Principal, Depends(Permit("release.read"))]) -> Response:
    return _result(request, release, who)


@ROUTER.post("/releases/{release}/certificate")
def make_certificate(
    request: Request, release: str, who: Annotated[Principal, Depends(Permit("release.certify"))]
) -> Response:
    certify_release(parts_of(request), who, release)
    return RedirectResponse(f"/releases/{release}", 303)


@ROUTER.post("/releases/{release}/certificate/check")
def verify_certificate(
    request: Request, release: str, who: Annotated[Principal, Depends(Permit("release.read"))]
) -> Response:
    """The same page with the answer on it."""
    return _result(request, release, who, checked=check_certificate(parts_of(request), who, release))


@ROUTER.get("/releases/{release}/certificate/key")
def certificate_key(
    request: Request, release: str, who: Annotated[Principal, Depends(Permit("release.read"))]
) -> Response:
    """With what others check the certificate, whoever they are."""
    parts = parts_of(request)
    parts.own(RELEASES, who, release)
    key = public_pem(parts.home.signing_key)
    return Response(key, media_type="application/x-pem-file", headers=attachment("studio.pub"))


def _result(request: Request, release: str, who: Principal, checked: CertificateCheck | None = None) -> Response:
    parts = parts_of(request)
    row = parts.own(RELEASES, who, release)
    folder = parts.home.release(release)
    manifest = ReleaseFolder.at(str(folder)).manifest
    events = parts.queue.events(release)
    told = [event["body"]["columns"] for event in events if event["kind"] == "examples"]
    drawn = [event["body"]["columns"] for event in events if event["kind"] == "distributions"]
    bins = [event["body"]["bins"] for event in events if event["kind"] == "classes"]
    files = [{"name": path.name, "size": path.stat().st_size} for path in sorted(folder.iterdir()) if path.is_file()]
    job = parts.own(JOBS, who, release)
    template = "synthetic_result.html" if manifest is not None and manifest.synthesis is not None else "result.html"
    return page(
        request,
        template,
        row=row,
        source=_source(parts, who, row["source"]),
        manifest=manifest,
        examples=told[-1] if told else {},
        distributions=drawn[-1] if drawn else [],
        classes=class_chart(bins[-1] if bins else []),
        files=files,
        seed=job["request"].get("seed"),
        projects=_open_projects(parts, who),
        certified=is_certified(folder),
        checked=checked,
        fingerprint=key_fingerprint(parts.home.signing_key) if is_certified(folder) else "",
    )


@ROUTER.get("/releases/{release}/rows")
def show_record(
    request: Request, release: str, who: RecordReader, row: Annotated[int, Query(ge=1, le=10**12)] = 1
) -> Response:
    """Why a record is starred out: for those who may see the source's records."""
    parts = parts_of(request)
    found = parts.own(RELEASES, who, release)
    source = parts.own(SOURCES, who, found["source"])
    path = parts.home.explanation(source["id"], release, row)
    told = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
    return page(request, "rows.html", row=found, source=source, number=row, told=told)


@ROUTER.post("/releases/{release}/rows")
def explain_record(
    request: Request, release: str, number: Annotated[int, Form(ge=1, le=10**12)], who: RecordReader
) -> Response:
    parts = parts_of(request)
    found = parts.own(RELEASES, who, release)
    if not found["policy"]:
        raise HTTPException(404, "nobody is starred out in a synthetic table")
    told = {"release": release, "policy": found["policy"], "row": number}
    made = ask(parts, who, JobKind.EXPLAIN, found["source"], told)
    return RedirectResponse(f"/jobs/{made['job']}", 303)


def _open_projects(parts: StudioParts, who: Principal) -> list[str]:
    """That this person may enter a release into."""
    if not parts.desk.begun or not who.may("govern.act"):
        return []
    try:
        with parts.desk.visit(who.account.name) as visit:
            found = visit.states("project") if visit.may("release", "enter") else {}
            return [name for name, state in found.items() if state.status == "open"]
    except AccessError:
        return []


def _standing(parts: StudioParts, who: Principal, job: str) -> dict[str, Any]:
    row = parts.own(JOBS, who, job)
    events = parts.queue.events(job)
    source = _source(parts, who, row["source"])
    return {"job": row, "phases": _phases(row, events), "follows": _follows(row), "source": source}


def _source(parts: StudioParts, who: Principal, source: str) -> dict[str, Any] | None:
    """None where it was deleted."""
    return parts.own_if_there(SOURCES, who, source)


_LEADS_TO: Final = {
    JobKind.RUN: "/releases/{id}",
    JobKind.SYNTH: "/releases/{id}",
    JobKind.SCRUB: "/texts/{source}",
    JobKind.COMPOSE: "/govern/records/release/{request[entry]}",
    JobKind.QUERY: "/query/{request[dataset]}",
    JobKind.DESK: "/callers/{request[desk]}",
    JobKind.INSPECT: "/sources/{source}",
    JobKind.FETCH: "/sources/{source}",
    JobKind.EXPLAIN: "/releases/{request[release]}/rows?row={request[row]}",
}
"""Where a job that is done leads; others stay on their own page."""


def _follows(row: dict[str, Any]) -> str | None:
    if row["state"] in OPEN_STATES:
        return None
    if row["kind"] == JobKind.LEVELS:
        return "/sources/{source}/levels/{request[number]}?job={id}".format_map(row)
    done = row["state"] == JobState.DONE
    return _LEADS_TO.get(row["kind"], "/jobs/{id}").format_map(row) if done else f"/jobs/{row['id']}"


def _phases(row: dict[str, Any], events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each phase that this kind of job has, whether it is over, and how far it is. A new attempt begins anew."""
    begun: list[str] = []
    over: dict[str, float] = {}
    shares: dict[str, float] = {}
    for event in events:
        body = event["body"]
        if event["kind"] == "PhaseStarted":
            if body["phase"] in begun:
                begun, over = begun[: begun.index(body["phase"])], {}
            begun.append(body["phase"])
        elif event["kind"] == "PhaseFinished":
            over[body["phase"]] = body["seconds"]
        elif event["kind"] == "Advanced" and body["total"] and begun:
            shares[begun[-1]] = min(1.0, body["done"] / body["total"])
    names = _OF_KIND.get(JobKind(row["kind"]), ())
    names = (*names, *(name for name in begun if name not in names))
    last = begun[-1] if begun else None
    return [
        {
            "name": PHASES.get(name, name),
            "over": name in over or (name in begun and name != last),
            "now": name == last and name not in over,
            "share": shares.get(name),
            "seconds": over.get(name),
        }
        for name in names
    ]
