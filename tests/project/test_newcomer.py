"""A newcomer follows the pages: every fenced command runs as it is written and says what the page shows.

Guides are played in ``test_newcomer_guides``, so that both can be played at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import newcomer

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet

ROOT = Path(__file__).resolve().parents[2]
FIRST = [ROOT / "README.md", *sorted(ROOT.glob("docs/tutorial/*.md"))]
GUIDES = sorted(ROOT.glob("docs/how-to/*.md"))
PAGES = [*FIRST, *GUIDES]
LONG = {f"docs/how-to/{name}.md" for name in ("attack", "govern", "measure", "synthesise", "vault")}
"""A minute and more; ``make bench`` and ``pytest -m slow`` play these."""
ELSEWHERE = {
    "docs/tutorial/find-and-clean.md": "tests/text/test_tutorial.py",
    "docs/tutorial/follow-up.md": "tests/cli/vault/test_tutorial.py",
    "docs/tutorial/govern-a-release.md": "tests/govern/test_tutorial.py",
    "docs/tutorial/hospital-case-study.md": "tests/source_documents/test_case_study.py",
}
"""Played by a test that looks closer at what comes out."""
NOT_RUN = 7
"""Fences that can't be played, each with its reason above it: at most so many, so that nobody gets used to it."""


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


def played(page: Path) -> bool:
    return any(isinstance(step, newcomer.Typed) for step in newcomer.steps(page.read_text(encoding="utf-8")))


def played_here(pages: Iterable[Path]) -> list[ParameterSet]:
    return [
        pytest.param(page, id=named(page), marks=[pytest.mark.slow] if named(page) in LONG else [])
        for page in pages
        if played(page) and named(page) not in ELSEWHERE
    ]


def follow(page: Path, folder: Path) -> None:
    outcomes = newcomer.play(page.read_text(encoding="utf-8"), folder)
    wrong = [
        f"{named(page)}:{outcome.typed.line}: {outcome.typed.command}\n  {outcome.problem}\n{outcome.output}"
        for outcome in outcomes
        if outcome.problem
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("page", played_here(FIRST))
def test_a_newcomer_can_follow_the_page(page: Path, tmp_path: Path) -> None:
    follow(page, tmp_path)


def test_pages_are_played_where_it_is_said() -> None:
    assert [page for page, test in ELSEWHERE.items() if Path(page).name not in (ROOT / test).read_text("utf-8")] == []


def test_few_fences_are_not_played() -> None:
    left_out = [
        fence.not_run
        for page in PAGES
        for fence in newcomer.fences(page.read_text(encoding="utf-8"))
        if fence.not_run is not None
    ]
    elsewhere = [one[0] for reason in left_out if (one := re.search(r"tests/[\w./]+", reason))]
    assert all((ROOT / place).exists() for place in elsewhere)
    assert len(left_out) - len(elsewhere) <= NOT_RUN
    assert all(len(reason) > 8 for reason in left_out)


@pytest.mark.parametrize(
    ("page", "problem"),
    [
        ("```console\n$ echo 5 people\n5 people\n```\n", None),
        ("```console\n$ echo 5 people\n6 people\n```\n", "does not say: 6 people"),
        ("```console\n$ printf 'a\\nb\\n'\nb\na\n```\n", "does not say: a"),
        ("```console\n$ false\n```\n", "ended with 1 instead of 0"),
        ("<!-- exit: 1 -->\n```console\n$ false\n```\n", None),
        ("<!-- exit: 1 -->\n```console\n$ true\n```\n", "ended with 0 instead of 1"),
        ("```console\n$ echo took 0.3 s of time\ntook … s of time\n```\n", None),
        ("```console\n$ echo 12 % of them\n```\n\n<!-- numbers vary: drawn -->\n```text\n 9.5 % of them\n```\n", None),
        ("```console\n$ echo 12 % of them\n```\n\n```text\n9.5 % of them\n```\n", "does not say: 9.5 % of them"),
        ('```yaml title="a/b.yaml"\nx: 1\n```\n\n```console\n$ cat a/b.yaml\nx: 1\n```\n', None),
        ("```console\n$ cat b.yaml\n```\n", "ended with 1 instead of 0"),
        ("<!-- before: echo mine > own.txt -->\n```console\n$ cat own.txt\nmine\n```\n", None),
        ("```python\nraise SystemExit(3)\n```\n", "ended with 3 instead of 0"),
    ],
)
def test_what_differs_is_seen(page: str, problem: str | None, tmp_path: Path) -> None:
    assert newcomer.play(page, tmp_path)[-1].problem == problem


def test_what_is_not_run_is_not_run(tmp_path: Path) -> None:
    assert newcomer.play("<!-- not run: it ends the world -->\n```console\n$ touch done\n```\n", tmp_path) == []
    assert not (tmp_path / "done").exists()
