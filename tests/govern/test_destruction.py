"""Data whose time is over is destroyed as said, with a proof, and never before (G-11, R-09)."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.govern.conftest import Clock, Do, open_project
from tests.support.commands import Call

from shoal.errors import InputError, IntegrityError
from shoal.govern.destruction import destroy_release
from shoal.govern.registry import GovernanceRegistry

pytestmark = pytest.mark.requirement("G-11", "R-09")


@dataclass(frozen=True)
class Shredded:
    keys: tuple[str, ...] = ("k1",)
    entries: int = 40


class OneVault:
    def shred(self, domain: str, reason: str) -> Shredded:
        assert (domain, "D-1" in reason) == ("patients", True)
        return Shredded()


@pytest.fixture
def folder(released: Path, tmp_path: Path, do: Do) -> Path:
    copy = Path(shutil.copytree(released, tmp_path / "release"))
    open_project(do)
    do("data-manager", "release.enter", "q1", project="hospital", folder=str(copy), retain_until="2026-06-01")
    return copy


def destroy(registry: GovernanceRegistry, folder: Path, domain: str = "") -> None:
    destroy_release(
        registry,
        "D-1",
        release="q1",
        reason="over",
        folder=folder,
        by="data-manager",
        domain=domain,
        vault=OneVault,
    )


def test_not_before_its_time_and_not_while_held(
    registry: GovernanceRegistry, do: Do, folder: Path, clock: Clock
) -> None:
    with pytest.raises(InputError, match="kept until 2026-06-01"):
        destroy(registry, folder)
    clock.pass_days(200)
    do("data-manager", "release.hold", "q1", reason="a court's order")
    with pytest.raises(InputError, match="it is held"):
        destroy(registry, folder)
    assert (folder / "release.json").exists()
    do("data-manager", "release.lift-hold", "q1", reason="the case is over")
    destroy(registry, folder)
    assert not folder.exists()


def test_the_proof_stays(registry: GovernanceRegistry, folder: Path, clock: Clock) -> None:
    clock.pass_days(200)
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    destroy(registry, folder, domain="patients")
    state = registry.state("destruction", "D-1").model_dump()
    assert {one["name"] for one in state["files"]} == names
    assert (state["status"], state["keys"], state["mappings"]) == ("done", ("k1",), 40)
    with pytest.raises(InputError, match="it is the proof"):
        registry.purge("destruction", "D-1", by="data-manager", reason="tidy")
    assert registry.verify().entries


def test_another_folder_is_not_touched(registry: GovernanceRegistry, folder: Path, clock: Clock) -> None:
    clock.pass_days(200)
    (folder / "data.csv").write_text("other\n")
    with pytest.raises(IntegrityError, match="not what was released"):
        destroy(registry, folder)
    assert folder.exists()
    with pytest.raises(InputError, match="there is no destruction"):
        registry.state("destruction", "D-1")


def test_one_that_was_cut_short_is_due_and_taken_up_again(
    registry: GovernanceRegistry, folder: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock.pass_days(200)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(OneVault, "shred", killed)
        destroy(registry, folder, domain="patients")
    assert not folder.exists()
    due = [one.what for one in registry.due(clock().date()) if one.kind == "destruction"]
    assert due == ["finish destroying release q1"]
    destroy(registry, folder, domain="patients")
    assert registry.state("destruction", "D-1").status == "done"


@pytest.mark.requirement("G-12")
def test_a_scan_feeds_the_inventory_and_accounts_are_reviewed(shoal: Call, tmp_path: Path) -> None:
    (tmp_path / "mails.csv").write_text("who,mail\n" + "".join(f"{one},p{one}@example.org\n" for one in range(50)))
    shoal("register", "source", "add", "mails", "--title", "mails", "--owner", "asha", "--by", "asha")
    done = shoal("register", "scan", "mails", "mails.csv", "--by", "asha", "--json")
    assert "email" in " ".join(done.found["kinds"]).lower()
    shown = shoal("register", "show", "source", "mails", "--json").stdout
    assert "email" in shown.lower()
    assert "example.org" not in shown
    rows = {row["person"]: row for row in shoal("register", "accounts", "--json").found["accounts"]}
    assert rows["devi"]["last use"] != "never"
    shoal("register", "person", "admit", "chan", "--roles", "tester", "--by", "devi")
    rows = {row["person"]: row for row in shoal("register", "accounts", "--json").found["accounts"]}
    assert rows["chan"]["last use"] == "never"
