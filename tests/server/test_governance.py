"""The registry in the studio: who is let in, whose word decides, what forms take, and that it is the same registry."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.server.conftest import SETTINGS, Visitor, account

from shoal.govern.procedure import procedure
from shoal.govern.record_kinds import record_kinds
from shoal.govern.registry import GovernanceRegistry
from shoal.govern.rights import role_rights
from shoal.randomness import now
from shoal.server import create_app
from shoal.server.access.rights import allows, studio_roles
from shoal.server.governance.act_forms import act_form

pytestmark = pytest.mark.requirement("G-01", "G-04", "G-09")

SHA = "ab" * 32
RIGHT = {"techniques": [3, 2, 1, 1]}
FORM = {"project": "hospital", "seeker": "Institute", "wanted": "ages", "purpose": "study", "until": "2099-12-31"}


@pytest.fixture
def people(app: Any) -> dict[str, Visitor]:
    """Five roles, each with an account and admitted to the registry; the tester is not trained."""
    admin = account(app, "devi", "administrator")
    assert admin.post("/govern/begin").status_code == 303
    found = {"devi": admin}
    roles = {
        "asha": "chief-investigator",
        "bela": "manager",
        "chan": "data-manager",
        "dina": "auditor",
        "tara": "tester",
    }
    for name, role in roles.items():
        found[name] = account(app, name, role)
        made = admin.post("/govern/new/person/admit", {"identifier": name, "roles": role})
        assert made.status_code == 303, made.text
    return found


@pytest.fixture
def project(people: dict[str, Visitor]) -> dict[str, Visitor]:
    told = {"identifier": "hospital", "use_case": "external-sharing", "title": "Admissions"}
    answer = people["asha"].post("/govern/new/project/open", told)
    assert answer.headers["location"] == "/govern/projects/hospital"
    return people


def govern(visitor: Visitor, method: str, path: str, **more: Any) -> Any:
    return visitor.api(method, f"/govern{path}", **more)


def trained(visitor: Visitor) -> None:
    answers = {f"question-{number}": str(one) for number, one in enumerate(RIGHT["techniques"])}
    assert visitor.post("/govern/training/techniques", answers).status_code == 303


def test_nobody_sees_a_registry_that_they_were_not_admitted_to(app: Any, project: dict[str, Visitor]):
    stranger = account(app, "ravi", "chief-investigator", "administrator")
    for path in ("", "/due", "/records/project", "/records/project/hospital", "/projects/hospital/steps"):
        assert govern(stranger, "GET", path).status_code == 403, path
    assert govern(stranger, "POST", "/records/project/other/open", json={"use_case": "retention"}).status_code == 403
    assert stranger.client.get("/govern").status_code == 403
    assert "hospital" not in stranger.client.get("/govern").text
    govern(project["devi"], "POST", "/records/person/asha/dismiss", json={})
    assert govern(project["asha"], "GET", "/records/project").status_code == 403


def test_registry_is_begun_once_and_by_an_administrator(app: Any):
    manager = account(app, "meera", "data-manager")
    assert "No registry yet" in manager.client.get("/govern").text
    assert govern(manager, "GET", "/records/project").status_code == 409
    assert manager.post("/govern/begin").status_code == 403
    admin = account(app, "devi", "administrator")
    assert govern(admin, "POST", "").status_code == 201
    assert govern(admin, "POST", "").status_code == 422


def test_rights_are_the_registrys_own(project: dict[str, Visitor]):
    """The studio's right to act opens the door only: a role of the registry decides, and nobody approves their own."""
    bela, asha = project["bela"], project["asha"]
    assert govern(bela, "POST", "/records/request/R-1/submit", json=FORM).status_code == 200
    assert govern(bela, "POST", "/records/request/R-1/approve", json={}).status_code == 403
    assert govern(bela, "POST", "/records/request/R-1/review", json={}).status_code == 403, "their own"
    assert govern(asha, "POST", "/records/request/R-1/approve", json={}).status_code == 422, "not reviewed"
    assert govern(asha, "POST", "/records/request/R-1/review", json={}).status_code == 200
    approved = govern(asha, "POST", "/records/request/R-1/approve", json={})
    assert approved.json()["status"] == "approved"
    offered = govern(bela, "GET", "/records/request/R-1").json()["acts"]
    assert [one["act"] for one in offered] == ["agree"]
    page = project["tara"].client.get("/govern/records/request/R-1").text
    assert "Nothing, by your roles" in page


def test_training_is_asked_for_and_can_be_had(project: dict[str, Visitor]):
    chan = project["chan"]
    told = {"step": "1", "note": "done"}
    refused = chan.post("/govern/records/project/hospital/complete", told)
    assert refused.status_code == 403
    assert "has no training yet" in refused.text
    assert chan.post("/govern/training/techniques", {}).status_code == 422
    trained(chan)
    assert "holds until" in chan.client.get("/govern/training").text
    assert chan.post("/govern/records/project/hospital/complete", told).status_code == 303


def test_steps_are_shown_and_said_done(project: dict[str, Visitor]):
    asha = project["asha"]
    page = asha.client.get("/govern/projects/hospital").text
    for step in procedure().steps.values():
        assert step.title in page
    empty = asha.post("/govern/records/project/hospital/complete", {"step": "4"})
    assert (empty.status_code, "what shows that it is done?" in empty.text) == (422, True)
    asha.post("/govern/records/project/hospital/complete", {"step": "4", "file": "C:\\a\\roles.pdf", "sha256": SHA})
    asha.post("/govern/records/project/hospital/assign", {"step": "5", "owner": "chan", "due": "2026-01-01"})
    steps = {one["number"]: one for one in govern(asha, "GET", "/projects/hospital/steps").json()["steps"]}
    assert steps[4]["done"] is True
    assert steps[4]["evidence"]["file"] == "roles.pdf"
    assert steps[4]["evidence"]["sha256"] == SHA
    assert steps[5]["owner"] == "chan"
    due = govern(asha, "GET", "/due").json()["items"]
    assert any("step 5" in one["what"] and one["who"] == "chan" for one in due)
    assert '<span class="state failed">late</span>' in asha.client.get("/govern").text


def test_no_path_of_the_server_and_no_field_beside_the_form(project: dict[str, Visitor]):
    hostile: list[tuple[str, dict[str, Any]]] = [
        ("project/hospital/complete", {"step": 1, "file": "/etc/passwd"}),
        ("project/hospital/complete", {"step": 1, "note": "x", "by": "devi"}),
        ("release/r-1/enter", {"project": "hospital", "folder": "/etc"}),
        ("release/r-1/announce", {"project": "hospital", "announced_for": "/etc"}),
        ("person/asha/sit", {"topic": "techniques", "answers": [1]}),
        ("release/r-1/settle", {"found": True}),
    ]
    for path, told in hostile:
        answer = govern(project["asha"], "POST", f"/records/{path}", json=told)
        assert answer.status_code in (404, 422), (path, answer.text)
        assert "passwd" not in answer.text
    history = govern(project["asha"], "GET", "/records/project/hospital").json()["history"]
    assert [one["act"] for one in history] == ["open"], "nothing was written"


def test_forms_ask_for_no_path_and_leave_out_no_field_that_is_needed():
    seen = 0
    for name, kind in record_kinds:
        for act in kind.acts.values():
            form = act_form(name, act)
            if form is not None:
                seen += 1
                asked = {field.name for field in form.fields}
                assert not asked & {"folder", "result", "place", "sha256"} or (name, act.name) == ("package", "pack")
                assert {one for one, field in act.given.model_fields.items() if field.is_required()} <= asked
    assert seen > 40


def test_another_record_and_kind_are_not_there(project: dict[str, Visitor]):
    for path in ("/records/nonsense", "/records/project/other", "/projects/other/steps", "/records/request/hospital"):
        assert govern(project["asha"], "GET", path).status_code == 404, path
    assert project["asha"].client.get("/govern/new/nonsense").status_code == 404
    assert project["asha"].client.get("/govern/training/nonsense").status_code == 404


def test_what_people_ask_of_themselves_is_for_few(project: dict[str, Visitor]):
    told = {"wish": "access", "jurisdiction": "india", "identity": "kd:1"}
    made = govern(project["asha"], "POST", "/records/principal/P-1/receive", json=told)
    for name, status in (("asha", 200), ("dina", 200), ("tara", 404), ("chan", 404)):
        assert govern(project[name], "GET", "/records/principal").status_code == status, (name, made.text)
    assert "/govern/records/principal" not in project["tara"].client.get("/govern").text


def test_chain_is_verified_and_an_altered_entry_is_found(project: dict[str, Visitor], home: Path):
    dina = project["dina"]
    told = govern(dina, "POST", "/verify").json()
    assert told["intact"] is True
    assert told["entries"] == 7
    assert "The chain holds" in dina.post("/govern/chain").text
    import sqlite3

    with sqlite3.connect(home / "registry.db") as database:
        changed = "update shoal_registry_version set content = replace(content, 'Admissions', 'Discharges')"
        assert database.execute(changed + " where content like '%Admissions%'").rowcount == 1
    assert govern(dina, "POST", "/verify").json()["intact"] is False
    assert "The chain is broken" in dina.post("/govern/chain").text


def test_same_registry_as_on_the_command_line(project: dict[str, Visitor], home: Path):
    with GovernanceRegistry.open(home / "registry.db") as registry:
        registry.perform("project", "note", "hospital", {"about": "decision", "text": "by the command"}, by="asha")
    assert "by the command" in project["dina"].client.get("/govern/projects/hospital").text
    history = govern(project["dina"], "GET", "/records/project/hospital").json()["history"]
    assert [one["act"] for one in history] == ["open", "note"]


def test_what_is_written_stays_text(project: dict[str, Visitor]):
    evil = "<img src=x onerror=alert(1)>"
    project["asha"].post("/govern/records/project/hospital/note", {"about": evil, "text": evil})
    page = project["asha"].client.get("/govern/projects/hospital").text
    assert evil not in page
    assert "&lt;img src=x" in page


def test_checklists_are_filled_from_what_is_recorded(project: dict[str, Visitor]):
    before = govern(project["asha"], "GET", "/projects/hospital/checklists").json()["items"]
    for step in range(1, 12):
        govern(project["asha"], "POST", "/records/project/hospital/complete", json={"step": step, "note": "done"})
    after = govern(project["asha"], "GET", "/projects/hospital/checklists").json()["items"]
    assert sum(one["answered"] for one in after) > sum(one["answered"] for one in before)
    page = project["asha"].client.get("/govern/projects/hospital/checklists").text
    assert "would close it" in page
    assert '<a href="/govern/records/source">' in page, "what a command would do, the page leads to"


def test_every_role_of_the_studio_is_one_of_the_registry():
    """Or it is of the studio alone, and opens no page of the registry."""
    own = set(studio_roles()) - set(role_rights())
    assert own == {"caller-desk"}
    assert not any(allows(own, f"govern.{act}") for act in ("read", "act", "begin"))


@pytest.fixture(scope="module")
def two_releases(tmp_path_factory: pytest.TempPathFactory, small: bytes) -> Iterator[tuple[Visitor, list[str]]]:
    app = create_app(tmp_path_factory.mktemp("studio") / "home", SETTINGS)
    visitor = account(app, "devi", "administrator", "data-manager")
    other = account(app, "asha", "chief-investigator")
    source = visitor.upload("people.csv", small).json()["source"]
    visitor.work()
    visitor.api("PUT", f"/sources/{source}/choices", json={"k": 5, "use_case": "internal-anonymised"})
    wanted = {"kind": "run", "source": source, "seed": 1}
    jobs = [visitor.api("POST", "/jobs", json=wanted).json()["job"] for _ in range(2)]
    for job in jobs:
        assert visitor.finished(job)["state"] == "done"
    visitor.post("/govern/begin")
    for name, roles in (("asha", ["chief-investigator"]), ("devi2", ["data-manager", "administrator"])):
        govern(visitor, "POST", f"/records/person/{name}/admit", json={"roles": roles})
    told = {"use_case": "internal-anonymised"}
    assert govern(other, "POST", "/records/project/wards/open", json=told).status_code == 200
    yield visitor, jobs


@pytest.mark.requirement("R-08")
def test_releases_are_entered_and_looked_at_together(two_releases: tuple[Visitor, list[str]]):
    visitor, jobs = two_releases
    refused = govern(visitor, "POST", "/releases", json={"release": jobs[0], "project": "wards", "entry": "one"})
    assert refused.status_code == 403, "the administrator of the registry enters nothing"
    manager = account(visitor.client.app, "devi2", "data-manager")
    wanted = {"release": jobs[0], "project": "wards", "entry": "x"}
    assert govern(manager, "POST", "/releases", json=wanted).status_code == 404, "of somebody else"
    with GovernanceRegistry.open(visitor.parts.home.registry) as registry:
        registry.perform("person", "change-roles", "devi", {"roles": ["administrator", "data-manager"]}, by="devi2")
    trained(visitor)
    for job, name in zip(jobs, ("one", "two"), strict=True):
        answer = visitor.post("/govern/enter", {"release": job, "project": "wards", "entry": name})
        assert answer.headers["location"] == f"/govern/records/release/{name}"
    record = govern(visitor, "GET", "/records/release/two").json()
    assert "place" not in record["state"]
    assert str(visitor.parts.home.root) not in visitor.client.get("/govern/records/release/two").text
    only = visitor.post("/govern/compositions", {"entry": "one"}).headers["location"]
    visitor.finished(only.removeprefix("/jobs/"))
    for path in ("records/release/one", "records/release", "projects/wards"):
        assert visitor.client.get(f"/govern/{path}").status_code == 200, "looked at, with nothing beside it"
    asked = visitor.post("/govern/compositions", {"entry": "two"}).headers["location"]
    told = visitor.finished(asked.removeprefix("/jobs/"))
    assert told["state"] == "done", told
    seen = govern(visitor, "GET", "/records/release/two").json()["state"]["composition"]
    assert seen["earlier"] == ["one"]
    page = visitor.client.get("/govern/records/release").text
    assert re.search(r"with 1 other<|safe together|blocked|look closer|second approval", page)
    assert "Put it into the registry" in visitor.client.get(f"/releases/{jobs[0]}").text


def test_incident_has_a_clock_and_start_says_what_waits(project: dict[str, Visitor]):
    asha = project["asha"]
    told = {"title": "A lost stick", "lost": ["raw"], "jurisdiction": "singapore"}
    answer = govern(asha, "POST", "/records/incident/stick/report", json=told)
    assert answer.status_code == 200, answer.text
    page = asha.client.get("/govern/records/incident/stick").text
    words = re.compile(r"<strong>Tell .+ within 7[12]\.?\d* hours</strong>")
    assert words.search(page), page[2000:4000]
    assert words.search(asha.client.get("/govern").text)
    start = asha.client.get("/").text
    assert "What waits for you" in start
    assert "/govern/records/incident/stick" in start
    submitted = govern(project["bela"], "POST", "/records/request/r-1/submit", json=FORM)
    assert submitted.status_code == 200, submitted.text
    waits = {name: "request r-1" in project[name].client.get("/").text for name in ("asha", "bela", "chan", "dina")}
    reviewers = {
        name: any(
            "review" in form["act"] for form in govern(project[name], "GET", "/records/request/r-1").json()["acts"]
        )
        for name in waits
    }
    assert waits == reviewers


def test_clock_that_ran_out_says_so_wherever_it_is_shown(project: dict[str, Visitor], monkeypatch: pytest.MonkeyPatch):
    asha = project["asha"]
    told = {"title": "A lost stick", "lost": ["raw"], "jurisdiction": "singapore"}
    assert govern(asha, "POST", "/records/incident/stick/report", json=told).status_code == 200
    late = now() + datetime.timedelta(hours=77)
    monkeypatch.setattr("shoal.server.governance.overview.now", lambda: late)
    for path in ("/govern", "/govern/records/incident/stick"):
        page = asha.client.get(path).text
        assert re.search(r"<strong>.+ should have been told 5 hours ago</strong>", page), path
        assert "-5" not in page


def test_releases_that_were_looked_at_together_are_joined(project: dict[str, Visitor]):
    from shoal.server.studio.charts import release_graph

    rows: list[dict[str, Any]] = [{"id": name, "composition": None} for name in "ab"]
    rows.append({"id": "c", "composition": {"outcome": "block", "earlier": ["a", "gone"]}})
    graph = release_graph(rows)
    assert graph is not None
    assert [(one.row["id"], other.row["id"]) for one, other in graph.lines] == [("a", "c")]
    assert release_graph(rows[:1]) is None
    assert project["asha"].client.get("/govern/records/release").status_code == 200
