"""The report of a synthetic table: what is and is not guaranteed, how alike it is, that nobody was copied.

Both editions are made from the manifest alone. The recipient's is given no figure that the source had to be asked for
where a budget was kept to, and of others only a few that say what the table is good for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from shoal.errors import BugError
from shoal.measurement.fidelity import fidelity_readings
from shoal.report.heat_map import HeatMap, heat_map
from shoal.report.page import LabelledRow, rule_rows
from shoal.report.sections import environment
from shoal.report.small_multiples import DistributionChart, distribution, interval, reach
from shoal.report.summary import KeyFigure
from shoal.report.synthetic.wording import (
    figure_place,
    figure_reading,
    figure_words,
    is_main,
    is_partly_real,
    synthetic_limits,
    synthetic_verdict,
)
from shoal.report.wording import ReportVerdict
from shoal.results.attack_results import AttackResult
from shoal.results.evidence_facts import DistributionFacts
from shoal.results.manifest import Manifest
from shoal.results.number_format import NONE, count, moment, number, percent
from shoal.results.synthesis import ColumnFidelityResult, FidelityResult
from shoal.results.synthesis.synthesis_result import AttackedTable, SynthesisResult

MOST_COLUMNS: Final = 60
"""Columns whose distributions are drawn; the least alike come first where there are more."""
_FOR_RECIPIENTS: Final = ("tv1_mean", "tv2_mean", "prediction_kept")
_TITLES: Final = {
    "warnings": "Warnings",
    "promises": "What is guaranteed, and what is not",
    "alike": "How alike the tables are",
    "columns": "Every column, original and synthetic",
    "pairs": "What goes together",
    "predictions": "Learning from it",
    "attacks": "Nobody is copied",
    "structure": "What was kept, and how that is known",
    "rules": "Edit rules",
    "limits": "Limits of the evidence",
    "provenance": "Provenance",
}


@dataclass(frozen=True)
class FidelityLine:
    """A figure with what it means for a reader who has never heard of it."""

    title: str
    meaning: str
    value: str
    within: str = ""
    """Its 95 % interval."""
    reading: str = ""
    """The same in two or three words."""
    chance: str = ""
    """What a second sample of the same people would come to."""
    main: bool = True


@dataclass(frozen=True)
class PredictionLine:
    target: str
    score: str
    real: str
    synthetic: str
    baseline: str
    kept: str


@dataclass(frozen=True)
class AttackLine:
    attack: AttackResult
    drawing: Any


@dataclass(frozen=True)
class SyntheticPage:
    recipient: bool
    name: str
    method: str
    created: str
    created_iso: str
    partly_real: bool
    records: str
    verdict: ReportVerdict
    figures: tuple[KeyFigure, ...]
    guaranteed: tuple[str, ...]
    not_guaranteed: tuple[str, ...]
    warnings: tuple[str, ...]
    alike: tuple[FidelityLine, ...]
    notes: tuple[str, ...]
    columns: tuple[DistributionChart, ...]
    columns_left_out: str
    pairs: HeatMap | None
    predictions: tuple[PredictionLine, ...]
    attacks: tuple[AttackLine, ...]
    attacks_end: str
    attacked: str
    """What was attacked, in a sentence."""
    skipped: tuple[str, ...]
    withstood: tuple[str, ...]
    """The kinds of attack, if none of them found anything; the recipient's edition only."""
    shapes: tuple[tuple[str, str, str], ...]
    """Column, what it is drawn as, declared or found."""
    constraints: tuple[tuple[str, str], ...]
    rules: tuple[LabelledRow[str], ...]
    limits: tuple[str, ...]
    provenance: tuple[tuple[str, str], ...]
    titles: Mapping[str, str]
    """The sections that the page has, in order, by their id."""


def render_synthetic(manifest: Manifest, *, recipient: bool = False) -> str:
    """The report as one HTML file that asks the network for nothing."""
    page = compose_synthetic(manifest, recipient=recipient)
    return environment().get_template("synthetic.html.j2").render(page=page)


def synthetic_pages(manifest: Manifest) -> dict[str, str]:
    """Both editions, by the names of their files."""
    return {
        "report.html": render_synthetic(manifest),
        "recipient.html": render_synthetic(manifest, recipient=True),
    }


def compose_synthetic(manifest: Manifest, *, recipient: bool) -> SyntheticPage:
    shown = manifest.published() if recipient else manifest
    made, fidelity = shown.synthesis or SynthesisResult(), shown.fidelity
    if shown.created is None:
        raise BugError("a report of a release that does not say when it was made")
    attacks = () if recipient else shown.attacks or ()
    end = reach(attacks)
    columns, left_out = _columns(None if recipient else fidelity)
    page = SyntheticPage(
        recipient=recipient,
        name=shown.name,
        method=shown.method or "",
        created=moment(shown.created),
        created_iso=shown.created.isoformat(timespec="seconds"),
        partly_real=is_partly_real(shown),
        records=count(shown.data.rows or 0, "partly synthetic record" if is_partly_real(shown) else "synthetic record"),
        verdict=synthetic_verdict(shown, recipient=recipient),
        figures=tuple(_key_figures(shown)),
        guaranteed=made.guaranteed,
        not_guaranteed=made.not_guaranteed,
        warnings=() if recipient else shown.warnings,
        alike=tuple(_alike(fidelity, recipient=recipient)),
        notes=() if recipient or fidelity is None else fidelity.notes,
        columns=columns,
        columns_left_out=left_out,
        pairs=None if recipient or fidelity is None else heat_map(fidelity.pairs),
        predictions=() if recipient else tuple(_predictions(fidelity)),
        attacks=tuple(AttackLine(one, interval(one, end)) for one in attacks),
        attacks_end=percent(end),
        attacked=_attacked(made),
        skipped=() if recipient else tuple(f"{key.replace('_', ' ')}: {why}" for key, why in _skipped(shown)),
        withstood=_withstood(shown) if recipient else (),
        shapes=tuple(_shapes(made)),
        constraints=tuple(_constraints(made)),
        rules=() if recipient else rule_rows(shown.rules),
        limits=synthetic_limits(shown),
        provenance=tuple(_provenance(shown, recipient=recipient)),
        titles={},
    )
    return replace(page, titles={key: title for key, title in _TITLES.items() if _is_shown(page, key)})


def _is_shown(page: SyntheticPage, key: str) -> bool:
    """A section is there where the page holds something for it."""
    held = {
        "promises": page.guaranteed or page.not_guaranteed,
        "attacks": page.attacks or page.withstood or page.skipped,
        "structure": page.shapes,
    }
    return bool(held[key] if key in held else getattr(page, key))


def _key_figures(manifest: Manifest) -> Iterator[KeyFigure]:
    budget, fidelity = manifest.differential_privacy, manifest.fidelity
    if budget is None:
        yield KeyFigure("Formal guarantee", "none", "attacks are all that speaks for it")
    else:
        yield KeyFigure(
            "Formal guarantee", f"ε = {number(budget.epsilon)}", f"δ = {budget.delta:g}, for each {budget.unit}"
        )
    made = manifest.synthesis or SynthesisResult()
    replaced = made.replaced
    if replaced is not None:
        cells = len(made.shapes) * (manifest.data.rows or 0)
        share = NONE if not cells else percent(sum(replaced.values()) / cells)
        yield KeyFigure("Drawn anew", share, f"of all cells, in {count(len(replaced), 'column')}; the rest is real")
    figures = {} if fidelity is None else fidelity.figures
    for name, label in (("tv1_mean", "Columns alike"), ("tv2_mean", "Pairs of columns alike")):
        if (value := figures.get(name)) is not None:
            chance = figures.get(name.replace("mean", "chance"))
            note = "" if chance is None else f"a second sample of the same people: {percent(1 - chance)}"
            yield KeyFigure(label, percent(1 - value), note or "share of records in the right place, on average")
    copies = next((one for one in manifest.attacks or () if one.attack == "copies"), None)
    if copies is not None:
        told = "" if copies.control is None else f"of people who were not learnt from: {percent(copies.control.share)}"
        yield KeyFigure("Real records that reappear", percent(copies.success.share), told)


def _alike(fidelity: FidelityResult | None, *, recipient: bool) -> Iterator[FidelityLine]:
    """What matters most first; parts of other figures not by themselves."""
    if fidelity is None:
        return
    readings, figures = fidelity_readings(), fidelity.figures
    for name in sorted(readings, key=figure_place):
        value = figures.get(name)
        if value is None or name.endswith(("_chance", "_low", "_high")) or (recipient and name not in _FOR_RECIPIENTS):
            continue
        chance = figures.get(name.replace("_mean", "_chance")) if name.endswith("_mean") else None
        low, high = (figures.get(f"{name}_{end}") for end in ("low", "high"))
        within = "" if low is None or high is None else f"{low:.3f} to {high:.3f}"
        title, meaning = figure_words(name, readings[name].title, readings[name].meaning)
        yield FidelityLine(
            title,
            meaning,
            f"{value:.3f}",
            within,
            figure_reading(name, value, chance),
            chance="" if chance is None else f"{chance:.3f}",
            main=is_main(name),
        )


def _columns(fidelity: FidelityResult | None) -> tuple[tuple[DistributionChart, ...], str]:
    if fidelity is None:
        return (), ""
    drawn = [(name, one) for name, one in fidelity.columns.items() if one.bars]
    if len(drawn) > MOST_COLUMNS:
        drawn.sort(key=lambda item: -(item[1].total_variation or 0))
    left_out = f"{count(len(drawn) - MOST_COLUMNS, 'column')} more, which are more alike than these."
    charts = tuple(
        distribution(
            DistributionFacts(
                name=name,
                kind=" · ".join(_about(one)),
                suppressed=0.0,
                bars=tuple((bar.label, bar.original, bar.synthetic) for bar in one.bars),
                distances=(),
            )
        )
        for name, one in drawn[:MOST_COLUMNS]
    )
    return charts, left_out if len(drawn) > MOST_COLUMNS else ""


def _about(column: ColumnFidelityResult) -> Iterator[str]:
    yield column.kind
    if column.total_variation is not None:
        yield f"{percent(column.total_variation)} of records in the wrong place"
    if column.missing_original or column.missing_synthetic:
        yield f"missing: {percent(column.missing_original)}, synthetic {percent(column.missing_synthetic)}"


def _predictions(fidelity: FidelityResult | None) -> Iterator[PredictionLine]:
    for one in () if fidelity is None else fidelity.predictions:
        real, synthetic, baseline = (
            NONE if each is None else f"{each:.3f}" for each in (one.real, one.synthetic, one.baseline)
        )
        score = {"accuracy": "right predictions", "r2": "explained variance, R²"}.get(one.score, one.score)
        kept = NONE if one.kept is None else percent(one.kept)
        yield PredictionLine(one.target, score, real, synthetic, baseline, kept)


def _attacked(made: SynthesisResult) -> str:
    if made.attacked is AttackedTable.RELEASE:
        return "The released table was attacked. The control group are people who are not in the source."
    if made.attacked is AttackedTable.REHEARSAL:
        return (
            "The released model has learnt from everybody, so nobody is left to compare with. Therefore the same "
            "method learnt once more from a random half of the people, and a table drawn from that was attacked, with "
            "the other half as control group. A model of half the people tells more of each, so these figures lean to "
            "the safe side."
        )
    return "Nothing was attacked."


def _skipped(manifest: Manifest) -> Iterator[tuple[str, str]]:
    yield from (manifest.attacks_skipped or {}).items()


def _withstood(manifest: Manifest) -> tuple[str, ...]:
    """All kinds of attack or none: what is missing from a list would be a hint at what to try."""
    attacks = manifest.attacks or ()
    if manifest.attacks_unjudged or any(one.found for one in attacks):
        return ()
    return tuple(dict.fromkeys(one.title for one in attacks))


def _shapes(made: SynthesisResult) -> Iterator[tuple[str, str, str]]:
    for name, shape in made.shapes.items():
        if "generator" in shape:
            yield name, f"{str(shape['generator']).replace('_', ' ')}: {shape.get('because', '')}", "declared"
            continue
        words = [_KINDS.get(str(shape.get("kind")), str(shape.get("kind")))]
        if shape.get("special"):
            words.append("special codes kept apart")
        if shape.get("zero_inflated"):
            words.append("zeros kept apart")
        yield name, ", ".join(words), str(shape.get("origin", "declared"))


_KINDS: Final = {
    "whole": "whole numbers",
    "decimal": "numbers with decimals",
    "date": "dates",
    "datetime": "dates with time",
    "boolean": "yes or no",
    "category": "categories",
    "ordered": "categories in order",
    "identifier": "identifiers, numbered anew",
    "text": "free text, left empty",
}


def _constraints(made: SynthesisResult) -> Iterator[tuple[str, str]]:
    for kind, rules in made.constraints.items():
        for rule in rules if isinstance(rules, list | tuple) else ():
            origin = str(rule.get("origin", "declared"))
            if kind == "dependencies":
                yield f"{rule['dependent']} follows from {rule['determinant']}", origin
            elif kind == "inequalities":
                yield f"{rule['lower']} is at most {rule['upper']}", origin
            elif kind == "sums":
                yield f"{rule['total']} is the sum of {', '.join(rule['parts'])}", origin
            elif kind == "unique":
                yield f"{rule['column']} is unique", origin


def _provenance(manifest: Manifest, *, recipient: bool) -> Iterator[tuple[str, str]]:
    yield "Released file", manifest.data.path
    yield "SHA-256 of the file", manifest.data.sha256 or ""
    yield "Method", manifest.method or ""
    if recipient:
        yield "Made by", f"shoal {manifest.shoal}"
        return
    for file in manifest.files:
        yield f"Beside it, {file.path}", f"{file.about}; SHA-256 {file.sha256}"
    if manifest.source is not None:
        yield "Source", manifest.source.name
        yield "SHA-256 of the source", manifest.source.sha256
    others = (f"{name} {version}" for name, version in (manifest.versions or {}).items() if name != "shoal")
    yield "Made by", ", ".join((f"shoal {manifest.shoal}", *others))
