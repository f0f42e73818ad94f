"""Wrong arguments: each is refused with an error of Shoal that names the argument, and no flag of the command line."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.errors import InputError, ShoalError

TABLE = pl.DataFrame({"age": [31, 34, 52, 57], "city": ["Pune", "Goa", "Pune", "Goa"]})
MANY = pl.DataFrame({"age": [20 + place % 50 for place in range(200)], "city": ["Pune", "Goa"] * 100})
POLICY: dict[str, Any] = {
    "shoal": 1,
    "name": "staff",
    "attributes": {"age": {"role": "quasi"}, "city": {"role": "quasi"}},
    "privacy": [{"k_anonymity": {"k": 2}}],
}
VISITED = {
    "people": pl.DataFrame({"id": range(60), "age": [20 + place % 50 for place in range(60)]}),
    "visits": pl.DataFrame({"person": [one % 60 for one in range(150)], "fee": [one % 7 for one in range(150)]}),
}
VISITS = {
    "shoal": 1,
    "name": "ward",
    "tables": {"people": {"key": "id"}, "visits": {}},
    "references": [{"from": "visits.person", "to": "people.id"}],
}
RIGHT: dict[str, dict[str, Any]] = {
    "anonymise": {"data": TABLE, "policy": POLICY},
    "attack": {"release": TABLE, "original": TABLE, "quasi": "age", "seed": 1},
    "check": {"policy": POLICY, "data": TABLE},
    "explore": {"policy": POLICY, "data": TABLE, "ks": [2], "limits": [0.0], "recodings": ["global"]},
    "measure": {"data": TABLE, "quasi": "age"},
    "plan": {"policy": POLICY, "data": TABLE},
    "profile": {"data": TABLE},
    "scan": {"data": TABLE},
    "scrub": {"data": TABLE},
    "suggest": {"data": TABLE, "use_case": "internal-deidentified"},
    "synthesise": {"data": MANY, "rows": 5, "seed": 1, "evidence": False},
    "synthesise_tables": {"tables": VISITED, "description": VISITS, "seed": 1, "evidence": False},
}
"""A call of each function that is right but for what a test changes."""
WRONG: dict[str, list[tuple[str, Any]]] = {
    "anonymise": [
        ("data", 7), ("policy", 7), ("output", "out"), ("seed", "x"), ("force", "perhaps"), ("shared", 3), ("vault", 7),
    ],
    "attack": [
        ("release", 7), ("original", 7), ("auxiliary", 7), ("control", 7), ("policy", 7), ("quasi", 7), ("quasi", ()),
        ("sensitive", [1]), ("person", 7), ("trials", 0), ("trials", "many"), ("seed", "x"),
    ],
    "check": [("policy", 7), ("data", 7)],
    "explore": [
        ("policy", 7), ("data", 7), ("ks", "x"), ("ks", [0]), ("ks", []), ("limits", [2.0]), ("limits", ["x"]),
        ("recodings", ["sideways"]), ("seed", "x"),
    ],
    "measure": [
        ("data", 7), ("quasi", 7), ("quasi", ()), ("quasi", ["age", "age"]), ("sensitive", [1]), ("person", 7),
        ("policy", 7), ("original", 7), ("require", "k"), ("require", 7), ("by_records", "perhaps"),
    ],
    "plan": [("policy", 7), ("data", 7)],
    "profile": [("data", 7), ("sample", 0), ("sample", "x"), ("annotate", 7), ("recognisers", 7)],
    "scan": [("data", 7), ("data", []), ("data", [TABLE]), ("threshold", 2), ("everything", "perhaps"),
             ("recognisers", 7)],
    "scrub": [
        ("data", 7), ("output", "x"), ("columns", "age"), ("columns", 7), ("replace", "x"), ("types", "ages of man"),
        ("types", 7), ("dates", "x"), ("ages", "x"), ("vault", 7), ("domain", 7), ("annotator", 7),
    ],
    "suggest": [
        ("data", 7), ("use_case", "x"), ("use_case", 7), ("name", 7), ("person", 7), ("person", "nobody"),
        ("purpose", 7), ("rules", 7),
    ],
    "synthesise": [
        ("data", 7), ("method", "x"), ("method", 7), ("rows", 0), ("rows", "x"), ("epsilon", 0), ("epsilon", "x"),
        ("delta", 2), ("seed", "x"), ("description", 7), ("where", 7), ("balance", 7), ("balance", "nobody"),
        ("control", 7), ("output", 7), ("force", "perhaps"), ("evidence", "perhaps"), ("columns", ["age"]),
        ("columns", 7), ("quasi", ["age"]), ("risky", 1), ("risky", "x"), ("weight", 2), ("weight", "x"),
        ("dataset", 7), ("analyst", "asha"), ("analyst", 7), ("table", "visits"), ("table", 7), ("edit_rules", 7),
        ("edit_rules", {"rules": [{"name": "x"}]}),
    ],
    "synthesise_tables": [
        ("tables", 7), ("description", 7), ("rows", 0), ("rows", "x"), ("seed", "x"), ("control", 7), ("require", 7),
        ("require", {"nothing": 1}), ("output", 7), ("force", "perhaps"), ("evidence", "perhaps"),
        ("save_model", "perhaps"), ("reader", 7),
    ],
}  # fmt: skip
LISTENERS = {"progress", "cancel", "source"}
"""Whoever gives these is a program: what it listens with is called, and what a policy says of its source is free."""
CASES = [(name, argument, value) for name, wrong in WRONG.items() for argument, value in wrong]


@pytest.mark.parametrize(("name", "argument", "value"), CASES, ids=lambda one: repr(one)[:20])
def test_the_argument_is_named(name: str, argument: str, value: Any) -> None:
    with pytest.raises(InputError) as error:
        getattr(shoal, name)(**RIGHT[name] | {argument: value})
    said = str(error.value)
    assert re.search(rf"\b{argument}\b", said), said
    assert not re.search(r"(?<![\w-])--?[a-z]", said), said


def test_every_argument_is_tried() -> None:
    functions: dict[str, Callable[..., Any]] = {
        name: getattr(shoal, name) for name in shoal.__all__ if name[0].islower() and name != "standard_annotator"
    }
    assert set(functions) == set(WRONG) == set(RIGHT)
    for name, function in functions.items():
        tried = {argument for argument, _ in WRONG[name]}
        assert set(inspect.signature(function).parameters) - LISTENERS == tried - LISTENERS, name


def test_what_is_right_is_not_refused(tmp_path: Path) -> None:
    for name in ("check", "measure", "plan", "profile", "scan"):
        getattr(shoal, name)(**RIGHT[name])


def test_other_arguments_are_refused_by_python_itself() -> None:
    with pytest.raises(TypeError, match="qi"):
        shoal.measure(TABLE, qi="age")  # type: ignore[call-arg]


def test_the_root_of_errors_catches_all() -> None:
    with pytest.raises(ShoalError):
        shoal.Policy.of(None)
