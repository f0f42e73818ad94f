"""Techniques stand in the folder of their clause (ISO/IEC 20889, clause 9)."""

from __future__ import annotations

import re
from importlib import import_module

import pytest

from shoal.techniques import TableTechnique, Technique, table_techniques, techniques

ALL: dict[str, type[Technique] | type[TableTechnique]] = {**dict(techniques), **dict(table_techniques)}


def clause(text: str) -> str:
    found = re.search(r"ISO/IEC 20889, (\w\.\d+)", text)
    return found[1] if found else ""


@pytest.mark.parametrize("key", ALL)
def test_a_technique_stands_in_the_folder_of_its_clause(key: str) -> None:
    technique = ALL[key]
    family = import_module(".".join(technique.__module__.split(".")[:3]))
    declared = set(re.findall(r"\w\.\d+", technique.facts.clause))
    assert clause(family.__doc__ or "") in declared


def test_a_clause_is_read() -> None:
    assert (clause("Suppression (ISO/IEC 20889, 9.3): masking"), clause("free")) == ("9.3", "")
