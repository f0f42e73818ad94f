"""The release of several tables as a whole: its own ``release.json``, what its report says, what to beware of."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal import __version__
from shoal.randomness import now
from shoal.release.job import Release
from shoal.release.joined import Joined
from shoal.release.references import Followed
from shoal.report.several import ReferenceFacts, SeveralFacts, TableFacts


@dataclass(frozen=True)
class SeveralReleases:
    """A finished release of several tables."""

    name: str
    policy_sha256: str
    folder: Path
    releases: Mapping[str, Release]
    references: tuple[Followed, ...]
    joined: tuple[Joined, ...]
    """What is left of k where tables can be joined."""
    warnings: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "shoal": __version__,
            "name": self.name,
            "policy_sha256": self.policy_sha256,
            "tables": {name: f"{name}/release.json" for name in self.releases},
            "references": [one.to_dict() for one in self.references],
            "joined": [one.to_dict() for one in self.joined],
            "warnings": list(self.warnings),
        }

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"

    def facts(self) -> SeveralFacts:
        tables = [(name, release.manifest) for name, release in self.releases.items()]
        return SeveralFacts(
            self.name,
            now(),
            __version__,
            self.policy_sha256,
            tuple(TableFacts(name, name, manifest.data.rows, manifest.after.risk.k) for name, manifest in tables),
            tuple(
                ReferenceFacts(str(told.child), str(told.parent), one.kept, one.orphans, told.reason)
                for told, one in ((one.reference, one) for one in self.references)
            ),
            self.warnings,
        )


def warnings_of(
    followed: tuple[Followed, ...], joined: tuple[Joined, ...] | None, releases: Mapping[str, Release]
) -> Iterator[str]:
    """What a person should know of the tables together."""
    for one in followed:
        if one.left_out:
            yield (
                f"{one.reference}: {one.left_out:,} records refer to records of "
                f"'{one.reference.parent.table}' that are not in the release"
            )
    if joined is None:
        yield "the tables are too large to count what joining them gives away; k holds for each of them alone"
    for each in joined or ():
        alone = [k for name in each.tables if (k := releases[name].manifest.after.risk.k)]
        if alone and each.k < min(alone):
            yield (
                f"joined by their keys, {', '.join(each.tables)} leave k = {each.k}, where each alone has at least "
                f"{min(alone)}: {each.uniques:,} of {each.people:,} stand alone for whoever knows all of that of them"
            )
