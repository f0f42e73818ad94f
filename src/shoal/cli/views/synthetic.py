"""What ``shoal measure`` and ``shoal attack`` show of a synthetic release."""

from __future__ import annotations

import typer

from shoal.attack.result import LEVEL
from shoal.cli.terminal.flags import flag
from shoal.cli.terminal.output import print_table
from shoal.errors import styled
from shoal.measurement.fidelity import fidelity_readings
from shoal.results.attack_results import AttackResult
from shoal.results.number_format import NONE, count, percent, small
from shoal.results.synthesis import SyntheticAssessment, SyntheticTablesAssessment

_ATTACKS = ("attack", "on", "people", "strangers", "guessing", "difference, 95 %", "p", "verdict")
_WORST = 5


def print_fidelity(found: SyntheticAssessment) -> None:
    """The few figures that say most, what moved most, and what can be learned from it."""
    told = found.fidelity
    if told is None:
        return
    _print_tables(found)
    readings = fidelity_readings()
    shown = sorted((name for name in readings if readings[name].in_short), key=lambda name: readings[name].in_short)
    rows = []
    for name in shown:
        figure, chance = told.figures.get(name), told.figures.get(name.replace("_mean", "_chance"))
        value = told.reasons.get(name, NONE) if figure is None else small(figure)
        rows.append((readings[name].title, value, _chance(name, chance), readings[name].meaning))
    print_table("What it still tells", ("figure", "found", "by chance", "what it is"), rows)
    moved = sorted(told.columns.items(), key=lambda item: -(item[1].total_variation or 0.0))[:_WORST]
    print_table(
        "Columns that moved most",
        ("column", "kind", "in the wrong place", "by chance"),
        [(name, one.kind, _share(one.total_variation), _share(one.chance)) for name, one in moved],
    )
    if told.predictions:
        print_table(
            "Learning from it, tested on real records",
            ("predicted", "by", "from real", "from synthetic", "guessing"),
            [
                (one.target, one.score, *(_share(each) for each in (one.real, one.synthetic, one.baseline)))
                for one in told.predictions
            ],
        )
    for note in told.notes:
        typer.echo(styled(note, flag))


def print_tables_fidelity(found: SyntheticTablesAssessment) -> None:
    """How children hang on parents, then each table."""
    print_table(
        "Children per parent",
        ("children", "original", "synthetic", "moved"),
        [
            (
                f"{one.child} per {one.parent}",
                f"{one.original.mean:.2f}",
                f"{one.synthetic.mean:.2f}",
                small(one.total_variation),
            )
            for one in found.keys
        ],
    )
    for name, one in found.tables.items():
        typer.echo(f"\n{name}")
        print_fidelity(one)


def print_tables_attacks(found: SyntheticTablesAssessment) -> None:
    for name, one in found.tables.items():
        typer.echo(f"\n{name}")
        print_synthetic_attacks(one)


def print_synthetic_attacks(found: SyntheticAssessment) -> None:
    _print_tables(found)
    if found.attacks:
        print_table("Attacks", _ATTACKS, [_attack_row(each) for each in found.attacks])
    for name, reason in found.attacks_skipped.items():
        typer.echo(f"NOT JUDGED: {name}: {styled(reason, flag)}")
    if found.rows_control is None:
        typer.echo(
            "no control group: what is true of everybody can't be told from what the table gives away; --control"
        )
    left = len(found.attacks_unjudged)
    said = "no attack found more of the people than of strangers, or than guessing, within its interval"
    if found.found:
        said = f"{len(found.found)} of {count(len(found.attacks), 'attack')} found something"
    typer.echo(said + (f"; {left} could not be judged" if left else ""))
    if found.attacks:
        typer.echo(
            f"judged together: p adjusted for {count(len(found.attacks), 'attack')} (Holm), so that chance alone "
            f"finds anything in a safe table in at most {percent(LEVEL)} of cases"
        )


def _print_tables(found: SyntheticAssessment) -> None:
    control = "" if found.rows_control is None else f"; {count(found.rows_control, 'stranger')} to compare with"
    typer.echo(
        f"{count(found.rows_synthetic, 'synthetic record')} beside {found.rows_original:,} real ones in "
        f"{count(len(found.attributes), 'column')}{control}"
    )
    for name, reason in found.left_out.items():
        typer.echo(f"left out: {name}: {styled(reason, flag)}")


def _attack_row(attack: AttackResult) -> tuple[str, ...]:
    p = "<0.001" if attack.p_adjusted < 0.001 else f"{attack.p_adjusted:.3f}"
    return (
        attack.title,
        attack.attribute or "",
        percent(attack.success.share),
        NONE if attack.control is None else percent(attack.control.share),
        percent(attack.baseline.share),
        f"{100 * attack.excess.low:+.1f} to {100 * attack.excess.high:+.1f}",
        p,
        "FOUND: more than of strangers" if attack.found else "no more, within the interval",
    )


def _chance(name: str, chance: float | None) -> str:
    return small(chance) if name.endswith("_mean") and chance is not None else ""


def _share(value: float | None) -> str:
    return NONE if value is None else percent(value)
