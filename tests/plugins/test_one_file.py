"""A new thing of each kind is one file: counted in the tree, and performed as the walk-through says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from one_file import KINDS, Thing, files_to_add, lists_of, mentions_in

pytestmark = pytest.mark.requirement("T-28")

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "how-to" / "add-a-technique.md").read_text(encoding="utf-8")
FILES = re.compile(r"^`([^`\n]+)`:\n\n(?:<!--.*?-->\n)?```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMANDS = re.compile(r"^\$ python (.*)$", re.MULTILINE)


@pytest.mark.parametrize("kind", KINDS)
def test_a_thing_of_each_kind_takes_one_file(kind: str) -> None:
    assert lists_of(KINDS[kind](), mentions_in(ROOT / "src")) == []
    assert len(KINDS[kind]()) > 1


def test_what_is_counted_is_what_the_page_lists() -> None:
    assert len(files_to_add()) == len(re.findall(r"^\| [a-z][a-z ]+ \| `", PAGE, re.MULTILINE))


def test_a_list_of_things_is_seen(tmp_path: Path) -> None:
    """Known-bad: a file that names two of three, by key, by class or by module."""
    things = [Thing(name, f"shoal.{name}", frozenset({name, f"shoal.{name}"})) for name in ("one", "two", "three")]
    (tmp_path / "shoal").mkdir()
    for name, text in {
        "one": "KEY = 'one'",
        "few": "ONLY = 'two'",
        "hints": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from shoal import one, two, three\n",
        "keys": "ALL = ('two', 'three')",
        "imports": "from shoal import one\nimport shoal.three\n",
    }.items():
        (tmp_path / "shoal" / f"{name}.py").write_text(text, encoding="utf-8")
    assert sorted(lists_of(things, mentions_in(tmp_path))) == ["shoal.imports", "shoal.keys"]


def test_the_walk_through_can_be_performed(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "tests" / "techniques").mkdir(parents=True)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    files = dict(FILES.findall(PAGE))
    assert len(files) == 4
    for name, text in files.items():
        assert not (ROOT / name).exists(), "the example is no part of the tree"
        (tmp_path / name).write_text(text, encoding="utf-8")
    commands = COMMANDS.findall(PAGE)
    assert len(commands) == 3
    for command in commands:
        done = _python(tmp_path, *command.split())
        assert done.returncode == 0, done.stdout + done.stderr
    written = (tmp_path / "release" / "data.csv").read_text(encoding="utf-8")
    assert written.splitlines() == ["locker,code", "12,c-b-a", "13,z-y-x"]
    assert "reverse" in _python(tmp_path, "-m", "shoal", "check", "--schema").stdout


def _python(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """In the copy of the tree."""
    environment = {**os.environ, "PYTHONPATH": str(folder / "src")}
    own = ("-p", "no:cacheprovider", "-o", "addopts=--import-mode=importlib") if "pytest" in arguments else ()
    command = [sys.executable, *arguments, *own]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_the_page_names_the_groups_of_the_package() -> None:
    (shown,) = (tomllib.loads(text) for text in re.findall(r"^```toml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
    package = tomllib.loads((Path(__file__).parent / "package" / "pyproject.toml").read_text(encoding="utf-8"))
    assert shown["project"]["entry-points"] == package["project"]["entry-points"]
