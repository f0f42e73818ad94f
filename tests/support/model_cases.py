"""What the tests of all privacy models have to know of one model, declared in the test file of that model.

A file ``tests/privacy/test_*.py`` that holds ``CASE = ModelCase(…)`` puts its model among those that are held against
brute force, against the laws of sensitive models, against the figures of measured tables, and on both engines. Models
that were there before stand in the lists of these tests themselves.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from tests.support.definitions import SINGLE, Group, Table

from shoal.privacy import Classes, PrivacyModel, SensitiveModel

FOLDER = Path(__file__).resolve().parent.parent / "privacy"


@dataclass(frozen=True)
class ModelCase:
    key: str
    models: st.SearchStrategy[PrivacyModel]
    """With small parameters, on the sensitive attribute of ``tests.support.lattice``."""
    definition: Callable[[Any, Group, Table], bool]
    """Whether a class may stay, in plain Python."""
    policy: Mapping[str, Any]
    """An example on the table of ``tests.support.examples``."""
    tightest: Callable[[Classes], SensitiveModel | None] | None = None
    """The strictest parameters that all classes just meet, on the attribute 'ill'; for models on sensitive values."""


@cache
def declared_cases() -> Mapping[str, ModelCase]:
    """By key. Their definitions are known from then on."""
    found: dict[str, ModelCase] = {}
    for path in sorted(FOLDER.glob("test_*.py")):
        if "= ModelCase(" not in path.read_text(encoding="utf-8"):
            continue
        case: ModelCase = importlib.import_module(f"tests.privacy.{path.stem}").CASE
        found[case.key] = case
        SINGLE[case.key] = case.definition
    return found
