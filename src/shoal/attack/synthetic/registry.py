"""What is tried on a synthetic table: each attack declares itself, and says in which scene it has something to try.

A new attack is one new file in this folder, or one in another distribution under the entry point
``shoal.synthetic_attacks``: a function from a scene to named attempts, marked with :func:`synthetic_attack`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from shoal.attack.registry import Try
from shoal.attack.synthetic.scene import SyntheticScene
from shoal.schema.registry import Registry

SyntheticTries = Callable[[SyntheticScene], Iterator[tuple[str, Try]]]


@dataclass(frozen=True)
class SyntheticAttack:
    keys: tuple[str, ...]
    """Of the results, as in JSON."""
    tries: SyntheticTries
    order: int
    """The place in the output."""


registered_synthetic_attacks: Registry[SyntheticAttack] = Registry(
    "shoal.attack.synthetic", "attack on synthetic data", "shoal.synthetic_attacks"
)


def synthetic_attack(*keys: str, order: int) -> Callable[[SyntheticTries], SyntheticTries]:
    """Register the attempts that a function makes of a scene, with the keys that their results may have."""

    def register(tries: SyntheticTries) -> SyntheticTries:
        registered = SyntheticAttack(keys, tries, order)
        for key in keys:
            registered_synthetic_attacks.add(key, registered)
        return tries

    return register


def synthetic_attacks() -> tuple[SyntheticAttack, ...]:
    """All that are there, in their order; those of one place by their keys."""
    distinct = {id(each): each for _, each in registered_synthetic_attacks}
    return tuple(sorted(distinct.values(), key=lambda each: (each.order, each.keys)))


def synthetic_attack_keys() -> tuple[str, ...]:
    return tuple(key for each in synthetic_attacks() for key in each.keys)
