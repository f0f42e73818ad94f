"""What is recorded of a project, as documents that queries look through: records, manifests of releases, policies.

A manifest or a policy counts only where its checksum is that of a release in the registry.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shoal.errors import InputError
from shoal.govern.record_kinds import record_kinds
from shoal.govern.registry import GovernanceRegistry
from shoal.govern.release_entry import release_figures
from shoal.io import sha256_of
from shoal.policy import Policy
from shoal.policy.technique_properties import technique_properties
from shoal.results.release_folder import ReleaseFolder
from shoal.schema import Role


@dataclass(frozen=True)
class EvidenceDocument:
    where: str
    entry: int | None
    sha256: str
    content: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True)
class EvidenceBase:
    project: str
    documents: Mapping[str, tuple[EvidenceDocument, ...]]

    def of(self, kind: str) -> tuple[EvidenceDocument, ...]:
        return self.documents.get(kind, ())


def values_at(content: Any, path: str) -> list[Any]:
    """What stands at a dotted path; of lists, what stands there in each of their elements.

    >>> values_at({"attacks": [{"attack": "linking"}, {"attack": "membership"}]}, "attacks.attack")
    ['linking', 'membership']
    """
    found = [content]
    for part in path.split("."):
        found = [one[part] for each in found for one in _elements(each) if isinstance(one, Mapping) and part in one]
    return [value for each in found for value in (each if isinstance(each, list) else [each])]


def _elements(value: Any) -> Iterable[Any]:
    return value if isinstance(value, list) else (value,)


def gather(
    registry: GovernanceRegistry, project: str, folders: Iterable[Path] = (), policies: Iterable[Path] = ()
) -> EvidenceBase:
    """Records of the project, and those that belong to none, such as people and documents."""
    registry.state("project", project)
    found = {name: tuple(_records(registry, name, project)) for name, _ in record_kinds}
    releases = found["release"]
    found["manifest"] = tuple(_manifest(folder, releases) for folder in folders)
    found["policy"] = tuple(_policy(path, releases) for path in policies)
    return EvidenceBase(project, found)


def _records(registry: GovernanceRegistry, kind: str, project: str) -> Iterator[EvidenceDocument]:
    entries = registry.last_entries(kind)
    for name, state in registry.states(kind).items():
        if state.project in {"", project}:
            content = {**state.model_dump(mode="json"), **state.facts(registry.today())}
            sha256 = next(
                (str(content[one]) for one in ("sha256", "data_sha256", "report_sha256") if content.get(one)), ""
            )
            yield EvidenceDocument(f"{kind}/{name}", entries[name], sha256, content)


def _manifest(folder: Path, releases: Iterable[EvidenceDocument]) -> EvidenceDocument:
    figures = release_figures(folder)
    known = [one for one in releases if one.content["data_sha256"] == figures["data_sha256"]]
    if not known:
        raise InputError(f"{folder}: is no release of this project", field="folder")
    manifest = ReleaseFolder.at(str(folder)).manifest
    content = {} if manifest is None else manifest.to_dict()
    roles = content.get("roles", {})
    content["quasi_identifiers"] = [name for name, role in roles.items() if role == Role.QUASI]
    return EvidenceDocument(
        f"{known[0].where} release.json", known[0].entry, sha256_of(folder / "release.json"), content
    )


def _policy(path: Path, releases: Iterable[EvidenceDocument]) -> EvidenceDocument:
    policy = Policy.of(path)
    sha256 = hashlib.sha256(policy.text.encode()).hexdigest()
    known = [one for one in releases if one.content["policy_sha256"] == sha256]
    if not known:
        raise InputError(f"{path}: no release of this project was made by it", field="policy")
    direct = [name for name, attribute in policy.attributes.items() if attribute.role is Role.DIRECT]
    content = {"techniques": technique_properties(policy), "direct_identifiers": direct}
    return EvidenceDocument(f"{known[0].where} {path.name}", known[0].entry, sha256, content)
