"""Every name that a user meets is in the glossary."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import typer.main

import shoal
from shoal.attack.registry import attack_keys
from shoal.attack.synthetic.registry import synthetic_attack_keys
from shoal.cli.app import app
from shoal.hierarchy import hierarchies
from shoal.policy import Attribute, Policy, Solve, UseCase
from shoal.privacy import privacy_models
from shoal.schema import Role
from shoal.techniques.base import table_techniques, techniques

ROOT = Path(__file__).resolve().parents[2]
OLD = ROOT / "tests" / "compatibility" / "version_0_1"


def terms(page: str) -> set[str]:
    """What stands in backticks in the first column of a table, or anywhere in its row."""
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    return {name for row in rows for name in re.findall(r"`([\w.-]+)`", row)}


def manifest_keys() -> set[str]:
    found = json.loads((OLD / "records" / "release.json").read_text(encoding="utf-8"))
    return {*found, *found["risk"], *found["utility"], *found["solution"]}


PUBLIC = {
    "Python": set(shoal.__all__),
    "techniques": {*techniques.names(), *table_techniques.names()},
    "models": set(privacy_models.names()),
    "hierarchies": set(hierarchies.names()),
    "policy": {*Policy.model_fields, *Attribute.model_fields, *Solve.model_fields},
    "use cases and roles": {*map(str, UseCase), *map(str, Role)},
    "attacks": {*attack_keys(), *synthetic_attack_keys()},
    "commands": set(typer.main.get_command(app).commands),  # type: ignore[attr-defined]  # a group has commands
    "release.json": manifest_keys(),
}


@pytest.mark.parametrize("kind", PUBLIC)
def test_the_glossary_has_every_term(kind: str) -> None:
    page = (ROOT / "docs" / "reference" / "glossary.md").read_text(encoding="utf-8")
    assert sorted(PUBLIC[kind] - terms(page)) == []


def test_a_missing_term_is_seen() -> None:
    assert terms("| `k`, and `l` | how many |\nno row: `m`\n") == {"k", "l"}
