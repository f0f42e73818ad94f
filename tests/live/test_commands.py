"""``shoal live`` as a person types it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.live.conftest import PASSPHRASE, House

pytestmark = [pytest.mark.requirement("L-01"), pytest.mark.server]

Shoal = Callable[..., tuple[int, str]]


@pytest.fixture
def shoal(house: House, vault_file: Path) -> Shoal:
    """The command, in a process of its own."""
    environment = {
        **os.environ,
        "SHOAL_VAULT": str(vault_file),
        "SHOAL_VAULT_PERSON": "anita",
        "SHOAL_VAULT_PASSPHRASE": PASSPHRASE,
    }

    def call(*arguments: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "shoal", "live", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=house.folder, check=False)
        return done.returncode, done.stdout + done.stderr

    return call


def test_a_whole_life(house: House, shoal: Shoal) -> None:
    path = str(house.write())
    code, told = shoal("plan", path, "--sql", "up.sql", "--undo", "down.sql")
    assert (code, "pseudonymise" in told) == (0, True)
    assert "GRANT" in (house.folder / "up.sql").read_text()
    assert "DROP" in (house.folder / "down.sql").read_text()
    assert shoal("diff", path)[0] == 1
    code, told = shoal("apply", path, "--json")
    assert (code, json.loads(told)["applied"]) == (0, True)
    assert shoal("check", path)[0] == 0
    house.own(f"DROP VIEW {'shoal_doctor.patients'}")
    code, told = shoal("check", path)
    assert (code, "patients: missing" in told) == (1, True)
    assert shoal("remove", path) == (0, "removed\n")
    assert shoal("remove", path) == (0, "there was nothing to remove\n")


def test_wrong_input_is_one_line(house: House, shoal: Shoal) -> None:
    path = house.write()
    path.write_text(path.read_text().replace("policy: analyst.yaml", "policy: nowhere.yaml"))
    code, told = shoal("plan", str(path))
    assert (code, told.count("\n"), "nowhere.yaml" in told) == (2, 1, True)
    assert shoal("check")[0] == 2
    assert shoal("remove", "none.yaml")[0] == 2
