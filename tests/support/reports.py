"""Reports of made-up releases: the facts of one, changed in some of what they say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any, Protocol, TypeVar

from shoal.report import ReportFacts
from shoal.results.attack_results import AttackResult, RateResult
from shoal.results.base import ResultModel
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
Result = TypeVar("Result", bound=ResultModel)


def changed(facts: ReportFacts, **new: Any) -> ReportFacts:
    """The same with other facts, wherever they stand: beside the manifest, in it, in its data file or solution."""
    manifest = facts.manifest
    if "attacks" in new:
        new.setdefault("attack_words", ("",) * len(new["attacks"]))
    data = {_DATA[name]: new.pop(name) for name in tuple(new) if name in _DATA}
    solution = {name: new.pop(name) for name in _SOLUTION if name in new}
    own = {one.name for one in fields(ReportFacts)}
    said = {name: new.pop(name) for name in tuple(new) if name not in own}
    assert said.keys() <= Manifest.model_fields.keys(), said
    found = (manifest.solution or SolutionResult()).model_copy(update=solution)
    update = {**said, "data": manifest.data.model_copy(update=data), "solution": found}
    return replace(facts, manifest=manifest.model_copy(update=update), **new)


def attack_result(
    title: str, share: float, interval: tuple[float, float], guessing: float, control: float | None, **said: Any
) -> AttackResult:
    """An attack as a manifest has it, with figures that need not fit together."""
    low, high = interval
    rates = {"success": rate_of(share, low, high), "baseline": rate_of(guessing)}
    return AttackResult.model_construct(
        **{"attribute": None, "allowed": 0.0, "found": False, "title": title, **rates, **said},
        control=None if control is None else rate_of(control),
    )


def altered(one: Result, **new: Any) -> Result:
    """The same result with other figures and words, which need not be valid."""
    return one.model_copy(update=new)


def rate_of(share: float, low: float = 0.0, high: float = 1.0) -> RateResult:
    return RateResult(share=share, low=low, high=high, right=share * 1000, trials=1000)


def manifest_of(**said: Any) -> Manifest:
    return Manifest(data=DataFile(path="data.csv"), **said)
