"""The release of several tables as a whole: its own ``release.json``, what its report says, what to beware of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from shoal import __version__
from shoal.assess.multi_table.joined_risk import JoinedRisk, in_words
from shoal.assess.multi_table.references import FollowedReference
from shoal.policy.checks import identifier_warnings, released_identifiers
from shoal.policy.multi_table import MultiTablePolicy
from shoal.policy.release_kind import ReleaseKind
from shoal.policy.vault_needs import warnings_without_vault
from shoal.randomness import now
from shoal.release.destinations import Release
from shoal.report.multi_table import JoinedFacts, JoinedKeyFacts, MultiTableFacts, ReferenceFacts, TableFacts
from shoal.results.manifest import FurtherFile
from shoal.results.multi_table_manifest import MultiTableManifest


@dataclass(frozen=True)
class MultiTableRelease:
    """A finished release of several tables."""

    name: str
    policy_sha256: str
    folder: Path
    releases: Mapping[str, Release]
    references: tuple[FollowedReference, ...]
    joined: JoinedRisk
    """What is left of k where tables can be joined."""
    warnings: tuple[str, ...]
    of_tables: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What else is to be known of single tables."""
    files: tuple[FurtherFile, ...] = ()
    """What lies beside the tables: documents that they were put together to."""

    created: datetime = field(default_factory=lambda: now().replace(microsecond=0))

    def manifest(self) -> MultiTableManifest:
        return MultiTableManifest(
            shoal=__version__,
            kind=ReleaseKind.TABLES,
            created=self.created,
            name=self.name,
            policy_sha256=self.policy_sha256,
            tables={name: f"{name}/release.json" for name in self.releases},
            references=tuple(one.result() for one in self.references),
            joined=self.joined.result(),
            warnings=self.warnings,
            files=self.files,
        )

    def to_dict(self) -> dict[str, Any]:
        return self.manifest().to_dict()

    def facts(self) -> MultiTableFacts:
        return MultiTableFacts(
            self.name,
            self.created,
            __version__,
            self.policy_sha256,
            self._tables(),
            tuple(
                ReferenceFacts(str(told.child), str(told.parent), one.kept, one.orphans, told.reason)
                for told, one in ((one.reference, one) for one in self.references)
            ),
            self.warnings,
            self._joined_facts(),
        )

    def _joined_facts(self) -> JoinedFacts:
        joined, worst = self.joined, self.joined.worst
        return JoinedFacts(
            k=None if worst is None else worst.k,
            required=joined.required,
            met=joined.met,
            accepted=joined.accepted,
            words=in_words(joined),
            tables_met=self._tables_met(),
            keys=tuple(
                JoinedKeyFacts(one.columns, one.tables, one.k, one.people, one.alone) for one in joined.result().by_key
            ),
            models=tuple((one.name, f"{one.required:g}", f"{one.achieved:.4g}", one.met) for one in joined.models),
        )

    def _tables(self) -> tuple[TableFacts, ...]:
        return tuple(TableFacts(name, name, release.manifest) for name, release in self.releases.items())

    def _tables_met(self) -> bool | None:
        found = [met for one in self._tables() if (met := one.met) is not None]
        return all(found) if found else None


def warnings_of(
    followed: tuple[FollowedReference, ...], joined: JoinedRisk, together: Sequence[str] = ()
) -> Iterator[str]:
    """What a person should know of the tables together; how they join comes first."""
    if joined.groups or not joined.counted:
        told = in_words(joined)
        if joined.met is False and joined.accepted is not None:
            yield f"{told}, where {joined.required} is required; accepted: {joined.accepted}"
        elif joined.met is None:
            yield f"{told}; nothing is asked of the joined tables, and k holds for each of them alone"
    if together:
        yield (
            f"{', '.join(together)}: the key is gone, but the records of one person still follow each other, so that "
            "their order may tell whose they are (shuffle_rows: true)"
        )
    for one in followed:
        if one.left_out:
            yield (
                f"{one.reference}: {one.left_out:,} records refer to records of "
                f"'{one.reference.parent.table}' that are not in the release"
            )


def condensed_warnings(
    several: MultiTablePolicy, warnings: Mapping[str, Sequence[str]]
) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...]]:
    """The warnings of single tables without those that all keys give, and these in one line each."""
    policies = several.tables
    keys = {name: released_identifiers(policy) for name, policy in policies.items()}
    repeated = {text for name, policy in policies.items() for text in identifier_warnings(policy)}
    lasting = {text for policy in policies.values() for text in warnings_without_vault(policy, vaulted=False)}
    own = {name: tuple(text for text in told if text not in repeated | lasting) for name, told in warnings.items()}
    named = ", ".join(f"{name}.{column}" for name, columns in keys.items() for column in columns)
    lines = []
    if named:
        lines.append(f"released as pseudonyms or in another form: {named}; what they join is in the joined k only")
    if any(text in lasting for told in warnings.values() for text in told):
        lines.append(
            "no vault is named, so the pseudonyms are of this run only: no other release has the same, and nobody can "
            "be found by them"
        )
    return own, tuple(lines)
