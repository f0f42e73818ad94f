"""Mapping files, read as policies are: every problem at once, with its line and what was probably meant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field, ValidationError

from shoal.errors import PolicyError, PolicyProblem
from shoal.io import SourceOptions, parse_source
from shoal.policy.load import findings_of, read_mapping, read_policy
from shoal.policy.yaml_tree import YamlTree, dotted
from shoal.schema.parameters import Parameters

if TYPE_CHECKING:
    from shoal.io.merging.mapping import MappingFinding, SourceMapping


class MergeOptions(Parameters):
    """Several sources as one, by a mapping file."""

    merge: str = Field(min_length=1, description="The mapping file that says which sources are merged, and how.")

    @property
    def label(self) -> str:
        return self.merge


def parse_policy_source(value: object) -> SourceOptions | MergeOptions:
    """What stands in a policy's ``source``: a file, a database, or a mapping of several."""
    if isinstance(value, MergeOptions):
        return value
    if isinstance(value, Mapping) and "merge" in value:
        if set(value) != {"merge"} or not isinstance(value["merge"], str) or not value["merge"]:
            raise ValueError("merge: is a mapping file, and all else about its sources stands in there")
        return MergeOptions(merge=value["merge"])
    return parse_source(value)


@dataclass(frozen=True)
class LocatedMapping:
    """A mapping, and where each part of it stands in its file."""

    mapping: SourceMapping
    tree: YamlTree
    source: str

    def refuse(self, findings: Iterable[MappingFinding]) -> None:
        """A PolicyError with all findings, if there are any."""
        _refuse(self.tree, findings, self.source)


def load_mapping(path: Path) -> LocatedMapping:
    return mapping_from_text(read_policy(path, "mapping"), source=str(path))


def mapping_from_text(text: str, *, source: str = "mapping") -> LocatedMapping:
    from shoal.io.merging.mapping import SourceMapping

    tree, data = read_mapping(text, source=source, kind="mapping")
    try:
        mapping = SourceMapping.model_validate(data)
    except ValidationError as error:
        raise _refused(tree, findings_of(error, tree, SourceMapping), source) from None
    _refuse(tree, mapping.findings(), source)
    return LocatedMapping(mapping, tree, source)


def _refuse(tree: YamlTree, findings: Iterable[MappingFinding], source: str) -> None:
    found = list(findings)
    if found or tree.problems:
        raise _refused(tree, found, source)


def _refused(tree: YamlTree, findings: Iterable[MappingFinding], source: str) -> PolicyError:
    problems = [PolicyProblem(*tree.where(path), dotted(path), message) for path, message in findings]
    return PolicyError(list(dict.fromkeys([*tree.problems, *problems])), source=source)


def mapping_schema() -> dict[str, Any]:
    """JSON Schema for editors."""
    from shoal.io.merging.mapping import SourceMapping

    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **SourceMapping.model_json_schema()}
