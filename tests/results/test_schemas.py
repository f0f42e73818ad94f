"""The JSON Schemas: up to date, and what is really written fits them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import schemas
from shoal.results.schemas import SCHEMAS

OLD = Path(__file__).parent.parent / "compatibility" / "version_0_1"
ANSWERS = json.loads((OLD / "answers.json").read_text())


def validator(name: str) -> jsonschema.Draft202012Validator:
    schema = json.loads((schemas.FOLDER / "schemas" / f"{name}.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def written() -> list[tuple[str, Any]]:
    found = []
    for path in sorted(OLD.rglob("release.json")):
        told = json.loads(path.read_text())
        found.append(("release-tables" if "tables" in told else "release", told))
    for answer in ANSWERS.values():
        command = answer["command"][0]
        if not answer["exit"]:
            found.append((f"{command}-tables" if "tables" in answer["json"] else command, answer["json"]))
    return [*found, ("history", json.loads((OLD / "local" / "history.json").read_text()))]


def test_the_schemas_and_their_page_are_up_to_date() -> None:
    for path, text in schemas.files().items():
        assert (schemas.FOLDER / path).read_text(encoding="utf-8") == text, f"{path}: run `make generate`"
    assert {path.stem for path in (schemas.FOLDER / "schemas").iterdir()} == set(SCHEMAS)


@pytest.mark.parametrize(("name", "told"), written())
def test_what_is_written_fits(name: str, told: Any) -> None:
    validator(name).validate(told)


LATER = {"composition", "explore", "synthetic", "synthetic-tables"}
"""What version 0.1 did not write; `tests/govern/test_composition.py` tries the first."""


def test_most_schemas_are_tried() -> None:
    assert {name for name, _ in written()} == set(SCHEMAS) - LATER


@pytest.mark.parametrize("damage", [{"risk": {"k": "many"}}, {"data": {}}, {"roles": {"age": "king"}}, {"kind": 1}])
def test_what_is_damaged_does_not_fit(damage: dict[str, Any]) -> None:
    told = json.loads((OLD / "records" / "release.json").read_text()) | damage
    assert list(validator("release").iter_errors(told))
