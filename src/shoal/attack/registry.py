"""What a battery tries: each attack declares itself, and says in which scene it has something to try.

A new attack is one new file in ``attacks``, or one in another distribution under the entry point ``shoal.attacks``: a
function from a scene to named attempts, marked with :func:`attack`. It yields nothing where the release has nothing
that it could go by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from shoal.attack.result import Attack
from shoal.attack.scene import Scene
from shoal.schema.registry import Registry

Try = Callable[[], Sequence[Attack]]
Tries = Callable[[Scene], Iterator[tuple[str, Try]]]


@dataclass(frozen=True)
class RegisteredAttack:
    keys: tuple[str, ...]
    """Of the results, as in JSON."""
    tries: Tries
    order: int
    """The place in the output."""
    of_population: bool = False
    """Whether it is right about strangers too, by what is true of the population: then a find needs strangers."""


registered_attacks: Registry[RegisteredAttack] = Registry("shoal.attack.attacks", "attack", "shoal.attacks")


def attack(*keys: str, order: int, of_population: bool = False) -> Callable[[Tries], Tries]:
    """Register the attempts that a function makes of a scene, with the keys that their results may have."""

    def register(tries: Tries) -> Tries:
        registered = RegisteredAttack(keys, tries, order, of_population)
        for key in keys:
            registered_attacks.add(key, registered)
        return tries

    return register


def attacks() -> tuple[RegisteredAttack, ...]:
    """All that are there, in their order; those of one place by their keys."""
    distinct = {id(each): each for _, each in registered_attacks}
    return tuple(sorted(distinct.values(), key=lambda each: (each.order, each.keys)))


def attack_keys() -> tuple[str, ...]:
    return tuple(key for each in attacks() for key in each.keys)
