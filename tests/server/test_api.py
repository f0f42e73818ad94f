"""The API: what it answers, what it answers again, and what it does only once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.server.conftest import Visitor, account

pytestmark = pytest.mark.requirement("G-08")


def test_etag_spares_the_body(released: tuple[Visitor, dict[str, Any]]):
    visitor, job = released
    first = visitor.api("GET", f"/releases/{job['id']}")
    again = visitor.api("GET", f"/releases/{job['id']}", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    other = visitor.api("GET", f"/releases/{job['id']}", headers={"If-None-Match": '"other"'})
    assert other.status_code == 200


def test_lists_come_in_pages(manager: Visitor):
    made = [manager.upload(f"{number}.csv", b"a\n1\n").json()["source"] for number in range(3)]
    first = manager.api("GET", "/sources", params={"limit": 2}).json()
    rest = manager.api("GET", "/sources", params={"limit": 2, "before": first["next"]}).json()
    assert [one["id"] for one in first["items"] + rest["items"]] == made[::-1]
    assert rest["next"] is None
    assert manager.api("GET", "/sources", params={"limit": 0}).status_code == 422


def test_idempotency_keys(manager: Visitor, home: Path):
    key = {"Idempotency-Key": "one"}
    first = manager.upload("x.csv", b"a\n1\n", headers=key)
    again = manager.upload("x.csv", b"a\n1\n", headers=key)
    assert again.json() == first.json()
    assert len(list((home / "uploads").iterdir())) == 1
    assert manager.upload("x.csv", b"a\n2\n", headers=key).status_code == 422
    wanted = {"kind": "explore", "source": first.json()["source"]}
    jobs = [manager.api("POST", "/jobs", json=wanted, headers={"Idempotency-Key": "two"}).json() for _ in range(2)]
    assert jobs[0] == jobs[1]
    assert len(manager.api("GET", "/jobs").json()["items"]) == 2


def test_download_is_kept_and_not_shown(released: tuple[Visitor, dict[str, Any]]):
    visitor, job = released
    for name in ("data.csv", "report.html", "release.json"):
        answer = visitor.api("GET", f"/releases/{job['id']}/files/{name}")
        assert answer.headers["content-disposition"].startswith("attachment")
        assert answer.headers["content-type"] == "application/octet-stream"
        assert answer.headers["x-content-type-options"] == "nosniff"
    report = visitor.api("GET", f"/releases/{job['id']}/report")
    assert report.headers["content-security-policy"].startswith("sandbox")


def test_policy_is_checked_and_release_measured_by_jobs(released: tuple[Visitor, dict[str, Any]]):
    visitor, job = released
    checked = visitor.api("POST", f"/policies/{job['result']['policy']}/check").json()["job"]
    measured = visitor.api("POST", f"/releases/{job['id']}/measure").json()["job"]
    assert visitor.finished(checked)["result"]["ok"] is True
    told = visitor.finished(measured)
    manifest = visitor.api("GET", f"/releases/{job['id']}").json()
    assert told["result"]["risk"]["k"] == manifest["risk"]["k"]


def test_choices_become_the_policy(manager: Visitor, small: bytes):
    source = manager.upload("people.csv", small).json()["source"]
    manager.work()
    choices = {"k": 4, "suppression_limit": 0.1, "roles": {"ward": "insensitive"}, "use_case": "internal-anonymised"}
    assert manager.api("PUT", f"/sources/{source}/choices", json=choices).status_code == 200
    job = manager.api("POST", "/policies", json={"source": source}).json()["job"]
    assert manager.finished(job)["state"] == "done"
    text = manager.api("GET", f"/policies/{job}").json()["text"]
    assert "k_anonymity: {k: 4}" in text
    assert "suppression_limit: 0.1 " in text
    assert "ward: {role: insensitive" in text
    for wrong in ({"k": 1}, {"suppression_limit": 2}, {"roles": {"ward": "nonsense"}}, {"other": 1}):
        assert manager.api("PUT", f"/sources/{source}/choices", json=wrong).status_code == 422
    manager.api("PUT", f"/sources/{source}/choices", json={"roles": {"nowhere": "quasi"}})
    job = manager.api("POST", "/policies", json={"source": source}).json()["job"]
    told = manager.finished(job)
    assert told["state"] == "failed"
    assert "no column 'nowhere'" in told["error"]["message"]


@pytest.mark.parametrize(
    ("name", "content"),
    [("x.csv", b"\x00\xff\xfe\x00" * 50), ("x.xlsx", b"PK\x03\x04 no workbook"), ("x.parquet", b"PAR1 none PAR1")],
)
def test_file_that_is_no_table_says_so(manager: Visitor, name: str, content: bytes):
    made = manager.upload(name, content).json()
    told = manager.finished(made["job"])
    assert told["state"] == "failed"
    assert told["error"]["code"] != "SHOAL-900", told
    page = manager.client.get(f"/sources/{made['source']}").text
    assert "read as a table" in page
    assert manager.api("GET", f"/sources/{made['source']}/profile").status_code == 409


def test_preview_is_for_those_who_may(app: Any, small: bytes):
    statistician = account(app, "ravi", "statistician")
    source = statistician.upload("people.csv", small).json()["source"]
    statistician.work()
    assert statistician.api("GET", f"/sources/{source}/preview").status_code == 403
    page = statistician.client.get(f"/sources/{source}").text
    assert "Your roles show you forms, no values." in page
    assert "Delete this upload" not in page


def test_deleted_source_is_gone_from_the_disk(manager: Visitor, home: Path, small: bytes):
    source = manager.upload("people.csv", small).json()["source"]
    manager.work()
    assert manager.post(f"/sources/{source}/delete").status_code == 303
    assert list((home / "uploads").iterdir()) == []
    assert manager.api("GET", f"/sources/{source}").status_code == 404


def test_explored_settings_are_shown(manager: Visitor, small: bytes):
    source = manager.upload("people.csv", small).json()["source"]
    manager.work()
    asked = {"use_case": "internal-anonymised", "k": "3", "limit": "5", "act": "explore"}
    answer = manager.post(f"/sources/{source}/choose", asked)
    manager.work()
    page = manager.client.get(answer.headers["location"]).text
    assert "What privacy costs" in page
    assert page.count("<meter") >= 3
    tries = manager.finished(answer.headers["location"].removeprefix("/jobs/"))["result"]["tries"]
    met = [number for number, one in enumerate(tries) if one["feasible"]]
    assert page.count("<circle") == len(met) >= 6
    assert len({one["recoding"] for one in tries}) == 1, "the policy has one, so each can be chosen"
    picked = manager.client.get(f"/sources/{source}/choose", params={"k": 10, "limit": 0.02}).text
    assert 'name="k" type="number" min="2" max="100000" required value="10"' in picked
    assert 'required value="2" aria-describedby="limit-help"' in picked
    pair = manager.client.get(answer.headers["location"], params={"first": met[0], "second": met[-1]}).text
    assert 'aria-label="Comparison"' in pair
    for wrong in ({"first": 999, "second": 0}, {"first": met[0], "second": met[0]}):
        assert "Comparison" not in manager.client.get(answer.headers["location"], params=wrong).text


@pytest.mark.requirement("T-25")
def test_synthetic_table_with_its_fidelity(manager: Visitor, table: bytes):
    source = manager.upload("hospital.csv", table).json()["source"]
    manager.work()
    for wrong in ({"method": "marginals"}, {"method": "deep"}, {"rows": 0}, {"method": "sequential", "epsilon": 1}):
        asked = {"kind": "synth", "source": source, "synthesis": wrong}
        assert manager.api("POST", "/jobs", json=asked).status_code == 422, wrong
    assert manager.api("POST", "/jobs", json={"kind": "synth", "source": source}).status_code == 422
    assert manager.post(f"/sources/{source}/synthetic", {"method": "network", "epsilon": "-1"}).status_code == 422
    answer = manager.post(f"/sources/{source}/synthetic", {"method": "network", "epsilon": "5", "rows": "300"})
    job = answer.headers["location"].removeprefix("/jobs/")
    told = manager.finished(job)
    assert told["state"] == "done", told
    manifest = manager.api("GET", f"/releases/{job}").json()
    assert (manifest["kind"], manifest["method"]) == ("synthetic", "network")
    assert manifest["differential_privacy"]["epsilon"] == pytest.approx(5)
    page = manager.client.get(f"/releases/{job}").text
    assert "with ε of 5" in page
    assert "would tell more of people" in page
    answer = manager.post(f"/sources/{source}/synthetic", {"method": "sequential", "rows": "300"})
    plain = answer.headers["location"].removeprefix("/jobs/")
    assert manager.finished(plain)["state"] == "done"
    page = manager.client.get(f"/releases/{plain}").text
    assert "How alike each column is" in page
    assert page.count('class="drawn"') > 5


def test_upload_in_blocks_is_stored_whole(manager: Visitor):
    def blocks() -> Iterator[bytes]:
        yield b"a,b\n"
        for _ in range(5):
            yield b"1,2\n" * 250_000

    assert manager.upload("big.csv", blocks()).status_code == 201
    assert manager.api("GET", "/sources").json()["items"][0]["size"] == 5_000_004


def test_upload_that_a_killed_server_left_is_swept(app: Any, manager: Visitor, home: Path, small: bytes):
    source = manager.upload("people.csv", small).json()["source"]
    left = home / "uploads" / ("f" * 32) / "data"
    left.mkdir(parents=True)
    (left / "half.csv").write_bytes(small[:100])
    with TestClient(app):
        assert [path.name for path in (home / "uploads").iterdir()] == [source]


def test_errors_are_pages_or_problems(manager: Visitor, app: Any):
    page = manager.client.get("/jobs/none")
    assert (page.status_code, "There is nothing here" in page.text) == (404, True)
    problem = manager.api("GET", "/jobs/none")
    assert problem.headers["content-type"] == "application/problem+json"
    assert problem.json()["status"] == 404

    def broken(*_: object) -> None:
        raise ValueError("Asha Rao, 34")

    app.state.parts.own = broken
    client = TestClient(app, raise_server_exceptions=False, cookies=dict(manager.client.cookies))
    for path in ("/jobs/none", "/api/v1/jobs/none"):
        answer = client.get(path)
        assert answer.status_code == 500
        assert "Asha" not in answer.text
