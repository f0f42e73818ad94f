"""What may be required of a synthetic table: figures of fidelity, what attacks find, and how many find something.

An attack is held to its *risk*: what it gets beyond people who were not learned from, (success − yardstick) ÷
(1 − yardstick). Its success alone says little, since much is true of strangers too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf, isfinite

from shoal.attack.synthetic.registry import synthetic_attack_keys
from shoal.errors import InputError
from shoal.measurement.fidelity import fidelity_readings
from shoal.measurement.usefulness import Better
from shoal.results.risk_results import ModelResult
from shoal.results.synthesis import SyntheticAssessment
from shoal.schema.registry import did_you_mean

SHORT = {"tv1": "tv1_mean", "tv2": "tv2_mean", "tv3": "tv3_mean"}
COUNTED = ("found", "unjudged")
"""Attacks that found something, and that might."""
OF_SEVERAL = ("children", "gaps")
"""Of several tables: how far the number of children per parent moved, and the gaps between those that follow."""


def parse_gates(texts: Sequence[str]) -> dict[str, float]:
    """
    >>> parse_gates(["copies=0.01", "tv2=0.05"])
    {'copies': 0.01, 'tv2': 0.05}
    """
    return dict(_gate(text) for text in texts)


def require_known(figures: Iterable[str]) -> None:
    known = gate_names()
    for name in figures:
        if name not in known:
            raise InputError(
                f"unknown figure '{name}'{did_you_mean(name, known)}",
                field="require",
                advice=f"one of {', '.join(known)}",
            )


def _gate(text: str) -> tuple[str, float]:
    name, _, number = text.rpartition("=")
    require_known([name or text])
    try:
        bound = float(number)
    except ValueError:
        bound = inf
    if not isfinite(bound) or bound < 0:
        raise InputError(f"'{name or text}' needs a number from 0 on, as in {name or text}=0.05", field="require")
    return name, bound


def gate_names() -> tuple[str, ...]:
    return (*COUNTED, *synthetic_attack_keys(), *SHORT, *fidelity_readings(), *OF_SEVERAL)


def check_gates(found: SyntheticAssessment, require: Mapping[str, float]) -> tuple[ModelResult, ...]:
    """One for each figure; of an attack on several attributes the worst. What could not be measured is not met."""
    return check_figures(require, {name: tuple(_achieved(found, name)) for name in require})


def check_figures(
    require: Mapping[str, float], figures: Mapping[str, Sequence[float | None]]
) -> tuple[ModelResult, ...]:
    """By name what was found, of which the largest counts; what has no figure is not met."""
    readings = fidelity_readings()
    results = []
    for name, bound in require.items():
        achieved = max((one for one in figures[name] if one is not None), default=None)
        at_least = name in readings and readings[name].better is Better.HIGHER
        met = achieved is not None and (achieved >= bound if at_least else achieved <= bound)
        results.append(ModelResult(name=name, required=bound, achieved=achieved, met=met))
    return tuple(results)


def _achieved(found: SyntheticAssessment, name: str) -> Iterator[float]:
    if name == "found":
        yield len(found.found)
    elif name == "unjudged":
        yield len(found.attacks_unjudged)
    elif name in synthetic_attack_keys():
        yield from (each.risk for each in found.attacks if each.attack == name)
    elif found.fidelity is not None:
        figure = found.fidelity.figures.get(SHORT.get(name, name))
        yield from () if figure is None else (figure,)
