"""A whole external release in the studio: five roles, from the upload to what is expunged; refusals on the way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.server.conftest import Visitor, account
from tests.server.test_governance import FORM, govern, people, trained

from shoal.govern.registry import GovernanceRegistry

__all__ = ["people"]
pytestmark = pytest.mark.requirement("G-01", "G-08", "G-09")
SHA = "cd" * 32
AGREED: dict[str, Any] = {"file": "agreement.txt", "sha256": SHA, "signatories": "Director\nDean"}
CLAUSES = ("no-re-identification", "protection", "permitted-purposes", "liability")


def act(visitor: Visitor, kind: str, identifier: str, name: str, expected: int = 303, **told: Any) -> Any:
    """As its form does it."""
    answer = visitor.post(f"/govern/records/{kind}/{identifier}/{name}", told)
    assert answer.status_code == expected, (visitor.parts, kind, name, answer.text[:3000])
    return answer


def released(visitor: Visitor, content: bytes) -> str:
    source = visitor.upload("people.csv", content).json()["source"]
    visitor.work()
    roles = dict.fromkeys(("age", "sex", "ward"), "quasi")
    choices = {"k": 5, "use_case": "external-sharing", "suppression_limit": 0.2, "roles": roles}
    visitor.api("PUT", f"/sources/{source}/choices", json=choices)
    job = visitor.api("POST", "/jobs", json={"kind": "run", "source": source, "evidence": True}).json()["job"]
    assert visitor.finished(job)["state"] == "done"
    return str(job)


def test_external_release_from_upload_to_expunge(people: dict[str, Visitor], small: bytes, home: Path):
    asha, bela, chan, dina, tara = (people[name] for name in ("asha", "bela", "chan", "dina", "tara"))
    opened = asha.post("/govern/new/project/open", {"identifier": "hospital", "use_case": "external-sharing"})
    assert opened.status_code == 303, opened.text
    assert govern(bela, "POST", "/records/request/R-1/submit", json=FORM).status_code == 200
    act(bela, "request", "R-1", "review", 403)
    act(asha, "request", "R-1", "review")
    act(asha, "request", "R-1", "approve")
    act(bela, "request", "R-1", "agree", **AGREED, clauses=list(CLAUSES))

    release = released(chan, small)
    assert asha.client.get(f"/releases/{release}").status_code == 403, "who approves reads no releases"
    entering = {"release": release, "project": "hospital", "entry": "2026-q1"}
    assert chan.post("/govern/enter", entering).status_code == 403, "nobody works on data without training"
    trained(chan)
    assert chan.post("/govern/enter", entering).status_code == 303
    act(chan, "request", "R-1", "deliver", 422, release="2026-q1", channel="sftp")

    trained(tara)
    act(tara, "release", "2026-q1", "test", 303, passed="yes", note="nobody was found")
    composed = chan.post("/govern/compositions", {"entry": "2026-q1"})
    if composed.status_code == 303:
        chan.work()
    for step in range(1, 16):
        more = {"release": "2026-q1"} if step == 13 else {"note": "as the minutes say"}
        act(asha, "project", "hospital", "complete", 303, step=str(step), **more)
    for about in ("decision", "qualification", "raw data"):
        act(asha, "project", "hospital", "note", about=about, text="as the minutes say")
    act(tara, "request", "R-1", "deliver", 403, release="2026-q1", channel="sftp")
    act(chan, "request", "R-1", "deliver", release="2026-q1", channel="sftp")

    assert "R-1" not in dina.client.get("/").text
    act(bela, "request", "R-1", "expunge")
    act(bela, "request", "R-1", "confirm", 403)
    assert "R-1" in dina.client.get("/").text, "what waits for the auditor"
    act(dina, "request", "R-1", "confirm")
    state = govern(dina, "GET", "/records/request/R-1").json()["state"]
    assert state["status"] == "confirmed"
    assert govern(dina, "POST", "/verify").json()["intact"] is True
    stranger = account(chan.client.app, "ravi", "data-manager")
    assert stranger.client.get("/govern/records/request/R-1").status_code == 403
    with GovernanceRegistry.open(home / "registry.db") as registry:
        assert registry.state("request", "R-1").status == "confirmed"
