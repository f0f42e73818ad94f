"""What a battery tries: each attack declares itself, and says in which scene it has something to try.

A new attack is one new file in ``attacks``: a function from a scene to named attempts, marked with :func:`attack`. It
yields nothing where the release has nothing that it could go by.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module

from shoal.attack.result import Attack
from shoal.attack.scene import Scene
from shoal.errors import BugError

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


_REGISTERED: dict[str, RegisteredAttack] = {}


def attack(*keys: str, order: int, of_population: bool = False) -> Callable[[Tries], Tries]:
    """Register the attempts that a function makes of a scene, with the keys that their results may have."""

    def register(tries: Tries) -> Tries:
        for key in keys:
            if key in _REGISTERED and _REGISTERED[key].tries.__module__ != tries.__module__:
                raise BugError(f"two attacks are called '{key}'")
        registered = RegisteredAttack(keys, tries, order, of_population)
        _REGISTERED.update(dict.fromkeys(keys, registered))
        return tries

    return register


def attacks() -> tuple[RegisteredAttack, ...]:
    """All that are there, in their order."""
    import shoal.attack.attacks

    for module in pkgutil.iter_modules(shoal.attack.attacks.__path__, "shoal.attack.attacks."):
        import_module(module.name)
    return tuple(sorted({id(each): each for each in _REGISTERED.values()}.values(), key=lambda each: each.order))


def attack_keys() -> tuple[str, ...]:
    return tuple(key for each in attacks() for key in each.keys)
