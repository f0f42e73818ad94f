"""What ``shoal attack`` shows: each attack against guessing and against strangers."""

from __future__ import annotations

import typer

from shoal.attack import Attack, Rate
from shoal.cli.output import print_table
from shoal.release.attack_report import AttackReport, in_words, share_tried
from shoal.report.figures import count, percent

HEADER = ("attack", "on", "right", "95 % interval", "guessing", "strangers", "verdict")


def print_attacks(report: AttackReport) -> None:
    known = ", ".join(report.roles.quasi) or "nothing"
    told = f", told apart by '{report.roles.person}'" if report.roles.person else ""
    typer.echo(f"{count(report.rows, 'record')}; the attacker knows of people{told}: {known}")
    if not report.roles.person:
        typer.echo("each record counts as a person; where people have several, --person NAME tells them apart")
    if report.done.attacks:
        print_table("Attacks", HEADER, [attack_row(attack) for attack in report.done.attacks])
    for name, reason in report.done.skipped.items():
        typer.echo(f"{'NOT JUDGED' if name in report.done.unjudged else 'not tried'}: {name}: {reason}")
    for attack in report.done.attacks:
        if share := share_tried(attack):
            typer.echo(f"{attack.key} of {attack.attribute}: {share}")
    if report.unread:
        typer.echo(
            f"{count(report.unread, 'label')} can't be read without the hierarchies, which makes the attacker weak: "
            "give --policy"
        )
    if report.doubtful:
        typer.echo(f"only {percent(report.fitting)} of the people fit any record: do the tables belong together?")
    if not report.control:
        typer.echo(
            "no control group: what is true of the whole population counts as found; --control DATA gives people who "
            "are not in the data"
        )
    found, unjudged = report.done.found, len(report.done.unjudged)
    if found:
        said = f"{len(found)} of {count(len(report.done.attacks), 'attack')} found something"
    else:
        said = "no attack found more than guessing, or than what is true of strangers, within its interval"
    typer.echo(said + (f"; {unjudged} could not be judged" if unjudged else ""))


def attack_row(attack: Attack) -> tuple[str, ...]:
    low, high = attack.success.interval
    return (
        attack.title,
        attack.attribute or "",
        _rate(attack.success),
        f"{percent(low)} to {percent(high)}",
        _rate(attack.baseline),
        "" if attack.control is None else _rate(attack.control),
        ("FOUND: " if attack.found else "") + in_words(attack),
    )


def _rate(rate: Rate) -> str:
    return percent(rate.share)
