"""The library names its inputs, the command line writes them as flags: no flag outside the command line, and each input
that an error names is an option of a command."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer.main

from shoal.assess.measure.options import AssessmentOptions
from shoal.assess.measure.unsafe_rule import UnsafeRule
from shoal.cli.app import app
from shoal.cli.terminal.flags import OTHERWISE, flag
from shoal.errors import FieldName
from shoal.policy.assessment import Assess

SOURCE = Path(__file__).resolve().parents[2] / "src" / "shoal"
FLAG = re.compile(r"(?<![\w-])--[a-z]")
OTHERS = {
    "engine/spark/session.py": "the options of Java",
    "report/pdf.py": "the options of Chromium",
    "scan/archives.py": "the options of pg_restore",
    "results/schemas.py": "for the page of results: which command prints what",
}
"""Files with such words that are no flags of ours."""


PYTHON_ONLY = ("api/", "assess/closer_look.py", "dp/learning/", "dp/local/", "server/")
"""What no command leads to: functions, estimators, what is copied to devices, the fields of the studio's forms."""


def library() -> list[Path]:
    return [path for path in sorted(SOURCE.rglob("*.py")) if path.relative_to(SOURCE).parts[0] != "cli"]


def texts_in(text: str) -> Iterator[str]:
    """All strings that a user may see, so no docstrings; what an f-string puts in is a word."""
    tree = ast.parse(text)
    joined = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
    inside = {id(part) for node in joined for part in node.values}
    inside |= {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in joined:
        yield "".join(str(part.value) if isinstance(part, ast.Constant) else "word" for part in node.values)
    for node in ast.walk(tree):  # type: ignore[assignment]
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            yield node.value


def flags_in(text: str) -> list[str]:
    return [found for found in texts_in(text) if FLAG.search(found)]


def fields_in(text: str) -> Iterator[str]:
    """Inputs that are named as ``FieldName("…")``, or as what an error is about."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call):
            continue
        named = [keyword.value for keyword in node.keywords if keyword.arg == "field"]
        if isinstance(node.func, ast.Name) and node.func.id == "FieldName":
            named += node.args[:1]
        yield from (one.value for one in named if isinstance(one, ast.Constant) and isinstance(one.value, str))


def options_of(command: object) -> set[str]:
    """Of a command, or of all in a group."""
    own = {
        name for parameter in getattr(command, "params", ()) for name in (*parameter.opts, *parameter.secondary_opts)
    }
    return own.union(*(options_of(one) for one in getattr(command, "commands", {}).values()))


OPTIONS = options_of(typer.main.get_command(app))


def is_option(field: str) -> bool:
    return flag(FieldName(field)) in OPTIONS


def test_the_library_knows_no_flags() -> None:
    found = {str(path.relative_to(SOURCE)): flags_in(path.read_text(encoding="utf-8")) for path in library()}
    assert {name: texts for name, texts in found.items() if texts and name not in OTHERS} == {}
    assert all(found[name] for name in OTHERS), "a file that needs no leave any more"


@pytest.mark.parametrize(
    "bad",
    [
        'raise InputError("--by-records: counts records")',
        'raise InputError("no source", advice="give one with --input DATA")',
        'raise InputError(f"--{name}: comes to nothing")',
        'WHY = "unasked; --require asks for it"',
    ],
)
def test_a_flag_is_seen(bad: str) -> None:
    assert flags_in(bad)
    assert not flags_in('"""What ``shoal attack --json`` prints."""')
    assert not flags_in('InputError(f"{domain}--{place}: counts records – not people", field="by_records")')


def test_every_field_of_an_error_is_an_option() -> None:
    """Those that Python's own functions raise are shown to nobody else."""
    shown = [path for path in library() if not path.relative_to(SOURCE).as_posix().startswith(PYTHON_ONLY)]
    named = {field for path in shown for field in fields_in(path.read_text(encoding="utf-8"))}
    assert len(named) > 25
    assert {field for field in named if not is_option(field)} == set()
    assert set(OTHERWISE) <= named


def test_fields_that_are_known_only_when_an_error_is_made_are_options() -> None:
    everything = AssessmentOptions(suda=True, weight="w", log_linear=True, unsafe=UnsafeRule(3))
    said = Assess.model_validate({"motive": "low", "controls": "low", "procedure": "pdpc", "breach": 0.1})
    assert all(map(is_option, (*everything.of_records, *said.unweighed)))
    assert len(everything.of_records) == len(said.unweighed) == 4


def test_a_field_that_is_no_option_is_seen() -> None:
    text = 'raise InputError(FieldText("give ", FieldName("no_such")), field="nor_such")'
    assert sorted(fields_in(text)) == ["no_such", "nor_such"]
    assert not is_option("no_such")
