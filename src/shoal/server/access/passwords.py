"""Passwords: what is asked of one (PDPC, Guide to Data Protection Practices for ICT Systems), and how it is kept.

Kept is a hash by argon2id (RFC 9106). An account that does not exist costs the same time as one that does.
"""

from __future__ import annotations

import re
import threading
from functools import cache
from importlib.resources import files
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError, VerifyMismatchError
from argon2.profiles import CHEAPEST, RFC_9106_LOW_MEMORY

from shoal.errors import InputError
from shoal.randomness import random_bytes

SHORTEST: Final = 12
LONGEST: Final = 256
_KINDS: Final = (
    ("a lower-case letter", re.compile("[a-z]")),
    ("an upper-case letter", re.compile("[A-Z]")),
    ("a digit", re.compile("[0-9]")),
    ("a sign", re.compile("[^A-Za-z0-9]")),
)
_DISGUISE: Final = str.maketrans("4@831!|0$57+2", "aabeiilossttz")
_AT_ONCE: Final = threading.BoundedSemaphore(4)
"""Each takes 64 MiB while it is at work."""


def refuse_weak(password: str, account: str) -> None:
    """All that is wrong with a new password, at once."""
    problems = []
    if not SHORTEST <= len(password) <= LONGEST:
        problems.append(f"{SHORTEST} characters or more (and {LONGEST} at most)")
    problems += [what for what, form in _KINDS if not form.search(password)]
    if problems:
        raise InputError(f"needs {', '.join(problems)}", field="password")
    if is_known_bad(password, account):
        raise InputError(
            "is among those that are tried first: a common word, a run of keys, the name", field="password"
        )


def is_known_bad(password: str, account: str = "") -> bool:
    """
    >>> is_known_bad("P4ssw0rd!2026"), is_known_bad("Asha.Asha.2026", "asha"), is_known_bad("Reef-lantern 41 oak")
    (True, True, False)
    """
    plain = password.lower().translate(_DISGUISE)
    letters = re.sub("[^a-z]", "", plain)
    if len(set(password.lower())) < 6:
        return True
    if account and account.lower() in password.lower():
        return True
    rest = len(letters)
    for known in _known():
        rest -= len(known) * letters.count(known)
    return rest < len(letters) and rest <= max(3, len(letters) // 2)


@cache
def _known() -> tuple[str, ...]:
    text = files("shoal.server.access").joinpath("known_passwords.txt").read_text(encoding="utf-8")
    return tuple(line.strip() for line in text.splitlines() if line and not line.startswith("#"))


class PasswordKeeper:
    def __init__(self, cost: str = "standard") -> None:
        profile = CHEAPEST if cost == "cheapest" else RFC_9106_LOW_MEMORY
        self._hasher = PasswordHasher.from_parameters(profile)
        self._nobody = self._hasher.hash(random_bytes(24).hex())

    def hashed(self, password: str) -> str:
        with _AT_ONCE:
            return self._hasher.hash(password)

    def matches(self, kept: str | None, password: str) -> bool:
        """Of an account that is none (``None``): False, after the same work."""
        with _AT_ONCE:
            try:
                return self._hasher.verify(kept or self._nobody, password[: LONGEST + 1]) and kept is not None
            except (VerifyMismatchError, VerificationError, InvalidHashError):
                return False
