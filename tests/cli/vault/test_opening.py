"""Who opens a vault, by what; and whether help and page say what there is."""

from __future__ import annotations

import contextlib
import getpass
import os
import pty
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import typer.main
from sqlalchemy import make_url

from shoal.cli.app import app

from ..conftest import Call
from .conftest import acting, at_terminal, refused

TASKS = [
    *("init", "add", "domains", "lookup", "match", "reveal", "requests", "approve"),
    *("rotate", "revoke", "reissue", "shred", "verify", "audit", "backup", "restore"),
    *("people", "admit", "dismiss", "decrypt"),
]
COMMON = {"--quiet", "--no-color", "--vault", "--person", "--key-file", "--service", "--json"}


def commands() -> dict[str, set[str]]:
    (group,) = (one for name, one in typer.main.get_command(app).commands.items() if name == "vault")  # type: ignore[attr-defined]
    return {
        name: {option for parameter in one.params for option in parameter.opts if option.startswith("--")}
        for name, one in group.commands.items()
    }


def test_help_is_a_list_of_tasks_in_their_order(call: Call) -> None:
    said = call("vault", "--help").stdout
    listed = re.findall(r"^  (\w+) {2,}(\S.*)$", said.split("Commands:")[1], re.MULTILINE)
    assert [name for name, _ in listed] == TASKS
    assert not [told for _, told in listed if told.endswith("...")]
    assert "Example: shoal vault" in said


@pytest.mark.parametrize("task", TASKS)
def test_each_task_has_an_example_and_the_common_options(call: Call, task: str) -> None:
    said = " ".join(call("vault", task, "--help").stdout.split())
    assert f"Example: shoal vault {task}" in said
    assert set(re.findall(r"--[a-z-]+", said)) >= COMMON


def test_no_option_takes_a_passphrase() -> None:
    assert not [option for options in commands().values() for option in options if "pass" in option]


def test_each_task_and_option_is_documented_and_no_other(root: Path) -> None:
    page = (root / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## shoal vault (\w+)$(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL))
    assert list(sections) == TASKS
    documented = {name: set(re.findall(r"^\| `(--[a-z-]+)", text, re.MULTILINE)) for name, text in sections.items()}
    assert documented == {name: options - COMMON for name, options in commands().items()}


# Who opens it, by what.


def test_init_makes_a_vault_and_a_key_file_for_their_owner_alone(call: Call) -> None:
    ended = call("vault", "init", "--json")
    assert ended.code == 0
    assert ended.found.keys() == {"vault", "person"}
    assert [stat.S_IMODE(Path(name).stat().st_mode) for name in ("shoal.vault", "anita.key")] == [0o600, 0o600]
    assert refused(call("vault", "init"), "shoal.vault", "exists already")


def test_no_vault_is_said_to_be_none_and_none_is_made(call: Call) -> None:
    assert refused(call("vault", "domains"), "there is no such vault", "shoal vault init")
    assert not Path("shoal.vault").exists()


def test_place_and_person_come_from_options_or_environment(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    assert call("vault", "init", "--vault", "a.vault", "--person", "ravi", "--key-file", "r.key").code == 0
    monkeypatch.setenv("SHOAL_VAULT", "a.vault")
    assert refused(call("vault", "people"), "nobody called 'anita'")
    monkeypatch.setenv("SHOAL_VAULT_PERSON", "ravi")
    assert [one["person"] for one in call("vault", "people", "--key-file", "r.key", "--json").found["people"]] == [
        "ravi"
    ]


def test_person_is_the_login_name_if_nothing_is_said(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SHOAL_VAULT_PERSON")
    monkeypatch.setattr(getpass, "getuser", lambda: "sister jaya")
    assert call("vault", "init", "--json").found["person"] == "sister jaya"


def test_passphrase_from_the_environment(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOAL_VAULT_PASSPHRASE", "monsoon over the ghats")
    assert call("vault", "init").code == 0
    assert call("vault", "verify").code == 0
    monkeypatch.setenv("SHOAL_VAULT_PASSPHRASE", "monsoon over the plains")
    wrong = call("vault", "verify")
    assert refused(wrong)
    assert "monsoon" not in wrong.stderr
    assert refused(call("vault", "verify", "--key-file", "anita.key"), "passphrase, not by a key file")


def test_without_terminal_the_variable_is_named(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SHOAL_VAULT_KEY_FILE")
    assert refused(call("vault", "init"), "no terminal", "SHOAL_VAULT_PASSPHRASE")
    assert not Path("shoal.vault").exists()


def test_passphrase_is_asked_for_twice_when_it_is_new(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SHOAL_VAULT_KEY_FILE")
    asked = at_terminal(monkeypatch, "monsoon over the ghats", "monsoon over the gates")
    assert refused(call("vault", "init"), "not the same")
    assert len(asked) == 2
    at_terminal(monkeypatch, *["short"] * 2)
    assert refused(call("vault", "init"), "characters")
    at_terminal(monkeypatch, *["monsoon over the ghats"] * 2)
    assert call("vault", "init").code == 0
    asked = at_terminal(monkeypatch, "monsoon over the ghats", "another long phrase", "another long phrase")
    assert call("vault", "admit", "ravi", "--right", "use").code == 0
    assert [("anita" in prompt, "ravi" in prompt) for prompt in asked[:2]] == [(True, False), (False, True)]


@pytest.mark.requirement("V-05")
def test_passphrase_is_not_shown_at_a_real_terminal(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SHOAL_VAULT")}
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "shoal", "vault", "init", "--person", "anita"]
    ends = {"stdin": theirs, "stdout": theirs, "stderr": theirs, "start_new_session": True}
    with subprocess.Popen(command, cwd=tmp_path, env=environment, **ends) as asking:  # type: ignore[call-overload]
        os.close(theirs)
        shown = b""
        for prompt in (b"Passphrase of anita: ", b"The same once more: "):
            while not shown.endswith(prompt):
                shown += os.read(ours, 1)
            os.write(ours, b"monsoon over the ghats\n")
        with contextlib.suppress(OSError):  # the other end is closed
            while part := os.read(ours, 1000):
                shown += part
    os.close(ours)
    assert (asking.returncode, b"monsoon" in shown) == (0, False)


@pytest.mark.server
def test_vault_on_a_server(call: Call, postgres_url: str) -> None:
    there = ("--vault", postgres_url)
    assert call("vault", "init", *there).code == 0
    assert call("vault", "add", "patients", *there).code == 0
    assert [one["domain"] for one in call("vault", "domains", *there, "--json").found["domains"]] == ["patients"]
    again = call("vault", "init", *there)
    assert refused(again, "there is a vault already")
    assert make_url(postgres_url).password not in again.stderr  # type: ignore[operator]


def test_new_passphrase_of_another_from_the_environment(made: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOAL_VAULT_NEW_PASSPHRASE", "another long phrase")
    assert made("vault", "admit", "ravi", "--right", "use").code == 0
    monkeypatch.setenv("SHOAL_VAULT_PASSPHRASE", "another long phrase")
    assert made("vault", "verify", "--person", "ravi").code == 0


def test_key_file_or_service_not_both(made: Call) -> None:
    assert refused(made("vault", "verify", "--key-file", "anita.key", "--service", "kms"), "not by both")
    assert refused(made("vault", "admit", "b", "--right", "use", "--with-key-file", "b", "--with-service", "k"), "both")
    assert refused(made("vault", "verify", "--service", "kms"), "opens the vault by a key file")


@pytest.mark.requirement("V-01")
def test_wrong_key_file(made: Call) -> None:
    Path("wrong.key").write_text("00" * 32, encoding="ascii")
    assert refused(made("vault", "domains", "--key-file", "wrong.key"), "SHOAL-160")
    assert refused(made("vault", "domains", "--key-file", "none.key"), "can't be read")


def test_errors_are_json_too(made: Call) -> None:
    ended = made("vault", "rotate", "nobody", "--json")
    assert ended.code == 2
    assert ended.found["error"]["code"] == "SHOAL-100"


def test_people_come_and_go(guarded: Call) -> None:
    found = {one["person"]: one for one in guarded("vault", "people", "--json").found["people"]}
    assert found["anita"]["rights"] == ["approve", "manage", "reveal", "use"]
    assert found["tara"] == {"person": "tara", "way": "key file", "rights": ["use"]}
    assert "tara" in guarded("vault", "people").stdout
    assert refused(guarded("vault", "admit", "x", "--right", "all", "--with-key-file", "x.key"), "'all'", "manage")
    assert refused(guarded("vault", "admit", "tara", "--right", "use", "--with-key-file", "t.key"), "already")
    assert guarded("vault", "dismiss", "tara").code == 0
    assert refused(guarded("vault", "people", *acting("tara")), "nobody called 'tara'")
    assert refused(guarded("vault", "dismiss", "tara"), "tara")
    assert refused(guarded("vault", "dismiss", "anita"), "last person")
    assert guarded("vault", "verify", *acting("meera")).code == 0
