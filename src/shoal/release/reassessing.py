"""An old release looked at again: what new outside data would do to it, kept in the release's history.

The auxiliary table is linked with the release by the quasi-identifiers that both have; by these and each further column
that both have, also one that nobody took for identifying when it was released, which is what new data changes; and by
all of them. The worst of these counts. (All at once may be the weakest: a column with noise fits nobody.) Nobody knows
whose record is whose any more, so what counts is how many records each person could be: fewer than k is less than the
release promised.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import inf, nan
from pathlib import Path
from typing import Any

from shoal.attack.battery import without_suppressed
from shoal.attack.coverage import Match
from shoal.errors import DataError, InputError, SourceError
from shoal.io import sha256_of, writing
from shoal.policy import Policy
from shoal.privacy import Finding
from shoal.randomness import now
from shoal.release.attacking import read_table
from shoal.release.folder import data_file, manifest_of, need_untouched, promised_k, roles_of
from shoal.release.pairing import known_labels
from shoal.schema import Role

HISTORY = "history.json"


@dataclass(frozen=True)
class Reassessment:
    when: str
    attributes: tuple[str, ...]
    """By which the auxiliary table was linked, of all that were tried the worst."""
    people: int
    fitting: int
    """People of the auxiliary table who fit any record."""
    alone: int
    """People who fit exactly one."""
    fewest: int
    """Records that a fitting person could be, at least; 0 where nobody fits."""
    k: int
    """What the release promised."""
    below: int
    """People who fit fewer records than that."""
    auxiliary_sha256: str | None = None
    unread_labels: int = 0
    """Released labels that could not be read without the policy's hierarchies, and were taken to fit everybody."""

    @property
    def holds(self) -> bool:
        return not self.below

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"holds": self.holds}

    def findings(self, bounds: Mapping[str, float]) -> tuple[Finding, ...]:
        """That nobody is among fewer than k, or what is required instead."""
        if not bounds:
            return (Finding("k", self.k, self.fewest, self.holds),)
        return tuple(self._finding(name, bound) for name, bound in bounds.items())

    def _finding(self, name: str, bound: float) -> Finding:
        if name == "k":
            return Finding("k", bound, self.fewest, not self.fitting or self.fewest >= bound)
        return Finding("uniques", bound, self.alone, self.alone <= bound)


def reassessment_bounds(require: Sequence[str]) -> dict[str, float]:
    """What `--require` says beside `--auxiliary`: the least k, the most people who fit one record only."""
    bounds = {}
    for text in require:
        name, _, number = text.partition("=")
        if name not in ("k", "uniques"):
            raise InputError(f"--require: with --auxiliary only k and uniques can be required, not '{name}'")
        try:
            bounds[name] = float(number)
        except ValueError:
            bounds[name] = nan
        if not 0 <= bounds[name] < inf:
            raise InputError(f"--require: '{name}' needs a number, as in {name}=5")
    return bounds


def reassess(release: str, auxiliary: str, policy: Policy | None = None) -> Reassessment:
    """Link new outside data with a release folder and add the result to its history."""
    if manifest_of(release) is None:
        raise InputError(f"{release}: is not a release folder; --auxiliary re-assesses releases")
    past, k = history_of(release), promised_k(release)
    need_untouched(release)
    shown, people = read_table(data_file(release), "release"), read_table(auxiliary, "auxiliary table")
    common = tuple(name for name in shown.columns if name in people.columns)
    if not common:
        raise DataError("the auxiliary table has no column in common with the release")
    quasi = tuple(name for name, role in roles_of(release).items() if role is Role.QUASI and name in shown.columns)
    shown, known = without_suppressed(shown, quasi), known_labels(policy, people)
    tried = [
        _judged(Match.of(shown, people, names, known), names, k, auxiliary)
        for names in _sets(tuple(name for name in quasi if name in common), common)
    ]
    found = max(tried, key=lambda one: (one.below, -one.fewest if one.fitting else 0, one.fitting))
    _append(Path(release) / HISTORY, [*past, found.to_dict()])
    return found


def history_of(release: str) -> list[dict[str, Any]]:
    """What was found before, the oldest first."""
    path = Path(release) / HISTORY
    if not path.is_file():
        return []
    try:
        past = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError):
        past = None
    if not isinstance(past, list) or not all(isinstance(entry, dict) for entry in past):
        raise SourceError(f"{path}: is not the history of a release")
    return past


def _sets(quasi: tuple[str, ...], common: tuple[str, ...]) -> Sequence[tuple[str, ...]]:
    others = [name for name in common if name not in quasi]
    sets = [quasi, *((*quasi, name) for name in others), common]
    return tuple(dict.fromkeys(names for names in sets if names))


def _judged(match: Match, common: tuple[str, ...], k: int, auxiliary: str) -> Reassessment:
    candidates = match.candidates()
    fitting = candidates[candidates > 0]
    local = Path(auxiliary)
    return Reassessment(
        now().isoformat(timespec="seconds"),
        common,
        len(candidates),
        len(fitting),
        int((fitting == 1).sum()),
        int(fitting.min()) if len(fitting) else 0,
        k,
        int((fitting < k).sum()),
        sha256_of(local) if "://" not in auxiliary and local.is_file() else None,
        match.unread,
    )


def _append(path: Path, past: list[dict[str, Any]]) -> None:
    """The history with one more entry: whole or not at all."""
    hidden = path.with_name(f".{path.name}.partial-{os.getpid()}")
    with writing(str(path)):
        try:
            hidden.write_text(json.dumps(past, indent=2, sort_keys=True) + "\n", encoding="utf-8")
            hidden.replace(path)
        finally:
            hidden.unlink(missing_ok=True)
