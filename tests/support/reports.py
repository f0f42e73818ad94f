"""Reports of made-up releases: the facts of one, changed in some of what they say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any, Protocol

from shoal.report import ReportFacts
from shoal.results.manifest import DataFile, Manifest, SolutionResult

_DATA = {"data_path": "path", "data_sha256": "sha256", "records": "rows"}
_SOLUTION = ("recoding", "levels", "heights", "loss", "optimal", "nodes_checked", "nodes_total")


class Document(Protocol):
    """What the fixture ``read`` makes of a page; it refuses one that is not well formed."""

    text: str
    rows: dict[str, list[list[str]]]
    codes: list[str]
    tags: set[str]


Read = Callable[[str], Document]


def changed(facts: ReportFacts, **new: Any) -> ReportFacts:
    """The same with other facts, wherever they stand: beside the manifest, in it, in its data file or solution."""
    manifest = facts.manifest
    data = {_DATA[name]: new.pop(name) for name in tuple(new) if name in _DATA}
    solution = {name: new.pop(name) for name in _SOLUTION if name in new}
    own = {one.name for one in fields(ReportFacts)}
    said = {name: new.pop(name) for name in tuple(new) if name not in own}
    assert said.keys() <= Manifest.model_fields.keys(), said
    found = (manifest.solution or SolutionResult()).model_copy(update=solution)
    update = {**said, "data": manifest.data.model_copy(update=data), "solution": found}
    return replace(facts, manifest=manifest.model_copy(update=update), **new)


def manifest_of(**said: Any) -> Manifest:
    return Manifest(data=DataFile(path="data.csv"), **said)
