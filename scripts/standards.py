"""Writes docs/standards.md: each requirement, its source, the page that explains it, the tests that show it.

Requirements and their sources stand in docs/requirements.yaml; which test shows what is read from the tests' own
``@pytest.mark.requirement("T-04")`` marks. Nothing is imported or run: the marks are read from the syntax tree.
``--check`` writes nothing and fails when the page is out of date.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
REQUIREMENTS = ROOT / "docs" / "requirements.yaml"
PAGE = ROOT / "docs" / "standards.md"
HEAD = """# Standards: requirement by requirement

This page is made by `make generate` from [`requirements.yaml`](requirements.yaml) and the marks on the tests; a test
fails when it is out of date. A requirement counts as **shown** when at least one test carries its ID; how far that goes
is for the tests and [the limits](explanation/limits.md) to say.

Sources: **ISO** = ISO/IEC 20889:2018, **PDPC** = PDPC, Guide to Basic Anonymisation, **MeitY** = MeitY, Guidelines for
Anonymisation of Data, **paper** = the Big Personal Data Anonymization paper.
"""


@dataclass(frozen=True)
class Requirement:
    id: str
    title: str
    source: str
    page: str | None = None


class StandardsError(Exception):
    """The marks and the list of requirements don't fit together."""


def read_requirements(path: Path = REQUIREMENTS) -> dict[str, list[Requirement]]:
    """Group title → its requirements, in the order of the file."""
    groups = yaml.safe_load(path.read_text(encoding="utf-8"))
    return {
        group: [Requirement(requirement, **facts) for requirement, facts in entries.items()]
        for group, entries in groups.items()
    }


def marks_in(source: str, name: str) -> Iterator[tuple[str, str]]:
    """(requirement, test) pairs of one test file; a mark on a class or on the module counts for each test inside."""
    yield from _walk(ast.parse(source, name), name, ())


def _walk(scope: ast.Module | ast.ClassDef, name: str, outer: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    inherited = (*outer, *_module_marks(scope, name))
    for node in scope.body:
        if isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            yield from _walk(node, name, (*inherited, *_ids(node.decorator_list, name)))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
            for requirement in dict.fromkeys((*inherited, *_ids(node.decorator_list, name))):
                yield requirement, node.name


def _module_marks(scope: ast.Module | ast.ClassDef, name: str) -> Iterator[str]:
    for node in scope.body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        if any(isinstance(target, ast.Name) and target.id == "pytestmark" for target in targets):
            yield from _ids([node.value], name)  # type: ignore[attr-defined]  # targets only come from an Assign


def _ids(expressions: list[ast.expr], name: str) -> Iterator[str]:
    """The literal IDs of every ``….mark.requirement(…)`` anywhere in the expressions, parameter marks included."""
    for node in (inner for expression in expressions for inner in ast.walk(expression)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "requirement":
            for argument in node.args:
                if not isinstance(argument, ast.Constant) or not isinstance(argument.value, str):
                    raise StandardsError(f"{name}, line {node.lineno}: requirement IDs have to be written out")
                yield argument.value


def read_marks(folder: Path) -> dict[str, dict[str, list[str]]]:
    """Requirement → test file → tests."""
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for path in sorted(folder.rglob("test_*.py")):
        name = path.relative_to(folder.parent).as_posix()
        for requirement, test in marks_in(path.read_text(encoding="utf-8"), name):
            found[requirement][name].append(test)
    return found


def page(groups: dict[str, list[Requirement]], marks: dict[str, dict[str, list[str]]]) -> str:
    known = [requirement for group in groups.values() for requirement in group]
    unknown = sorted(set(marks) - {requirement.id for requirement in known})
    if unknown:
        raise StandardsError(f"tests name requirements that do not exist: {', '.join(unknown)}")
    shown = [requirement for requirement in known if requirement.id in marks]
    parts = [HEAD, f"Shown: **{len(shown)} of {len(known)}**.\n"]
    for group, requirements in groups.items():
        parts += [f"## {group}\n", "| ID | Requirement | Source | Page | Tests |\n|---|---|---|---|---|"]
        parts += [_line(requirement, marks.get(requirement.id, {})) for requirement in requirements]
        parts.append("")
    parts += ["## The tests\n", *(_tests(requirement.id, marks[requirement.id]) for requirement in shown)]
    return "\n".join(parts).rstrip() + "\n"


def _line(requirement: Requirement, tests: dict[str, list[str]]) -> str:
    number = sum(len(names) for names in tests.values())
    where = f"[{number}](#{requirement.id.lower()})" if number else "not yet"
    about = f"[read]({requirement.page})" if requirement.page else ""
    return f"| {requirement.id} | {requirement.title} | {requirement.source} | {about} | {where} |"


def _tests(requirement: str, tests: dict[str, list[str]]) -> str:
    files = [f"- `{name}`: {', '.join(f'`{test}`' for test in found)}" for name, found in tests.items()]
    return "\n".join([f"### {requirement}\n", *files, ""])


def main(arguments: list[str]) -> int:
    try:
        wanted = page(read_requirements(), read_marks(ROOT / "tests"))
    except StandardsError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    if "--check" in arguments:
        return int(not PAGE.exists() or PAGE.read_text(encoding="utf-8") != wanted)
    PAGE.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
