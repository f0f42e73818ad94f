"""What people see of single records: special uniques, the risk of a sample, uniques of the population, rare cells."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.cli.terminal.figures import number, print_lines, share
from shoal.cli.terminal.output import print_table
from shoal.measurement.risk.global_risk import GlobalRisk
from shoal.measurement.risk.individual_risk import SampleRisk
from shoal.measurement.risk.suda import Suda
from shoal.measurement.risk.unsafe_combinations import UnsafeTable, by_size
from shoal.results.risk_assessment import FractionBasis, LogLinearRisk, RiskAssessment, SamplingFraction

MODELS = {"dankar": "Dankar's rule", "pitman": "Pitman", "zayatz": "Zayatz", "snb": "negative binomial"}
"""Of uniques in the population."""
SHARES = {
    FractionBasis.SAID: "as was said",
    FractionBasis.SIZE: "by the size of the population",
    FractionBasis.TABLE: "by the table of the population",
    FractionBasis.WEIGHTS: "by the weights",
    FractionBasis.SUPPOSED: "supposed: nothing is known of the population",
}

CAUTION = "Both are models and no bounds: where they differ, the higher figure is the cautious one."


def print_records(assessed: RiskAssessment) -> None:
    """One section for each thing that was asked."""
    if assessed.special is not None and assessed.share is not None:
        print_lines("Special uniques (SUDA2)", _special(assessed.special, assessed.share))
    if assessed.sample is not None:
        print_lines("Risk of a sample file", _sample(assessed.sample))
    if assessed.log_linear is not None:
        print_lines("Uniques that are unique in the population too (log-linear models)", _models(assessed.log_linear))
    if assessed.unsafe:
        _print_unsafe(assessed.unsafe)
    if assessed.population_uniques is not None:
        given = ", ".join(
            f"{MODELS.get(model, model)} {'no estimate' if estimate is None else f'{estimate:,.1f}'}"
            for model, estimate in assessed.population_uniques.items()
        )
        print_lines("People unique in the population, estimated", [given])


def _special(found: Suda, drawn: SamplingFraction) -> list[str]:
    summary = found.summary()
    if not summary["scored"]:
        return ["No record is singled out by any of the quasi-identifiers."]
    above = ", ".join(f"{many:,} above {limit}" for limit, many in summary["dis_above"].items() if many)
    shares = sorted(summary["attributes"].items(), key=lambda item: -item[1])
    sizes = ", ".join(f"{many:,} with {size}" for size, many in summary["minimal_uniques"].items() if many)
    highest = "; ".join(filter(None, (number(summary["dis_max"]), above)))
    unsaid = "The larger the share, the higher the chance: say it with --sampling-fraction or --population-size."
    return [
        f"{summary['scored']:,} of {summary['records']:,} records are singled out; the highest score is "
        f"{summary['score_max']:g}.",
        f"Chance that a match is right (DIS-SUDA): at most {highest}.",
        f"That is for a sample of {share(drawn.fraction)} of the population, {SHARES[drawn.known]}.",
        *([unsaid] if drawn.known is FractionBasis.SUPPOSED else []),
        f"Smallest sets of attributes that single a record out: {sizes}.",
        f"Share of the scores: {', '.join(f'{name} {part:.0f} %' for name, part in shares)}.",
    ]


def _sample(found: SampleRisk) -> list[str]:
    lines = [
        f"{found.expected:,.2f} of {found.records:,} records are expected to be re-identified "
        f"({share(found.share)}); the highest risk of one is {number(found.highest)}.",
        f"{found.uniques:,} have a combination of their own, {found.pairs:,} share it with one other.",
    ]
    if found.expected_in_households is not None:
        part = share(found.share_in_households or 0.0)
        lines.append(f"With their households: {found.expected_in_households:,.2f} ({part}).")
    if found.light_weights:
        lines.append(f"{found.light_weights:,} have a weight below 1, so they stand for less than themselves.")
    return lines


def _models(found: LogLinearRisk) -> list[str]:
    lines = [
        f"{found.independent.uniques:,} of {found.independent.records:,} records have a combination of their own.",
        f"Attributes taken as independent: {_expected(found.independent)}.",
    ]
    if found.pairs is None:
        return [*lines, f"With all pairs of attributes: no figure, as {found.left_out}."]
    return [*lines, f"With all pairs of attributes: {_expected(found.pairs)}.", CAUTION]


def _expected(found: GlobalRisk) -> str:
    return (
        f"{number(found.population_uniques)} expected to be alone there, "
        f"{number(found.expected_matches)} to be matched rightly ({share(found.share)})"
    )


def _print_unsafe(tables: Sequence[UnsafeTable]) -> None:
    summed = by_size(tables)
    title = f"Unsafe combinations: cells with {tables[0].threshold:,} records or fewer"
    header = ("attributes", "tables", "with unsafe cells", "unsafe cells", "most records in them", "by")
    rows = [
        (
            f"{size.keys}",
            f"{size.tables:,}",
            f"{size.unsafe_tables:,}",
            f"{size.unsafe_cells:,}",
            f"{size.worst.unsafe_records:,}",
            ", ".join(size.worst.keys) if size.worst.unsafe_records else "",
        )
        for size in summed
    ]
    print_table(title, header, rows)
