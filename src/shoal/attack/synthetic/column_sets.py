"""Linkability of two column sets (Giomi et al. 2022): does the table help to link two files about the same people?

The attacker has two files with different columns. A person is linked where the synthetic record that is nearest by the
columns of the one file is the one that is nearest by those of the other. Which column is in which file is drawn by lot.
"""

from __future__ import annotations

from collections.abc import Iterator

from shoal.attack.registry import Try
from shoal.attack.result import Attack, Rate
from shoal.attack.synthetic.registry import synthetic_attack
from shoal.attack.synthetic.scene import SyntheticScene
from shoal.kernels.arrays import Floats

NEIGHBOURS = 1


def linkability_of_sets(scene: SyntheticScene) -> Attack:
    first, second = _files(scene)
    found = [
        scene.nearest(scene.people, scene.records, names, neighbours=NEIGHBOURS, ties=f"linkability {number}").places
        for number, names in enumerate((first, second))
    ]
    linked: Floats = (found[0][:, :, None] == found[1][:, None, :]).any(axis=(1, 2)).astype(float)
    members, strangers = scene.split(linked)
    return Attack(
        "linkability",
        "Linking two files by the table",
        f"{', '.join(first)} of people in one file, {', '.join(second)} in another",
        Rate(float(members.sum()), len(members)),
        Rate(len(members) * NEIGHBOURS / scene.records.height, len(members)),
        Rate(float(strangers.sum()), len(strangers)) if len(strangers) else None,
        details={"neighbours": float(NEIGHBOURS)},
    )


def _files(scene: SyntheticScene) -> tuple[list[str], list[str]]:
    names = scene.people.columns
    order = scene.stream("linkability", "files").permutation(len(names))
    half = len(names) // 2
    return [names[place] for place in sorted(order[:half])], [names[place] for place in sorted(order[half:])]


@synthetic_attack("linkability", order=40)
def tries_linkability_of_sets(scene: SyntheticScene) -> Iterator[tuple[str, Try]]:
    if len(scene.people.columns) > 1:
        yield "linkability", lambda: [linkability_of_sets(scene)]
