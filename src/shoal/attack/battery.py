"""All attacks that fit a release, one after the other. What can't be tried is said, with the reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shoal.attack.ground_truth.targets import TRIALS
from shoal.attack.registry import attacks
from shoal.attack.result import LEVEL, Attack, NothingToTryError, holm_adjusted
from shoal.attack.scene import AttackTables, Scene, without_suppressed
from shoal.errors import DataError
from shoal.randomness import Randomness
from shoal.schema.progress import Progress

MATERIAL = 0.1
"""The risk beyond people's own records left out that no solver's choice of classes explains."""

__all__ = ["AttackTables", "BatteryResult", "run_attacks", "without_suppressed"]


@dataclass(frozen=True)
class BatteryResult:
    attacks: tuple[Attack, ...]
    """Each judged as one of all of them, so that many attacks don't make chance finds likelier."""
    skipped: Mapping[str, str]
    """What was not tried, and why."""
    unjudged: tuple[str, ...]
    """Of these, what might have found something: it is not known. The others had nothing to go by."""
    rows_known: bool
    """Whether it is known which record of the original each released record is."""
    in_order: bool
    """Whether that is the one in the same row."""

    @property
    def found(self) -> tuple[Attack, ...]:
        """Those that get more out of the release than guessing or the population gives."""
        return tuple(attack for attack in self.attacks if attack.found)


def run_attacks(
    tables: AttackTables,
    randomness: Randomness,
    *,
    trials: int = TRIALS,
    progress: Progress | None = None,
) -> BatteryResult:
    scene = Scene.of(tables, randomness, trials)
    tries = {name: (each, attempt) for each in attacks() for name, attempt in each.tries(scene)}
    found: list[Attack] = []
    skipped: dict[str, str] = {}
    unjudged = []
    for number, (name, (kind, attempt)) in enumerate(tries.items()):
        if progress:
            progress(number, len(tries))
        try:
            results = attempt()
            if kind.of_population:
                need_strangers(results)
            found += results
        except DataError as error:
            skipped[name] = error.text
            if not isinstance(error, NothingToTryError):
                unjudged.append(name)
    return BatteryResult(holm_adjusted(found), skipped, tuple(unjudged), scene.origins is not None, scene.in_order)


def need_strangers(results: Sequence[Attack]) -> None:
    """Refuse to call a find what may be true of anybody.

    Of people whose own records are left out a value is inferred as well as of strangers where classes are of people by
    chance, and less well where a solver has put people together so that none stands out: a small difference to them is
    no find, unless what classes of their size tell is allowed for already.
    """
    for each in results:
        balanced = each.left_out and each.attribute is not None and each.risk < MATERIAL and not each.allowed
        unsure = each.control is None or balanced
        if each.p_value < LEVEL and unsure:
            raise DataError(
                "it is right more often than guessing, but without people who are not in the data nobody can tell "
                "whether that comes from the release or is true of everybody",
                advice="give a control group",
            )
