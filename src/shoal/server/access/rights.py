"""What each role may do in the studio, from ``rights.yaml``, in the form that the registry's rights have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files

import yaml

from shoal.errors import InputError
from shoal.govern.rights import RoleRights


@cache
def studio_roles() -> Mapping[str, RoleRights]:
    text = files("shoal.server.access").joinpath("rights.yaml").read_text(encoding="utf-8")
    return {name: RoleRights.model_validate(told) for name, told in yaml.safe_load(text)["roles"].items()}


def allows(roles: Iterable[str], act: str) -> bool:
    """
    >>> allows(["tester"], "release.read"), allows(["tester"], "release.download"), allows(["nobody"], "own.read")
    (True, False, False)
    """
    known = studio_roles()
    return any(name in known and known[name].allows(act) for name in roles)


def checked_roles(roles: Iterable[str]) -> list[str]:
    wanted, known = sorted(set(roles)), studio_roles()
    if not wanted or any(name not in known for name in wanted):
        raise InputError(f"has to be of {', '.join(known)}", field="roles")
    return wanted
