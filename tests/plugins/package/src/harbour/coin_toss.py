"""An attacker who tosses a coin: as good as guessing, which is what it is compared with."""

from __future__ import annotations

from collections.abc import Iterator

from shoal.attack.registry import Try, attack
from shoal.attack.result import Attack, Rate
from shoal.attack.scene import Scene


@attack("coin_toss", order=500)
def tries_coin_toss(scene: Scene) -> Iterator[tuple[str, Try]]:
    tossed = scene.tables.release.height
    even = Rate(tossed / 2, tossed)
    yield "coin_toss", lambda: [Attack("coin_toss", "Tossing a coin", "nothing", even, even)]
