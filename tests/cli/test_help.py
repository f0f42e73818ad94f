"""The help: by task, in whole sentences, without words that only programmers know; quiet on demand."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
import typer.main

from shoal import __version__
from shoal.cli.app import COMMANDS, app
from shoal.cli.terminal.help import TASKS

from .conftest import Call

PYTHON = re.compile(r"<|\blist\[|\bstr\b|\bint\b|\bfloat\b|\bbool\b|\bPath\b|None\b")


def every_command() -> Iterator[tuple[str, Any]]:
    for name, command in typer.main.get_command(app).commands.items():  # type: ignore[attr-defined]
        yield name, command
        yield from ((f"{name} {inner}", one) for inner, one in getattr(command, "commands", {}).items())


NAMES = [name for name, _ in every_command()]


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_the_help_lists_all_commands_by_task_in_whole_sentences(call: Call, flag: str) -> None:
    told = call(flag).stdout
    assert "…" not in told
    assert "..." not in told.replace("[ARGS]...", "")
    places = [told.index(f"\n{task}:\n") for task in TASKS]
    assert places == sorted(places)
    for name in COMMANDS:
        assert re.search(rf"^  {name} +[A-Z].*$", told, re.MULTILINE), name


@pytest.mark.parametrize("name", NAMES)
def test_no_help_shows_pythons_types(call: Call, name: str) -> None:
    told = call(*name.split(), "--help").stdout
    assert told.startswith(f"Usage: shoal {name} ")
    assert "Example: " in told or " " in name
    signatures = [
        re.split(r"  +", line.strip())[0] for line in told.splitlines() if re.match(r"  (-|[A-Z](?!xample))", line)
    ]
    assert [line for line in signatures if PYTHON.search(line)] == []
    assert "[[" not in told.splitlines()[0]
    for flag in ("-q, --quiet", "--no-color"):
        assert (flag in told) is not hasattr(dict(every_command())[name], "commands")


def test_the_version(call: Call) -> None:
    assert call("-V").stdout == call("--version").stdout == f"shoal {__version__}\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_commands_and_options(shell: str) -> None:
    run = [sys.executable, "-m", "shoal"]
    environment = {**os.environ, "_SHOAL_COMPLETE": f"complete_{shell}", "_TYPER_COMPLETE_ARGS": "shoal sc"}
    environment |= {"COMP_WORDS": "shoal sc", "COMP_CWORD": "1", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    done = subprocess.run(run, env=environment, capture_output=True, text=True, check=False)
    assert "scan" in done.stdout, done.stderr
    assert "scrub" in done.stdout


def test_quiet_leaves_the_result_alone(call: Call, tmp_path: Path) -> None:
    (tmp_path / "visits.csv").write_text("Visits\nname;ward;fee\nAsha;B;1,5\nRavi;C;2,5\n", encoding="utf-8")
    loud, quiet = call("profile", "visits.csv"), call("profile", "visits.csv", "--quiet")
    assert "note: " in loud.stderr
    assert (quiet.stderr, quiet.stdout) == ("", loud.stdout)
    refused = call("profile", "lost.csv", "-q")
    assert (refused.code, "error [" in refused.stderr) == (2, True)


def test_colours_are_left_out_where_somebody_says_so(tmp_path: Path) -> None:
    (tmp_path / "visits.csv").write_text("name;ward;age\nAsha;B;31\nRavi;C;22\n", encoding="utf-8")
    run = [sys.executable, "-m", "shoal", "profile", str(tmp_path / "visits.csv")]
    coloured = re.compile(r"\x1b\[(?:\d+;)*3\d(?:;\d+)*m")
    forced = {**os.environ, "FORCE_COLOR": "1", "TERM": "xterm-256color"}
    forced.pop("NO_COLOR", None)
    for arguments, more in ((["--no-color"], {}), ([], {"NO_COLOR": "1"})):
        done = subprocess.run([*run, *arguments], env={**forced, **more}, capture_output=True, text=True, check=True)
        assert not coloured.search(done.stdout)
    assert "NO_COLOR" not in os.environ or os.environ["NO_COLOR"]
