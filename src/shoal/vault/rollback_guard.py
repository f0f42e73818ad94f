"""What this machine remembers of a vault, so that an older copy of it isn't taken for the vault itself.

An old copy would issue pseudonyms a second time, to other people. So the highest generation that was seen, and how far
each domain has come, stand in a small file apart from the vault; it holds nothing about people. Another file says which
vault stands in which place, so that another vault isn't taken for it.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from shoal.errors import IntegrityError, TargetError
from shoal.io import replacement

FOLDER = "SHOAL_STATE"


@dataclass(frozen=True)
class VaultState:
    generation: int = 0
    next: Mapping[int, int] = field(default_factory=dict)
    """The next serial of each domain, by its number."""
    shredded: frozenset[str] = frozenset()
    """Fingerprints of keys that were destroyed, so that no backup brings them back."""

    def merged(self, other: VaultState) -> VaultState:
        domains = self.next.keys() | other.next.keys()
        highest = {number: max(self.next.get(number, 0), other.next.get(number, 0)) for number in domains}
        return VaultState(max(self.generation, other.generation), highest, self.shredded | other.shredded)

    def to_json(self) -> str:
        told = {"generation": self.generation, "next": dict(self.next), "shredded": sorted(self.shredded)}
        return json.dumps(told, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> VaultState:
        told = json.loads(text)
        issued = {int(number): int(at) for number, at in told["next"].items()}
        return cls(int(told["generation"]), issued, frozenset(map(str, told["shredded"])))


@dataclass(frozen=True)
class Anchor:
    path: Path

    @classmethod
    def of(cls, vault: str, folder: Path | None = None) -> Anchor:
        return cls((folder or default_folder()) / f"{vault}.json")

    def refuse_other(self, place: str) -> None:
        """Another vault than the one that was opened in this place before."""
        mark = self._mark(place)
        try:
            before = mark.read_text(encoding="utf-8")
        except FileNotFoundError:
            return
        except (OSError, ValueError):
            raise IntegrityError(f"{mark}: what this machine remembers of the vault can't be read") from None
        if before and before != self.path.stem:
            raise IntegrityError(
                "another vault stands here than before", advice=f"if that is meant, remove {mark} and try again"
            )

    def stands_at(self, place: str) -> None:
        with self._kept():
            mark = self._mark(place)
            if not mark.exists() or mark.read_text(encoding="utf-8") != self.path.stem:
                _replace(mark, self.path.stem)

    def _mark(self, place: str) -> Path:
        return self.path.with_name(f"place-{hashlib.sha256(place.encode()).hexdigest()[:32]}")

    def seen(self) -> VaultState | None:
        """None where this machine has never seen the vault."""
        try:
            return VaultState.from_json(self.path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, AttributeError, TypeError):
            raise IntegrityError(f"{self.path}: what this machine remembers of the vault can't be read") from None

    def remember(self, now: VaultState) -> None:
        """Only ever upwards, whoever else writes."""
        with self._kept(), (self.path.with_suffix(".lock")).open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            before = self.seen() or VaultState()
            seen = before.merged(now)
            if seen != before:
                _replace(self.path, seen.to_json())

    @contextmanager
    def _kept(self) -> Iterator[None]:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            yield
        except OSError as error:
            raise TargetError(
                f"{self.path.parent}: what this machine has seen of the vault can't be kept ({error.strerror})",
                advice=f"name a folder for it in {FOLDER}",
            ) from None


def _replace(path: Path, text: str) -> None:
    with replacement(path) as partial:
        partial.write_text(text, encoding="utf-8")


def default_folder() -> Path:
    given = os.environ.get(FOLDER)
    if given:
        return Path(given)
    home = os.environ.get("XDG_STATE_HOME")
    return (Path(home) if home else Path.home() / ".local" / "state") / "shoal" / "vaults"
