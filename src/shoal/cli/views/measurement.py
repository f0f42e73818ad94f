"""What people see of a measured table: one section per question, the verdicts last."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import typer

from shoal.cli.terminal.figures import number, print_lines, share
from shoal.cli.terminal.output import print_table
from shoal.cli.views.single_records import print_records
from shoal.measurement.formal_models import SENSITIVE, FormalFigures
from shoal.measurement.risk.attacker_risks import Attackers, Basis
from shoal.measurement.usefulness import USES, Usefulness, figures_for, figures_in_short, readings
from shoal.privacy import ModelFinding
from shoal.report.wording import measure
from shoal.results.measured_table import CellFigures, MeasuredTable
from shoal.results.record_counts import CountBasis

OF_CELLS = {"loss": "lower", "detail_kept": "higher", "precision": "higher", "entropy_lost": "lower"}
"""Figures of the quasi-identifying cells, and which way is better."""
ALONE = {
    CountBasis.PEOPLE: "people alone in their class",
    CountBasis.AT_LEAST: "people alone in their class, at most",
    CountBasis.RECORDS: "records alone in their class",
}
ABOVE = {CountBasis.PEOPLE: "people above", CountBasis.AT_LEAST: "people above", CountBasis.RECORDS: "records above"}
COUNTED = {
    CountBasis.PEOPLE: "Sizes are counted in people",
    CountBasis.AT_LEAST: "Sizes are the fewest people that the manifest leaves room for, so risks are upper bounds; "
    "--original\n  DATA counts people",
    CountBasis.RECORDS: "Each record counts as one person",
}
NOTED = {
    "propensity": ("pmse",),
    "count error": ("query_error",),
    "count error, mean": ("query_error_mean",),
    "count error, typical": ("query_error_median",),
    "learning": ("learning", "accuracy", "balanced_accuracy", "f1", "r2"),
}
"""The figures that a note is about, by how they begin."""
SIDE_BY_SIDE = 4
"""Sensitive attributes in one table."""


def print_measurement(measured: MeasuredTable) -> None:
    _print_classes(measured)
    _print_attackers(measured)
    if measured.assessed is not None and measured.assessed.assessment is not None:
        print_lines("Probability of re-identification (PDPC guide, annex D)", measured.assessed.assessment.words)
    if measured.assessed is not None and (reason := measured.assessed.not_assessed):
        print_lines("No verdict", (f"{reason[:1].upper()}{reason[1:]}.",))
    if measured.assessed is not None:
        print_records(measured.assessed)
    if measured.formal is not None and measured.formal.attributes:
        _print_formal(measured.formal)
    if measured.sensitivity:
        _print_sensitivity(measured)
    if measured.usefulness is not None:
        _print_usefulness(measured.usefulness, measured.cells)
    _print_verdicts(measured)


def _print_classes(measured: MeasuredTable) -> None:
    figures = measured.to_dict()
    size, risk = figures["class_size"], figures["risk"]
    rows = [
        ("records", f"{figures['rows']:,}"),
        ("suppressed records", f"{figures['suppressed']:,}"),
        ("classes", f"{figures['classes']:,}"),
        ("class size", f"{size['min']:,} to {size['max']:,}, {size['average']:,.4g} on average"),
        ("k", _beside(risk, figures.get("risk_before"), "k")),
        *_effective(risk),
        (ALONE[measured.counted], _beside(risk, figures.get("risk_before"), "uniques")),
    ]
    if "k_by_value" in risk:
        rows.append(("k, a missing cell being a value", f"{risk['k_by_value']:,}"))
    print_table("Classes", ("figure", "value"), rows)
    typer.echo(f"  {COUNTED[measured.counted]}.\n")


def _beside(risk: Mapping[str, int], before: Mapping[str, int] | None, name: str) -> str:
    return f"{risk[name]:,}" if before is None else f"{risk[name]:,} ({before[name]:,} before)"


def _print_attackers(measured: MeasuredTable) -> None:
    if measured.assessed is None:
        return
    found, before = measured.assessed.attackers, measured.attackers_before
    header = ["attacker", "highest risk", "average", "strict average", f"{ABOVE[measured.counted]} {found.threshold:g}"]
    rows = _attackers(found)
    if before is not None:
        header += ["highest before", "average before", "above before"]
        rows = [
            [*now, *(then[place] for place in (1, 2, 4))] for now, then in zip(rows, _attackers(before), strict=True)
        ]
    print_table("Risk", header, rows)
    typer.echo(f"  Journalist and marketer: {found.basis.words}.")
    by_stars = measured.measurement.risk.prosecutor_max
    if by_stars != found.prosecutor.max:
        typer.echo(f"  Where a missing cell matches any value, the highest risk is {number(by_stars)}.")
    if found.basis is Basis.ESTIMATE:
        typer.echo("  The journalist's highest risk is an expected value; --require journalist_max stays with 1 ÷ k.")
    if found.beyond:
        typer.echo(f"  {found.beyond:,} classes have more people here than in the population.")
    typer.echo()


def _attackers(found: Attackers) -> list[list[str]]:
    single = {"prosecutor": found.prosecutor, "journalist": found.journalist}
    rows = [
        [name, number(risk.max), number(risk.average), number(risk.strict_average), share(risk.above)]
        for name, risk in single.items()
    ]
    return [*rows, ["marketer", "", number(found.marketer), "", ""]]


def _print_formal(formal: FormalFigures) -> None:
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


def _formal(formal: FormalFigures, attribute: str, name: str) -> str:
    value = formal.attributes[attribute].get(name)
    if value is None:
        return "—"
    return number(value) if math.isfinite(value) else "none"


def _print_sensitivity(measured: MeasuredTable) -> None:
    rules = [str(rule) for rule in next(iter(measured.sensitivity.values())).rules]
    rows = [
        (name, f"{found.number:,}", f"{found.sensitive:,}", *(f"{found.by_rule[rule]:,}" for rule in rules))
        for name, found in measured.sensitivity.items()
    ]
    print_table("Linear sensitivity: groups whose sum tells too much", ("sum of", "groups", "sensitive", *rules), rows)
    if measured.no_numbers:
        typer.echo(f"  No numbers to add up: {', '.join(measured.no_numbers)}.\n")


def _print_usefulness(found: Usefulness, cells: CellFigures) -> None:
    shown = found.for_purpose
    title = "Usefulness"
    if found.purpose is None:
        shown = tuple(name for name in figures_in_short() if found.figures[name] is not None)
    else:
        use = USES[found.purpose]
        title = f"Usefulness: {use.title}. {use.needs}"
    known = readings()
    rows = [
        (measure(name)[0], number(cells.figures[name]), better, measure(name)[1])
        for name, better in OF_CELLS.items()
        if name in cells.figures
    ]
    rows += [
        (known[name].title, number(found.figures[name] or 0.0), f"{known[name].better}", known[name].meaning)
        for name in shown
    ]
    print_table(title, ("figure", "value", "better", "meaning"), rows)
    missing = [name for name in OF_CELLS if name in cells.reasons]
    if missing:
        named = ", ".join(measure(name)[0].lower() for name in missing)
        typer.echo(f"  No {named}: {cells.reasons[missing[0]]}.")
    wanted = figures_for(found.purpose) if found.purpose is not None else ()
    for name in wanted:
        if name in found.reasons:
            typer.echo(f"  {known[name].title}: {found.reasons[name]}.")
    for line in (*found.warnings, *(note for note in found.notes if _of_any(note, shown))):
        typer.echo(f"  {line[:1].upper()}{line[1:]}.")
    if found.purpose is None:
        typer.echo("  --purpose picks the figures that matter for a use; --json has all of them.")
    typer.echo()


def _of_any(note: str, shown: Sequence[str]) -> bool:
    """Whether a note is of a figure that is shown, or of none in particular."""
    of = NOTED.get(note.partition(":")[0])
    return of is None or any(name.startswith(of) for name in shown)


def _effective(risk: Mapping[str, int | None]) -> list[tuple[str, str]]:
    """k with what other columns tell, where an original or a manifest says what was taken out."""
    left = risk.get("k_effective")
    return [] if left is None else [("k with what other columns tell", f"{left:,}")]


def print_verdicts(findings: Sequence[ModelFinding]) -> None:
    verdicts = [
        (
            finding.name,
            f"{finding.required:g}",
            _achieved(finding.achieved),
            "met" if finding.met else "NOT MET",
        )
        for finding in findings
    ]
    print_table("Required", ("figure", "required", "achieved", ""), verdicts)


def _print_verdicts(measured: MeasuredTable) -> None:
    if not measured.models:
        return
    print_verdicts(measured.models)
    for name, why in measured.not_measured.items():
        typer.echo(f"  {name} can't be measured: {why}.")


def _achieved(figure: float) -> str:
    if math.isnan(figure):
        return "not measured"
    return number(figure) if math.isfinite(figure) else "none"
