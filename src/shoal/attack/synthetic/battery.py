"""All attacks on a synthetic table, one after the other, judged together. What can't be tried is said."""

from __future__ import annotations

from shoal.attack.battery import BatteryResult, need_strangers
from shoal.attack.result import Attack, holm_adjusted
from shoal.attack.synthetic.registry import synthetic_attacks
from shoal.attack.synthetic.scene import TRIALS, SyntheticScene, SyntheticTables
from shoal.errors import DataError
from shoal.randomness import Randomness
from shoal.schema.progress import Progress


def run_synthetic_attacks(
    tables: SyntheticTables, randomness: Randomness, *, trials: int = TRIALS, progress: Progress | None = None
) -> BatteryResult:
    """Without a control group, what is not tried for lack of one counts as not judged: it might find something."""
    scene = SyntheticScene(tables, randomness, trials)
    tries = {name: attempt for each in synthetic_attacks() for name, attempt in each.tries(scene)}
    found: list[Attack] = []
    skipped: dict[str, str] = {}
    for number, (name, attempt) in enumerate(tries.items()):
        if progress:
            progress(number, len(tries))
        try:
            results = attempt()
            need_strangers(results)
            found += results
        except DataError as error:
            skipped[name] = error.text
    return BatteryResult(holm_adjusted(found), skipped, tuple(skipped), rows_known=False, in_order=False)
