"""What somebody gets wrong is one clear line and exit code 2, in words that need no Python; nothing is recorded."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.govern.conftest import FORM, Clock
from tests.support.commands import Call, in_process

from shoal.crypto import Key
from shoal.crypto.signatures import public_key
from shoal.crypto.signing_keys import public_key_pem
from shoal.govern.registry import GovernanceRegistry

pytestmark = pytest.mark.requirement("G-01", "G-03", "G-08")
SUBMIT = "request submit R-2 --project h --seeker I --wanted x --purpose y"
AGREE = "request agree R-1 --file agreement.txt"


@pytest.fixture
def place(file_place: str, clock: Clock, registry: GovernanceRegistry) -> str:
    """A project, a request that was approved."""
    for by, kind, act, name, given in (
        ("chief-investigator", "project", "open", "h", {"use_case": "external-sharing"}),
        ("manager", "request", "submit", "R-1", {**FORM, "project": "h", "until": "2099-12-31"}),
        ("chief-investigator", "request", "review", "R-1", {}),
        ("chief-investigator", "request", "approve", "R-1", {}),
    ):
        registry.perform(kind, act, name, given, by=by)
    return file_place


WRONG = {
    "person admit eve --roles boss --by devi": "no role 'boss'",
    "project open h2 --use-case sharing --by chief-investigator": "--use-case: has to be",
    "project open h --use-case retention --by chief-investigator": "there is a project 'h' already",
    "project open h2 --use-case retention --by nobody": "nobody who may act",
    "project complete h --step 16 --note x --by manager": "--step: has to be at most 15",
    "project complete h --step one --note x --by manager": "--step: has to be a whole number",
    "project complete h --step 1 --by manager": "what shows that it is done",
    f"{SUBMIT} --until 2026-99-01 --by manager": "--until: has to be a day, e.g. 2027-01-31",
    f"{SUBMIT} --until 2020-01-01 --by manager": "--until: a day that is over",
    "request approve R-1 --by co-director": "R-1' is approved: it can't approve now",
    "request approve R-1 --by manager": "no right to request.approve",
    f"{AGREE} --signatories Director --by manager": "--signatories: needs at least 2",
    f"{AGREE} --signatories Dean --signatories dean --by manager": "can't sign for both sides",
    "request agree R-1 --file none.txt --signatories A --signatories B --by manager": "none.txt",
    "request deliver R-1 --release x --channel c --by data-manager": "is approved: it can't deliver",
    "release enter r --project h --folder none --by data-manager": "none",
    "incident report I --title x --lost raw --jurisdiction atlantis --by seeker": "atlantis",
    "checkpoint --key none.pem -o c.json": "none.pem: can't be read",
    "checkpoint --key public.pem -o c.json": "signing key can't be opened",
    "purge request R-9 --reason x --by manager": "no right to request.purge",
}


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agreement.txt").write_text("signed")
    (tmp_path / "public.pem").write_bytes(public_key_pem(public_key(Key(bytes(32)))))
    return in_process(monkeypatch, capfd)


@pytest.mark.parametrize(("words", "told"), WRONG.items())
def test_one_clear_line(words: str, told: str, place: str, registry: GovernanceRegistry, call: Call) -> None:
    before = registry.verify().entries
    ended = call("register", *words.split(), "--registry", place)
    assert ended.code == 2, ended
    assert told in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1
    assert registry.verify().entries == before


def test_an_approval_that_ended_and_a_clock_that_was_moved_back(
    place: str, registry: GovernanceRegistry, call: Call, clock: Clock
) -> None:
    given = {"sha256": "a" * 64, "signatories": ["Director", "Dean"]}
    registry.perform("request", "agree", "R-1", given, by="manager")
    for step in range(1, 16):
        registry.perform("project", "complete", "h", {"step": step, "note": "x"}, by="chief-investigator")
    registry.perform("release", "enter", "r", {"project": "h", "k": 5}, by="data-manager")
    clock.pass_days(181)
    deliver = ["register", "request", "deliver", "R-1", "--release", "r", "--channel", "sftp", "--by", "data-manager"]
    ended = call(*deliver, "--registry", place)
    assert (ended.code, "the approval has ended" in ended.stderr) == (2, True)
    clock.pass_days(-200)
    ended = call(*deliver, "--registry", place)
    assert (ended.code, "clock of this machine is behind" in ended.stderr) == (2, True)
