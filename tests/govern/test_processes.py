"""Several people at once, killed at any moment: nothing half written, nothing decided twice, the chain holds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.govern.conftest import FORM, staffed

from shoal.govern.registry import GovernanceRegistry

pytestmark = pytest.mark.requirement("G-09")


def prepared(place: str, requests: int) -> None:
    with staffed(place) as registry:
        registry.perform("project", "open", "hospital", {"use_case": "retention"}, by="chief-investigator")
        for turn in range(requests):
            form = {**FORM, "until": "2099-01-01", "project": "hospital"}
            registry.perform("request", "submit", f"R-{turn}", form, by="manager")


def acted(root: Path, place: str, *, kills: int, rounds: int) -> list[str]:
    """What four processes said they did. With kills, all four are killed soon after the first of them has acted."""
    command = [sys.executable, "-m", "tests.govern.acting", place, str(rounds), str(kills)]
    done = subprocess.run(command, cwd=root, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.splitlines()


def check(place: str, lines: list[str]) -> None:
    with GovernanceRegistry.open(place) as registry:
        facts = registry.verify()
        assert facts.entries
        sources = set(registry.states("source"))
        rejected = {name for name, one in registry.states("request").items() if one.status == "rejected"}
        acts = [[one.act for one in registry.history("request", name)] for name in rejected]
    told = [line for line in lines if not line.startswith("rejected")]
    assert len(told) == len(set(told)) and set(told) <= sources
    said = [line.removeprefix("rejected ") for line in lines if line.startswith("rejected")]
    assert len(said) == len(set(said)) and set(said) <= rejected
    assert all(one == ["submit", "reject"] for one in acts)


def test_four_at_once(root: Path, place: str) -> None:
    prepared(place, requests=6)
    lines = acted(root, place, kills=0, rounds=6)
    check(place, lines)
    assert len([line for line in lines if line.startswith("rejected")]) == 6
    assert len(lines) == 4 * 6 + 6


def test_killed_at_any_moment(root: Path, place: str) -> None:
    prepared(place, requests=40)
    lines = acted(root, place, kills=5, rounds=10_000)
    assert len({line.split("-")[1] for line in lines if line.startswith("s-")}) == 5, "each time somebody had acted"
    check(place, lines)


@pytest.mark.slow
def test_killed_two_hundred_times(root: Path, place: str) -> None:
    prepared(place, requests=40)
    check(place, acted(root, place, kills=200, rounds=10_000))
