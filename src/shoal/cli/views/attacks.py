"""What ``shoal attack`` shows: each attack against guessing and against strangers."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import typer

from shoal.attack import Attack, Rate
from shoal.attack.result import LEVEL
from shoal.cli.terminal.flags import flag
from shoal.cli.terminal.output import print_table
from shoal.errors import styled
from shoal.privacy import ModelFinding
from shoal.results.attack_report import AttackReport, in_words, share_tried
from shoal.results.manifest import Manifest
from shoal.results.number_format import count, percent, span

NOT_OF_PEOPLE = ("singling_out", "dictionary", "frequency", "read_back")
"""Attacks that are tried on predicates, codes or combinations."""
HEADER = ("attack", "on", "right", "95 % interval", "guessing", "strangers", "p", "verdict")


def print_attacks(report: AttackReport) -> None:
    known = ", ".join(report.roles.quasi) or "nothing"
    told = f", told apart by '{report.roles.person}'" if report.roles.person else ""
    typer.echo(f"{count(report.rows, 'record')}; the attacker knows of people{told}: {known}")
    if not report.roles.person:
        typer.echo("each record counts as a person; where people have several, --person NAME tells them apart")
    if report.done.attacks:
        print_table("Attacks", HEADER, [attack_row(attack) for attack in report.done.attacks])
    for name, reason in report.done.skipped.items():
        typer.echo(f"{'NOT JUDGED' if name in report.done.unjudged else 'not tried'}: {name}: {styled(reason, flag)}")
    for attack in report.done.attacks:
        if share := share_tried(attack):
            typer.echo(f"{attack.key} of {attack.attribute}: {share}")
    typer.echo(sample_line(report.done.attacks, report.everybody), nl=False)
    _print_doubts(report)
    done, found, unjudged = report.done.attacks, report.done.found, len(report.done.unjudged)
    if found:
        said = f"{len(found)} of {count(len(report.done.attacks), 'attack')} found something"
    else:
        by_k = ", or than groups of their size tell whatever is in them" if any(one.allowed for one in done) else ""
        said = f"no attack found more than guessing, or than what is true of strangers{by_k}, within its interval"
    typer.echo(said + (f"; {unjudged} could not be judged" if unjudged else ""))
    if report.done.attacks:
        typer.echo(
            f"judged together: p adjusted for {count(len(report.done.attacks), 'attack')} (Holm), so that chance alone "
            f"finds anything in a safe release in at most {percent(LEVEL)} of cases"
        )


def sample_line(attacks: Sequence[Attack], everybody: int) -> str:
    """That an attack was tried on some of the people only, and on how many; nothing where on all.

    >>> one = Attack("linkability", "Linking two files", "", Rate(3, 200), Rate(1, 200), attribute="age")
    >>> sample_line([one], 1000)
    'a sample was drawn: of 1,000 people linkability tried 200 (--trials: at most, and fewer of large tables)\\n'
    >>> sample_line([one], 200)
    ''
    """
    tried = {one.key: one.success.trials for one in attacks if one.key not in NOT_OF_PEOPLE}
    fewer = ", ".join(f"{key} tried {trials:,}" for key, trials in tried.items() if trials < everybody)
    said = f"a sample was drawn: of {everybody:,} people {fewer} (--trials: at most, and fewer of large tables)\n"
    return said if fewer else ""


def _print_doubts(report: AttackReport) -> None:
    """What makes the attacks weaker than they could be, or their verdict doubtful."""
    if report.unread:
        typer.echo(
            f"{count(report.unread, 'label')} can't be read without the hierarchies, which makes the attacker weak: "
            "give --policy"
        )
    if report.doubtful:
        typer.echo(f"only {percent(report.fitting)} of the people fit any record: do the tables belong together?")
    if any(attack.left_out for attack in report.done.attacks):
        typer.echo("* the same people with their own records left out, in place of strangers")
    if not report.control:
        typer.echo(
            "no control group: what is true of the whole population may go unjudged; --control DATA gives people who "
            "are not in the data"
        )


def print_evidence(manifest: Manifest, table: str | None = None) -> None:
    """What the attacks of `run --evidence` came to: one line for each that found something, or might."""
    whose = "" if table is None else f"{table}: "
    tried, unjudged = manifest.attacks, manifest.attacks_unjudged or ()
    if tried is None:
        return
    for one in tried:
        if one.found:
            on = f" of {one.attribute}" if one.attribute else ""
            against = f"{percent(one.success.share)} right, {percent(one.limit)} by the yardstick"
            typer.echo(f"FOUND: {whose}{one.title}{on}: {against}")
    for name in unjudged:
        typer.echo(f"NOT JUDGED: {whose}{name}: {styled((manifest.attacks_skipped or {})[name], flag)}")
    found = sum(one.found for one in tried)
    left = f"; {len(unjudged)} could not be judged" if unjudged else ""
    typer.echo(f"attacks:  {whose}{len(tried)} tried, {found or 'none'} found something{left}")


def evidence_findings(manifest: Manifest) -> tuple[ModelFinding, ...]:
    """For `run --safe`: that no attack gets more than its yardstick, or might."""
    if manifest.attacks is None:
        return (ModelFinding("attacks on the release", 0, inf, met=False),)
    judged = [
        ModelFinding(
            one.attack + (f" of {one.attribute}" if one.attribute else ""), one.limit, one.success.share, not one.found
        )
        for one in manifest.attacks
    ]
    unjudged = manifest.attacks_unjudged or ()
    return (*(ModelFinding(f"{name}: what it finds", 0, inf, met=False) for name in unjudged), *judged)


def attack_row(attack: Attack) -> tuple[str, ...]:
    return (
        attack.title,
        attack.attribute or "",
        _rate(attack.success),
        span(*attack.success.interval),
        _rate(attack.baseline),
        "" if attack.control is None else _rate(attack.control) + ("*" if attack.left_out else ""),
        _p(attack),
        ("FOUND: " if attack.found else "") + in_words(attack),
    )


def _p(attack: Attack) -> str:
    p = attack.p_value if attack.adjusted is None else attack.adjusted
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def _rate(rate: Rate) -> str:
    return percent(rate.share)
