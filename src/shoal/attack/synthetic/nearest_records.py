"""Nearest records: is the synthetic table nearer to the people it was made from than to others?

*Distance to the closest record*: of members and of strangers, how far the nearest synthetic record is. Somebody stands
out who is nearer than all but a twentieth of the strangers. *Distance ratio*: the nearest synthetic record over the
second nearest; a small one says that a single record points at this person (Zhao et al. 2021).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from shoal.attack.registry import Try
from shoal.attack.result import Attack
from shoal.attack.synthetic.flagging import flagging_attack
from shoal.attack.synthetic.registry import synthetic_attack
from shoal.attack.synthetic.scene import SyntheticScene
from shoal.kernels.arrays import Floats
from shoal.kernels.rank_statistics import area_under_curve

SHARE = 0.05
"""Of strangers who count as near."""


def nearest_distance(scene: SyntheticScene) -> Attack:
    scene.control  # noqa: B018  # refuses where there is none
    members, strangers = scene.split(scene.to_synthetic.distances[:, 0])
    return flagging_attack(
        "nearest_distance",
        "Nearest records",
        "all attributes of people",
        (-members, -strangers),
        SHARE,
        _told(members, strangers),
    )


def nearest_ratio(scene: SyntheticScene) -> Attack:
    scene.control  # noqa: B018  # refuses where there is none
    found = scene.to_synthetic.distances
    if found.shape[1] < 2:
        found = np.repeat(found, 2, axis=1)
    ratio = np.divide(found[:, 0], found[:, 1], out=np.ones(len(found)), where=found[:, 1] > 0)
    members, strangers = scene.split(ratio)
    told = _told(members, strangers)
    return flagging_attack(
        "nearest_ratio", "Nearest against second", "all attributes of people", (-members, -strangers), SHARE, told
    )


def _told(members: Floats, strangers: Floats) -> dict[str, float]:
    if not len(members) or not len(strangers):
        return {}
    middle = float(np.median(members)), float(np.median(strangers))
    return {
        "median": middle[0],
        "median_control": middle[1],
        "ratio_of_medians": middle[0] / middle[1] if middle[1] else 1.0,
        "auc": area_under_curve(-members, -strangers),
    }


@synthetic_attack("nearest_distance", "nearest_ratio", order=20)
def tries_nearest(scene: SyntheticScene) -> Iterator[tuple[str, Try]]:
    yield "nearest_distance", lambda: [nearest_distance(scene)]
    yield "nearest_ratio", lambda: [nearest_ratio(scene)]
