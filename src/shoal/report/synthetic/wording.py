"""The words of a synthetic table's report: verdict, figures in plain language, limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from shoal.report.wording import ReportVerdict
from shoal.results.manifest import GuaranteeResult, Manifest
from shoal.results.number_format import number

LAX: Final = 10.0
"""From this ε on, a guarantee hardly bounds anything by itself."""
_MEANINGS: Final = {
    "tv1_mean": ("Single columns", "Share of records with a value too many or too few of, on average over columns."),
    "tv2_mean": ("Pairs of columns", "The same for all combinations of two columns."),
    "tv3_mean": ("Triples of columns", "The same for combinations of three columns."),
    "pmse_ratio": (
        "Propensity (pMSE ratio)",
        "How well a simple model tells synthetic from real records, against chance: 1 is no better.",
    ),
    "c2st_auc": (
        "Telling them apart",
        "How well trees tell synthetic from real records: 0.5 is guessing, 1 is always.",
    ),
    "prediction_kept": (
        "Learning from it",
        "Of what can be learnt from the original, the part that the synthetic table teaches: 1 is all.",
    ),
    "query_error_median": (
        "Typical questions",
        "Counts of random groups, asked of both tables: half of them are at most this share off.",
    ),
}


def figure_words(name: str, title: str, meaning: str) -> tuple[str, str]:
    """In the words of everyday where there are some, else as the measure says it."""
    return _MEANINGS.get(name, (title, meaning))


_STEPS: Final[Mapping[str, tuple[tuple[float, str], ...]]] = {
    "pmse_ratio": ((3.0, "hardly told apart"), (10.0, "told apart a little")),
    "c2st_auc": ((0.6, "hardly told apart"), (0.75, "told apart a little")),
    "query_error_median": ((0.01, "close"), (0.05, "fair")),
}
"""Up to which value a figure is called what; beyond the last, by the words of ``_BEYOND``."""
_BEYOND: Final = {"pmse_ratio": "easily told apart", "c2st_auc": "easily told apart", "query_error_median": "far off"}
_LEARNT: Final = ((0.9, "nearly all is kept"), (0.5, "a part is kept"))


def figure_reading(name: str, value: float, chance: float | None) -> str:
    """What a figure says, in two or three words; empty where there are none.

    >>> figure_reading("tv2_mean", 0.03, 0.04), figure_reading("c2st_auc", 0.96, None)
    ('as close as a second sample', 'easily told apart')
    """
    if name in _STEPS:
        return next((words for bound, words in _STEPS[name] if value <= bound), _BEYOND[name])
    if name == "prediction_kept":
        return next((words for bound, words in _LEARNT if value >= bound), "little is kept")
    if chance is None or not name.startswith("tv"):
        return ""
    if value <= 1.1 * chance:
        return "as close as a second sample"
    return "somewhat further off" if value <= 2 * chance else "clearly further off"


def is_main(name: str) -> bool:
    """Whether a figure is one of the few that everybody should look at."""
    return name in _MEANINGS


def figure_place(name: str) -> int:
    return list(_MEANINGS).index(name) if name in _MEANINGS else len(_MEANINGS)


def synthetic_verdict(manifest: Manifest, *, recipient: bool) -> ReportVerdict:
    """Good only if a budget was kept, or attacks found nothing; and if all that was required is met."""
    kind, headline = _headline(manifest)
    sentences = [*_meaning(manifest.differential_privacy), *_state(manifest)]
    missed = [model.name for model in manifest.models if not model.met]
    if missed and not recipient:
        kind = "unmet"
        sentences.insert(0, f"What was required is not met: {', '.join(missed)}.")
    return ReportVerdict(kind, headline, tuple(sentences))


def _headline(manifest: Manifest) -> tuple[str, str]:
    budget = manifest.differential_privacy
    if manifest.use_case == "test-data":
        return "met", "Test data: nothing in it is about anybody"
    if is_partly_real(manifest):
        return _partly_real(manifest)
    if budget is not None and budget.epsilon <= LAX:
        return "met", f"Synthetic, with a formal guarantee: ε = {number(budget.epsilon)}"
    if any(one.found for one in manifest.attacks or ()):
        return "unmet", "Synthetic, but attacks find people of the source in it"
    if budget is not None:
        return "none", f"Synthetic, with a weak formal guarantee: ε = {number(budget.epsilon)}"
    kind, found = _by_attacks(manifest)
    return kind, f"Synthetic, without a formal guarantee{found}"


def is_partly_real(manifest: Manifest) -> bool:
    """Whether every row is a real person's, of which some or all was changed."""
    return manifest.synthesis is not None and manifest.synthesis.replaced is not None


def _partly_real(manifest: Manifest) -> tuple[str, str]:
    if any(one.found for one in manifest.attacks or ()):
        return "unmet", "Partly real: every row is a real person’s, and attacks find people of the source in it"
    return "none", "Partly real: every row is a real person’s, of which a part was drawn anew"


def _by_attacks(manifest: Manifest) -> tuple[str, str]:
    """Where no attack found anything."""
    if not manifest.attacks:
        return "none", ", and not attacked"
    if manifest.attacks_unjudged:
        return "none", "; some attacks could not be judged"
    if manifest.synthesis is not None and manifest.synthesis.is_hardly_attacked:
        return "none", "; there are too few people to tell what attacks find"
    return "met", "; attacks found nobody"


def _meaning(budget: GuaranteeResult | None) -> Iterator[str]:
    if budget is None:
        return
    from math import exp

    odds = exp(min(budget.epsilon, 50.0))
    factor = f"{odds:.1f}" if odds < 100 else f"{odds:.2g}"
    who = "a person" if budget.unit == "person" else "a person with one record"
    yield (
        f"Whatever somebody concludes about {who} from this table becomes at most {factor} times as likely, or as "
        f"unlikely, by that person being in the source, except with a chance of {budget.delta:g}. This holds whatever "
        "else is known, now or later."
    )


def _state(manifest: Manifest) -> Iterator[str]:
    if manifest.state is not None:
        yield manifest.state.words


def synthetic_limits(manifest: Manifest) -> tuple[str, ...]:
    return tuple(_limits(manifest))


def _limits(manifest: Manifest) -> Iterator[str]:
    if manifest.use_case == "test-data":
        yield "Conclusions about real people can't be drawn from test data."
        return
    if is_partly_real(manifest):
        yield "Every record belongs to a real person. Whoever knows enough of what was kept finds the record."
        yield "What was drawn is what is likely for such a person, and is not to be believed of that person."
    else:
        yield "No record is about a real person: what is true of groups is told, single records are not to be believed."
        yield "Rare groups and extremes are left out or blurred on purpose: don't look for them here."
    yield "Conclusions that matter should be checked against the source by who may, or asked of a curator."
    if manifest.differential_privacy is None:
        yield "Attacks show what these attacks find. An attacker who knows more, or a better attack, may find more."
    if manifest.synthesis is not None and (manifest.synthesis.where or manifest.synthesis.balance):
        yield "Records were chosen by a condition: how often values occur is not as in the source."
