"""From an upload to a release by the API, and the same release again by the command line."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest
from tests.server.conftest import Visitor
from tests.support.commands import in_process


@pytest.mark.requirement("G-08")
def test_exported_policy_makes_the_same_bytes(
    released: tuple[Visitor, dict[str, Any]],
    table: bytes,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
):
    visitor, job = released
    policy = visitor.api("GET", f"/policies/{job['result']['policy']}/file")
    manifest = visitor.api("GET", f"/releases/{job['id']}").json()
    data = visitor.api("GET", f"/releases/{job['id']}/files/{manifest['data']['path']}")
    (tmp_path / "policy.yaml").write_text(policy.text, encoding="utf-8")
    (tmp_path / "hospital.csv").write_bytes(table)

    run = in_process(monkeypatch, capfd)
    made = run("run", str(tmp_path / "policy.yaml"), "-o", str(tmp_path / "again"), "--seed", "7")

    assert made.code == 0, made.stderr
    assert (tmp_path / "again" / manifest["data"]["path"]).read_bytes() == data.content
    assert hashlib.sha256(data.content).hexdigest() == manifest["data"]["sha256"]
    assert manifest["risk"]["k"] >= 5
    assert policy.headers["content-disposition"].startswith("attachment")
