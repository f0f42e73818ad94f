"""What people see of a measured table: one section per question, the verdicts last."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import typer

from shoal.cli.output import print_table
from shoal.measurement.attackers import Attackers, Basis
from shoal.measurement.individual import SampleRisk
from shoal.measurement.suda import Suda
from shoal.measurement.useful import READINGS, USES, Usefulness
from shoal.privacy.base import ROUNDING
from shoal.release.formal import SENSITIVE, Formal
from shoal.release.measuring import Measured
from shoal.report.words import measure

IN_SHORT = (
    "rows_kept",
    "cells_unchanged",
    "total_variation_mean",
    "wasserstein_mean",
    "association_difference",
    "query_error_median",
    "pmse_ratio",
    "learning_kept",
)
"""Figures of usefulness that are shown where no purpose is declared."""
OF_CELLS = {"loss": "lower", "precision": "higher", "entropy_lost": "lower"}
"""Figures of the quasi-identifying cells, and which way is better."""
MODELS = {"dankar": "Dankar's rule", "pitman": "Pitman", "zayatz": "Zayatz", "snb": "negative binomial"}
"""Of uniques in the population."""
SIDE_BY_SIDE = 4
"""Sensitive attributes in one table."""


def print_measurement(measured: Measured) -> None:
    _print_classes(measured)
    _print_attackers(measured)
    if measured.assessed is not None and measured.assessed.assessment is not None:
        _print_lines("Probability of re-identification (PDPC guide, annex D)", measured.assessed.assessment.words)
    _print_records(measured)
    if measured.formal is not None and measured.formal.attributes:
        _print_formal(measured.formal)
    if measured.sensitivity:
        _print_sensitivity(measured)
    if measured.usefulness is not None:
        _print_usefulness(measured.usefulness, measured.cells)
    _print_verdicts(measured)


def _print_classes(measured: Measured) -> None:
    figures = measured.to_dict()
    size, risk = figures["class_size"], figures["risk"]
    rows = [
        ("records", f"{figures['rows']:,}"),
        ("suppressed records", f"{figures['suppressed']:,}"),
        ("classes", f"{figures['classes']:,}"),
        ("class size", f"{size['min']:,} to {size['max']:,}, {size['average']:,.4g} on average"),
        ("k", _beside(risk, figures.get("risk_before"), "k")),
        ("people alone in their class", _beside(risk, figures.get("risk_before"), "uniques")),
    ]
    if "k_by_value" in risk:
        rows.append(("k, a star being a value", f"{risk['k_by_value']:,}"))
    print_table("Classes", ("figure", "value"), rows)


def _beside(risk: Mapping[str, int], before: Mapping[str, int] | None, name: str) -> str:
    return f"{risk[name]:,}" if before is None else f"{risk[name]:,} ({before[name]:,} before)"


def _print_attackers(measured: Measured) -> None:
    if measured.assessed is None:
        return
    found, before = measured.assessed.attackers, measured.attackers_before
    header = ["attacker", "highest risk", "average", f"records above {found.threshold:g}"]
    rows = _attackers(found)
    if before is not None:
        header += ["highest before", "average before", "above before"]
        rows = [[*now, *then[1:]] for now, then in zip(rows, _attackers(before), strict=True)]
    print_table("Risk", header, rows)
    typer.echo(f"  Journalist and marketer: {found.basis.words}.")
    by_stars = measured.measurement.risk.prosecutor_max
    if by_stars != found.prosecutor.max:
        typer.echo(f"  Where a star matches any value, the highest risk is {_number(by_stars)}.")
    if found.basis is Basis.ESTIMATE:
        typer.echo("  The journalist's highest risk is an expected value; --require journalist_max stays with 1 ÷ k.")
    if found.beyond:
        typer.echo(f"  {found.beyond:,} classes have more people here than in the population.")
    typer.echo()


def _attackers(found: Attackers) -> list[list[str]]:
    single = {"prosecutor": found.prosecutor, "journalist": found.journalist}
    rows = [[name, _number(risk.max), _number(risk.average), _share(risk.above)] for name, risk in single.items()]
    return [*rows, ["marketer", "", _number(found.marketer), ""]]


def _print_records(measured: Measured) -> None:
    """What was asked of single records: special uniques, the risk of a sample, uniques of the population."""
    assessed = measured.assessed
    if assessed is None:
        return
    if assessed.special is not None:
        _print_lines("Special uniques (SUDA2)", _special(assessed.special))
    if assessed.sample is not None:
        _print_lines("Risk of a sample file", _sample(assessed.sample))
    if assessed.population_uniques is not None:
        given = ", ".join(
            f"{MODELS.get(model, model)} {'no estimate' if number is None else f'{number:,.1f}'}"
            for model, number in assessed.population_uniques.items()
        )
        _print_lines("People unique in the population, estimated", [given])


def _special(found: Suda) -> list[str]:
    summary = found.summary()
    if not summary["scored"]:
        return ["No record is singled out by any of the quasi-identifiers."]
    above = ", ".join(f"{number:,} above {limit}" for limit, number in summary["dis_above"].items() if number)
    shares = sorted(summary["attributes"].items(), key=lambda item: -item[1])
    by_size = ", ".join(f"{number:,} with {size}" for size, number in summary["minimal_uniques"].items() if number)
    return [
        f"{summary['scored']:,} of {summary['records']:,} records are singled out; the highest score is "
        f"{summary['score_max']:g}.",
        f"Chance that a match is right (DIS-SUDA, a sample of {found.fraction:g}): at most "
        f"{_number(summary['dis_max'])}{'; ' + above if above else ''}.",
        f"Smallest sets of attributes that single a record out: {by_size}.",
        f"Share of the scores: {', '.join(f'{name} {share:.0f} %' for name, share in shares)}.",
    ]


def _sample(found: SampleRisk) -> list[str]:
    lines = [
        f"{found.expected:,.2f} of {found.records:,} records are expected to be re-identified "
        f"({_share(found.share)}); the highest risk of one is {_number(found.highest)}.",
        f"{found.uniques:,} have a combination of their own, {found.pairs:,} share it with one other.",
    ]
    if found.expected_in_households is not None:
        share = _share(found.share_in_households or 0.0)
        lines.append(f"With their households: {found.expected_in_households:,.2f} ({share}).")
    if found.light_weights:
        lines.append(f"{found.light_weights:,} have a weight below 1, so they stand for less than themselves.")
    return lines


def _print_formal(formal: Formal) -> None:
    k = int(formal.whole["k"])
    attributes = tuple(formal.attributes)
    for first in range(0, len(attributes), SIDE_BY_SIDE):
        names = attributes[first : first + SIDE_BY_SIDE]
        rows = [
            (figure.title, *(_formal(formal, attribute, name) for attribute in names))
            for name, figure in SENSITIVE.items()
            if any(name in formal.attributes[attribute] for attribute in names)
        ]
        if rows:
            print_table(f"Formal models on the classes (k = {k:,})", ("model and figure", *names), rows)
    if any(math.isinf(value) for values in formal.attributes.values() for value in values.values()):
        typer.echo("  none: no parameter will do; some class lacks a value, or tells too much of one.")
    reasons = {(figure, why): None for left in formal.left_out.values() for figure, why in left.items()}
    if crowded := [figure for figure, why in reasons if "unasked" in why]:
        typer.echo(f"  Too much to go through unasked: {', '.join(dict.fromkeys(crowded))}.")
    typer.echo()


def _formal(formal: Formal, attribute: str, name: str) -> str:
    value = formal.attributes[attribute].get(name)
    if value is None:
        return "—"
    return _number(value) if math.isfinite(value) else "none"


def _print_sensitivity(measured: Measured) -> None:
    rules = [str(rule) for rule in next(iter(measured.sensitivity.values())).rules]
    rows = [
        (name, f"{found.number:,}", f"{found.sensitive:,}", *(f"{found.by_rule[rule]:,}" for rule in rules))
        for name, found in measured.sensitivity.items()
    ]
    print_table("Linear sensitivity: groups whose sum tells too much", ("sum of", "groups", "sensitive", *rules), rows)
    if measured.no_numbers:
        typer.echo(f"  No numbers to add up: {', '.join(measured.no_numbers)}.\n")


def _print_usefulness(found: Usefulness, cells: Mapping[str, float]) -> None:
    shown = found.for_purpose
    title = "Usefulness"
    if found.purpose is None:
        shown = tuple(name for name in IN_SHORT if found.figures[name] is not None)
    else:
        use = USES[found.purpose]
        title = f"Usefulness: {use.title}. {use.needs}"
    rows = [
        (measure(name)[0], _number(cells[name]), better, measure(name)[1])
        for name, better in OF_CELLS.items()
        if name in cells
    ]
    rows += [
        (READINGS[name].title, _number(found.figures[name] or 0.0), f"{READINGS[name].better}", READINGS[name].meaning)
        for name in shown
    ]
    print_table(title, ("figure", "value", "better", "meaning"), rows)
    wanted = USES[found.purpose].figures if found.purpose is not None else ()
    for name in wanted:
        if name in found.reasons:
            typer.echo(f"  {READINGS[name].title}: {found.reasons[name]}.")
    for line in (*found.warnings, *found.notes):
        typer.echo(f"  {line[:1].upper()}{line[1:]}.")
    if found.purpose is None:
        typer.echo("  --purpose picks the figures that matter for a use; --json has all of them.")
    typer.echo()


def _print_verdicts(measured: Measured) -> None:
    if not measured.models:
        return
    verdicts = [
        (
            finding.name,
            f"{finding.required:g}",
            _number(finding.achieved) if math.isfinite(finding.achieved) else "none",
            "met" if finding.met else "NOT MET",
        )
        for finding in measured.models
    ]
    print_table("Required", ("figure", "required", "achieved", ""), verdicts)


def _print_lines(title: str, lines: Sequence[str]) -> None:
    typer.echo(title)
    for line in lines:
        typer.echo(f"  {line}")
    typer.echo()


def _number(value: float) -> str:
    return f"{0 if abs(value) < ROUNDING else value:,.4g}"


def _share(value: float) -> str:
    return f"{100 * value:.3g} %"
