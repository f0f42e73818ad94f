"""The examples in the documentation run: what a reader copies works."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from tests.project.test_newcomer import FIRST, GUIDES, LONG, named, played

from shoal.errors import PolicyError
from shoal.policy import Policy

ROOT = Path(__file__).resolve().parents[2]
WALK_THROUGH = ROOT / "docs" / "how-to" / "add-a-technique.md"
README = ROOT / "README.md"
PLAYED = tuple(page for page in (*FIRST, *GUIDES) if played(page) and named(page) not in LONG)
"""Whose programs a newcomer runs, page by page, with all that stands around them."""
PAGES = [README, *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^(?P<indent> *)```(?P<language>\w+)\n(?P<text>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path, language: str) -> Iterator[str]:
    for fence in FENCE.finditer(page.read_text(encoding="utf-8")):
        if fence["language"] == language:
            yield re.sub(f"^{fence['indent']}", "", fence["text"], flags=re.MULTILINE)


def all_blocks(language: str, *, but: tuple[Path, ...] = ()) -> list[object]:
    return [
        pytest.param(text, id=f"{page.relative_to(ROOT)}-{place}")
        for page in PAGES
        for place, text in enumerate(blocks(page, language))
        if page not in but
    ]


def run_python(code: str, folder: Path) -> None:
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def as_policy(text: str) -> str:
    """A policy from an example that may show only the part it is about: some keys, or those of one attribute."""
    given = yaml.safe_load(text)
    if given.keys() <= {"role", "technique", "hierarchy"}:
        given = {"attributes": {"age": {"role": "quasi", **given}}}
    return yaml.safe_dump({"shoal": 1, "name": "example", "attributes": {"age": {"role": "quasi"}}, **given})


@pytest.mark.parametrize("text", all_blocks("yaml", but=(WALK_THROUGH,)))
def test_policies_in_the_docs_are_valid(text: str, tmp_path: Path) -> None:
    Policy.from_text(as_policy(text), folder=tmp_path)


def test_a_wrong_policy_in_the_docs_would_be_found(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="suppress"):
        Policy.from_text(as_policy("attributes:\n  age: {role: quasi, technique: supress}\n"), folder=tmp_path)


@pytest.mark.parametrize("code", all_blocks("python", but=(*PLAYED, README, WALK_THROUGH)))
def test_python_in_the_docs_runs(code: str, tmp_path: Path) -> None:
    run_python(code, tmp_path)


def test_readme_example_says_what_comes_out(tmp_path: Path) -> None:
    (example,) = blocks(README, "python")
    after = """
assert release.data["age"].to_list() == ["30-39"] * 3 + ["50-59"] * 3
assert release.data["pin"].to_list() == ["41100x"] * 3 + ["56000x"] * 3
assert release.data.columns == ["age", "pin", "diagnosis"]
assert release.risk.k == 3
assert "<html" in open("report.html").read()
"""
    run_python(example + after, tmp_path)


def test_readme_example_is_short() -> None:
    (example,) = blocks(README, "python")
    assert len(example.splitlines()) <= 26
