"""Run and Result: the lattice around the best node, class sizes, attacks, and why a record is starred out."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from tests.server.conftest import Visitor, account

from shoal.crypto.signing_keys import public_key_in
from shoal.govern.certificates import verify_release
from shoal.server.studio.page_rendering import _share


@pytest.fixture(scope="module")
def lonely() -> bytes:
    """Sixty people, and one who is like nobody else."""
    rows = "".join(f"{20 + number % 3},{'FM'[number % 2]},{'abc'[number % 3]}\n" for number in range(60))
    return f"age,sex,ward\n{rows}97,F,z\n".encode()


def run(visitor: Visitor, content: bytes, **more: Any) -> str:
    source = visitor.upload("people.csv", content).json()["source"]
    visitor.work()
    told = {"k": 3, "use_case": "internal-anonymised", "suppression_limit": 0.1}
    roles = dict.fromkeys(("age", "sex", "ward"), "quasi")
    assert visitor.api("PUT", f"/sources/{source}/choices", json={**told, "roles": roles}).status_code == 200
    job = visitor.api("POST", "/jobs", json={"kind": "run", "source": source, "seed": 7, **more}).json()["job"]
    assert visitor.finished(job)["state"] == "done"
    return str(job)


def test_starred_record_is_explained_to_those_who_see_records(app: Any, manager: Visitor, lonely: bytes, home: Path):
    release = run(manager, lonely)
    assert "Why is a record starred out?" in manager.client.get(f"/releases/{release}").text
    asked = manager.post(f"/releases/{release}/rows", {"number": "61"})
    manager.work()
    shown = manager.client.get(f"{asked.headers['location']}/progress", follow_redirects=False)
    assert shown.headers["hx-redirect"] == f"/releases/{release}/rows?row=61"
    page = manager.client.get(f"/releases/{release}/rows?row=61").text
    assert "It is starred out." in page
    assert "1 of the records had exactly these values" in page
    assert "97" in page
    job = manager.api("GET", f"/jobs/{asked.headers['location'].rpartition('/')[2]}").json()
    assert job["result"] == {"row": 61}, "no value of a person stands in the database"
    manager.post(f"/releases/{release}/rows", {"number": "1"})
    manager.work()
    assert "It is in the release." in manager.client.get(f"/releases/{release}/rows?row=1").text
    source = manager.api("GET", f"/releases/{release}").json()
    assert "97" not in str(source.get("warnings"))
    kept = list(home.glob("uploads/*/explained-*"))
    assert len(kept) == 2
    manager.api("DELETE", f"/sources/{kept[0].parent.name}")
    assert not kept[0].exists()
    assert manager.client.get(f"/releases/{release}/rows?row=61").status_code == 404


def test_record_that_is_not_there_is_said(manager: Visitor, lonely: bytes):
    release = run(manager, lonely)
    for number in ("62", "1000000"):
        asked = manager.post(f"/releases/{release}/rows", {"number": number})
        manager.work()
        assert "has to be 1 to 61" in manager.client.get(asked.headers["location"]).text
    assert manager.post(f"/releases/{release}/rows", {"number": "0"}).status_code == 422


def test_statistician_sees_no_record_of_anybody(app: Any, lonely: bytes):
    visitor = account(app, "stan", "statistician")
    release = run(visitor, lonely)
    page = visitor.client.get(f"/releases/{release}").text
    assert "Why is a record" not in page
    assert visitor.client.get(f"/releases/{release}/rows?row=61").status_code == 403
    assert visitor.post(f"/releases/{release}/rows", {"number": "61"}).status_code == 403


def test_class_sizes_and_risks_are_on_the_page(manager: Visitor, lonely: bytes):
    page = manager.client.get(f"/releases/{run(manager, lonely)}").text
    assert "How many look alike" in page
    assert "10–19" in page
    assert "How likely somebody is found" in page
    assert "Each column before and after" in page
    made = re.search(r'href="(/jobs/\w+)">how it was made', page)
    assert made is not None
    told = manager.client.get(made.group(1)).text
    assert "What was done, and how long it took" in told
    assert "Find the least loss" in told


def test_attacks_are_tried_where_they_are_asked_for(manager: Visitor, lonely: bytes):
    plain = manager.client.get(f"/releases/{run(manager, lonely)}").text
    assert "By guessing" not in plain
    attacked = manager.client.get(f"/releases/{run(manager, lonely, evidence=True)}").text
    assert "By guessing" in attacked


def test_lattice_around_the_best_node(manager: Visitor, lonely: bytes):
    source = manager.upload("people.csv", lonely).json()["source"]
    manager.work()
    roles = dict.fromkeys(("age", "sex", "ward"), "quasi")
    told = {"k": 3, "use_case": "internal-anonymised", "suppression_limit": 0.1, "roles": roles}
    manager.api("PUT", f"/sources/{source}/choices", json=told)
    job = manager.api("POST", "/jobs", json={"kind": "explore", "source": source}).json()["job"]
    nodes = manager.finished(job)["result"]["lattice"]
    middle, around = nodes[0], nodes[1:]
    assert middle["allowed"]
    assert around
    assert all(sum(level != middle["levels"][name] for name, level in one["levels"].items()) == 1 for one in around)
    assert all(one["loss"] >= middle["loss"] for one in around if one["allowed"]), "nothing next to it is better"
    page = manager.client.get(f"/jobs/{job}").text
    assert "Around the best node" in page
    assert 'class="node middle"' in page


@pytest.mark.requirement("G-08")
def test_two_tries_stand_side_by_side(manager: Visitor, lonely: bytes):
    """Their figures as they were found, and each level that differs is marked."""
    source = manager.upload("people.csv", lonely).json()["source"]
    manager.work()
    roles = dict.fromkeys(("age", "sex", "ward"), "quasi")
    told = {"k": 3, "use_case": "internal-anonymised", "suppression_limit": 0.1, "roles": roles}
    manager.api("PUT", f"/sources/{source}/choices", json=told)
    job = manager.api("POST", "/jobs", json={"kind": "explore", "source": source}).json()["job"]
    tries = manager.finished(job)["result"]["tries"]
    met = [number for number, one in enumerate(tries) if one["feasible"]]
    first, second = next((one, other) for one in met for other in met if tries[one]["levels"] != tries[other]["levels"])
    page = manager.client.get(f"/jobs/{job}?first={first}&second={second}").text
    compared = page.split("Two side by side")[1]
    for one in (tries[first], tries[second]):
        assert f"k {one['k']}, {_share(one['limit'])}</th>" in compared
        assert f'<td class="number">{_share(one["loss"])}</td>' in compared
    differ = [name for name, level in tries[first]["levels"].items() if level != tries[second]["levels"][name]]
    assert len(re.findall("<mark>", compared)) == 2 * len(differ) > 0
    refused = next((number for number, one in enumerate(tries) if not one["feasible"]), len(tries))
    alone = manager.client.get(f"/jobs/{job}?first={first}&second={refused}").text
    assert "Smallest class" not in alone, "what can't be made is compared with nothing"


@pytest.mark.requirement("G-08")
def test_what_singles_people_out_is_told_before_anything_is_chosen(manager: Visitor, lonely: bytes):
    source = manager.upload("people.csv", lonely).json()["source"]
    manager.work()
    page = manager.client.get(f"/sources/{source}/know").text
    assert "1 of 61 records are like no other" in page
    alone = re.search(r'<th scope="row">age</th><td><meter[^>]*value="(\d+)"', page)
    assert alone is not None
    assert alone.group(1) == "1"


@pytest.mark.requirement("G-08")
def test_release_shows_rows_pairs_and_columns_before_and_after(manager: Visitor, lonely: bytes):
    page = manager.client.get(f"/releases/{run(manager, lonely, evidence=True)}").text
    rows = page.split("Before and after</h2>")[1].split("</section>")[0]
    assert re.search(r"<td><mark>[^<]+</mark></td>", rows), "what changed is marked"
    pairs = page.split("What pairs of columns still tell</h2>")[1].split("</section>")[0]
    assert '<tr><th scope="row">age, sex</th><td>' in pairs
    columns = page.split("Each column before and after</h2>")[1].split("</section>")[0]
    assert columns.count("<svg") == columns.count("<summary>As figures") >= 2
    assert re.search(r'<th scope="row">[^<]+</th><td class="number">\d+ %</td><td class="number">\d+ %</td>', columns)
    lost = page.split("What each column lost</h2>")[1].split("</section>")[0]
    assert lost.count("<meter") >= 2


@pytest.mark.requirement("G-08")
def test_release_is_certified_and_a_change_is_found(manager: Visitor, lonely: bytes, home: Path):
    """By the studio, and without it: by the public key that everybody may have."""
    release = run(manager, lonely)
    place = f"/releases/{release}/certificate"
    assert "Certify the release" in manager.client.get(f"/releases/{release}").text
    early = manager.post(f"{place}/check")
    assert (early.status_code, str(home) in early.text) == (422, False), "there is none yet"
    assert manager.post(place).status_code == 303
    assert "The release is as it was certified" in manager.post(f"{place}/check").text
    key = home.parent / "studio.pub"
    key.write_bytes(manager.client.get(f"{place}/key").content)
    public = public_key_in(key.read_bytes())
    folder = home / "releases" / release
    assert verify_release(folder, (public,)).trusted
    assert (home / "signing-key.pem").stat().st_mode & 0o077 == 0
    assert [path.name for path in home.iterdir() if path.name.startswith("signing-key")] == ["signing-key.pem"]

    data = next(folder.glob("*.csv"))
    data.write_bytes(data.read_bytes() + b"\n")
    told = manager.post(f"{place}/check").text
    assert "was changed after it was certified" in told
    assert str(home) not in told
    other = account(manager.client.app, "dina", "tester", "auditor")
    assert other.post(f"{place}/check").status_code == 404
    assert other.post(place).status_code == 403
