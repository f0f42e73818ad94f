"""Who may do what: roles and their acts, from ``rights.yaml``. What no line allows is refused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files

import yaml

from shoal.errors import AccessError
from shoal.schema.parameters import Parameters


class RoleRights(Parameters):
    """A role, where it comes from, and the acts that it allows."""

    title: str
    source: str
    acts: tuple[str, ...]
    """``kind.act``, with ``*`` for any."""
    training: bool = False
    """Whether its acts take training that has not lapsed."""

    def allows(self, act: str) -> bool:
        return any(fnmatchcase(act, pattern) for pattern in self.acts)


class RightsTable(Parameters):
    everyone: tuple[str, ...]
    """Acts that every role has, and that take no training."""
    roles: dict[str, RoleRights]


@cache
def _rights() -> RightsTable:
    text = files("shoal.govern").joinpath("rights.yaml").read_text(encoding="utf-8")
    return RightsTable.model_validate(yaml.safe_load(text))


def role_rights() -> Mapping[str, RoleRights]:
    return _rights().roles


def allowing_roles(act: str) -> tuple[str, ...]:
    return tuple(name for name in role_rights() if is_allowed([name], act))


def is_allowed(roles: Iterable[str], act: str) -> bool:
    known = role_rights()
    return any(name in known and (act in _rights().everyone or known[name].allows(act)) for name in roles)


def require_right(who: str, roles: Iterable[str], act: str) -> None:
    if not is_allowed(roles, act):
        able = ", ".join(allowing_roles(act)) or "nobody"
        raise AccessError(f"{who} has no right to {act}", advice=f"who has: {able}")


def takes_training(roles: Iterable[str], act: str) -> bool:
    """Whether every role that allows it takes training."""
    if act in _rights().everyone:
        return False
    known = role_rights()
    allowing = [known[name] for name in roles if name in known and known[name].allows(act)]
    return bool(allowing) and all(rights.training for rights in allowing)
