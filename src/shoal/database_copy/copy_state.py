"""What an unfinished copy needs to go on: its name, its secret, and what it was begun with. No value, no row.

The secret is what pseudonyms are made with, so that tables copied before and after an interruption fit together. The
file is for its owner only, and gone when the copy is done.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from shoal.errors import TargetError
from shoal.io import write_atomic
from shoal.io.json_files import read_json
from shoal.randomness import random_bytes


@dataclass(frozen=True)
class CopyState:
    copy: str
    """The name of the copy; the target keeps it too."""
    secret: str
    """The number that all randomness of the copy comes from; empty where a seed was given."""
    begun_with: dict[str, str]
    """Checksums and choices that must be the same when it goes on."""

    @classmethod
    def new(cls, begun_with: dict[str, str], *, seeded: bool) -> CopyState:
        return cls(random_bytes(16).hex(), "" if seeded else random_bytes(31).hex(), begun_with)

    @property
    def seed(self) -> int:
        return int(self.secret, 16)

    def write(self, path: Path) -> None:
        write_atomic(path, json.dumps({"shoal_copy": 1, **asdict(self)}, indent=1), private=True)

    @classmethod
    def read(cls, path: Path) -> CopyState | None:
        """None where there is none."""
        if not path.exists():
            return None
        try:
            told = read_json(path)
            return cls(str(told["copy"]), str(told["secret"]), {str(k): str(v) for k, v in told["begun_with"].items()})
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            raise TargetError(f"{path}: is not the state of an unfinished copy") from None

    def changed(self, now: dict[str, str]) -> list[str]:
        """What is no longer as it was, in words."""
        return [name for name in sorted({*now, *self.begun_with}) if now.get(name) != self.begun_with.get(name)]


def state_path(account: Path) -> Path:
    return account.with_name(f".{account.name}.unfinished")


def parts_path(account: Path) -> Path:
    return account.with_name(f".{account.name}.parts")
