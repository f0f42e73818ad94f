"""Membership by density ratio (after DOMIAS, van Breugel et al. 2023): was somebody learned from?

A synthesiser that follows its people too closely puts more records near them than the population has there. The
attacker has other people of that population, one half of the control group: who is nearer to a synthetic record than
to one of these is suspicious. By nearest distances, the logarithm of a density is that of a distance, up to a factor.

Two questions: of those whom the attacker suspects most while wrong about one stranger in two (area under the curve
beside it), and about one in a hundred: the few for whom it is certain (Carlini et al. 2022).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from shoal.attack.registry import Try
from shoal.attack.result import Attack, Z
from shoal.attack.synthetic.flagging import flagging_attack
from shoal.attack.synthetic.registry import synthetic_attack
from shoal.attack.synthetic.scene import MOST_SYNTHETIC, SyntheticScene
from shoal.kernels.arrays import Floats
from shoal.kernels.rank_statistics import area_interval, area_under_curve

FEW = 0.01
_FEWEST_ALARMS = 2
"""Strangers beyond the bound; of a small control group the share is larger."""
_KNOWS = "all attributes of people, and other people of the population"


def membership(scene: SyntheticScene) -> list[Attack]:
    suspicion = _suspicion(scene)
    members, strangers = suspicion
    details = {}
    if len(members) and len(strangers):
        area = area_under_curve(members, strangers)
        low, high = area_interval(area, len(members), len(strangers), Z)
        details = {"auc": area, "auc_low": low, "auc_high": high}
    few = max(FEW, _FEWEST_ALARMS / max(len(strangers), 1))
    return [
        flagging_attack("membership", "Membership by density", _KNOWS, suspicion, 0.5, details),
        flagging_attack("membership_top", "Membership, the surest", _KNOWS, suspicion, few, {"false_alarms": few}),
    ]


def _suspicion(scene: SyntheticScene) -> tuple[Floats, Floats]:
    """Of members and of the half of the control group that the attacker does not have."""
    order = scene.stream("membership").permutation(scene.control.height)
    half = scene.control.height // 2
    reference = scene.drawn(scene.control[np.sort(order[:half])], "reference", MOST_SYNTHETIC)
    others = scene.control[np.sort(order[half:])][: scene.trials]
    found = []
    for people in (scene.members, others):
        synthetic, known = (
            scene.nearest(people, table, people.columns).distances[:, 0] for table in (scene.records, reference)
        )
        found.append((synthetic, known))
    closest = np.concatenate([known[known > 0] for _, known in found])
    least = 0.01 * float(np.median(closest)) if len(closest) else 1.0
    members, strangers = (np.log(known + least) - np.log(synthetic + least) for synthetic, known in found)
    return members, strangers


@synthetic_attack("membership", "membership_top", order=60)
def tries_membership_ratio(scene: SyntheticScene) -> Iterator[tuple[str, Try]]:
    yield "membership", lambda: membership(scene)
