"""A policy of nested documents: attributes are paths, ``visits[].doctor.name``, and each array is a table of its own.

It becomes a policy of several tables, so that a document is judged as what it is: all that is said of a person, in the
document and in its arrays. What refers to what is the nesting.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationError

from shoal.errors import PolicyError, PolicyProblem
from shoal.io.nested.flattening import DocumentPaths, NestedDocuments
from shoal.io.nested.paths import ROOT, is_path, key_of, parent_of, prefixes_of, table_name, table_of, tables_above
from shoal.policy.assessment import Assess
from shoal.policy.choices import OneModel
from shoal.policy.default_attribute import EVERYTHING_ELSE
from shoal.policy.differential_privacy import guarantee_of
from shoal.policy.load import DOCUMENTS_KEY, TABLES_KEY, PolicyFinding, findings_of
from shoal.policy.model import Attribute, OneLine, Policy, Solve
from shoal.policy.multi_table import ONE_TABLE, JoinedTablesRule, MultiTablePolicy
from shoal.policy.presets import UseCase
from shoal.policy.references import Reference, ReferenceEnd
from shoal.policy.table_defaults import TableEntry
from shoal.policy.yaml_tree import TreePath, YamlTree, dotted
from shoal.privacy.base import SensitiveModel
from shoal.schema import Role
from shoal.schema.parameters import Parameters

_NO_PATH = "is no path: keys with dots between them, [] after an array, as in visits[].doctor.name"


class DocumentOptions(Parameters):
    """A file of documents, and what its paths don't say."""

    path: str = Field(min_length=1)
    kinds: dict[str, str] = Field(
        default_factory=dict,
        description="Array → path below its elements that says of which kind they are: entry[Patient] is then a path.",
    )
    beginnings: dict[str, str] = Field(
        default_factory=dict, description="Path → what its values begin with, which stays: Patient/ of Patient/123."
    )


def _options(value: object) -> object:
    return {"path": value} if isinstance(value, str) else value


class NestedEntry(Parameters):
    """A policy of nested documents, in the shape of the file."""

    shoal: Literal[1]
    name: str = Field(pattern=r"^[\w][\w .-]{0,99}$")
    use_case: UseCase | None = None
    purpose: OneLine | None = None
    responsible: OneLine | None = None
    documents: Annotated[DocumentOptions, BeforeValidator(_options, json_schema_input_type=str | DocumentOptions)]
    vault: str | None = None
    shred_on: date | None = None
    person: Annotated[tuple[str, ...], BeforeValidator(lambda given: (given,) if isinstance(given, str) else given)] = (
        Field(
            default=(), description="The path that names the person; one for each kind of element, where they differ."
        )
    )
    attributes: dict[str, Attribute] = Field(min_length=1)
    privacy: tuple[OneModel, ...] = ()
    joined: JoinedTablesRule = Field(default_factory=JoinedTablesRule)
    solve: Solve = Field(default_factory=Solve)
    assess: Assess = Field(default_factory=Assess)


def nested_policy(tree: YamlTree, data: dict[str, object], *, source: str) -> MultiTablePolicy:
    """The tables of the documents, or all that is wrong with their policy."""
    found, several = _read(tree, data)
    problems = [*tree.problems, *(PolicyProblem(*tree.where(path), dotted(path), told) for path, told in found)]
    if problems or several is None:
        raise PolicyError(list(dict.fromkeys(problems)), source=source)
    return several


def _read(tree: YamlTree, data: dict[str, object]) -> tuple[list[PolicyFinding], MultiTablePolicy | None]:
    try:
        entry = NestedEntry.model_validate(data)
    except ValidationError as error:
        return findings_of(error, tree, NestedEntry), None
    found = [*_wrong_paths(entry), *_wrong_mentions(entry), *_wrong_people(entry)]
    if found:
        return found, None
    paths = _paths(entry)
    found += _wrong_tables(entry, paths)
    tables: dict[str, Policy] = {}
    for table in paths.columns:
        policy, wrong = _TablePart(tree, data, entry, paths, table).validated()
        found += wrong
        if policy is not None:
            tables[table_name(table)] = policy
    joint = tuple(model for model in entry.privacy if not isinstance(model, SensitiveModel))
    references = tuple(
        Reference(_numbers(table, parent_of(table)), _numbers(parent_of(table), parent_of(table)))
        for table in paths.columns
        if table
    )
    documents = NestedDocuments(entry.documents.path, paths)
    return found, MultiTablePolicy(
        entry.name, tables, references, privacy=joint, joined=entry.joined, documents=documents
    )


def _numbers(table: str, numbered: str) -> ReferenceEnd:
    """The column of a table that has the numbers of rows."""
    return ReferenceEnd(table_name(table), key_of(numbered))


def _paths(entry: NestedEntry) -> DocumentPaths:
    named = {path: one for path, one in entry.attributes.items() if path != EVERYTHING_ELSE}
    people = {table_of(path): path for path in entry.person}
    tables = {table for path in named for table in tables_above(path)}
    nearest = {table: [one for one in tables_above(table) if one in people] for table in tables}
    return DocumentPaths(
        tuple(path for path, one in named.items() if one.is_released),
        tuple(path for path, one in named.items() if not one.is_released),
        EVERYTHING_ELSE in entry.attributes,
        {table: people[above[-1]] for table, above in nearest.items() if above},
        entry.documents.kinds,
        entry.documents.beginnings,
    )


def _wrong_paths(entry: NestedEntry) -> Iterator[PolicyFinding]:
    attributes = entry.attributes
    rest = attributes.get(EVERYTHING_ELSE)
    if rest is not None and rest.is_released:
        yield ("attributes", EVERYTHING_ELSE), "what isn't named in documents can only be suppressed"
    for path in attributes:
        if path == EVERYTHING_ELSE:
            continue
        if not is_path(path) or path.startswith("#"):
            yield ("attributes", path), _NO_PATH
        for above in prefixes_of(path):
            if above in attributes:
                yield ("attributes", above), f"holds '{path}', which is named too; name values, or the whole"


def _wrong_mentions(entry: NestedEntry) -> Iterator[PolicyFinding]:
    attributes = entry.attributes
    if guarantee_of(entry.privacy) is not None:
        yield ("privacy",), ONE_TABLE
    for place, model in enumerate(entry.privacy):
        if isinstance(model, SensitiveModel) and model.attribute not in attributes:
            yield ("privacy", place, model.key), f"'{model.attribute}' is not among the attributes"
    for path in entry.documents.beginnings:
        if path not in attributes:
            yield (DOCUMENTS_KEY, "beginnings", path), "is not among the attributes"
    if entry.solve.decoys is not None:
        yield ("solve", "decoys"), "invented records are of one table, and have no place in documents"
    if entry.joined.unlink:
        yield ("joined", "unlink"), "a document is its parts together"


def _wrong_people(entry: NestedEntry) -> Iterator[PolicyFinding]:
    tables = [table_of(path) for path in entry.person]
    for path in entry.person:
        attribute = entry.attributes.get(path)
        if attribute is None:
            yield ("person",), f"'{path}' is not among the attributes"
        elif attribute.role is Role.QUASI:
            yield ("person",), f"'{path}' is a quasi-identifier, so it names nobody"
        elif not attribute.is_released and table_of(path) and not table_of(path).endswith("[]"):
            yield (
                ("attributes", path),
                "elements of several kinds stay in their order, which tells whose they are: it needs a pseudonym, by "
                "which they are counted",
            )
    if len(set(tables)) < len(tables):
        yield ("person",), "names two paths of the same array"


def _wrong_tables(entry: NestedEntry, paths: DocumentPaths) -> Iterator[PolicyFinding]:
    names = sorted(table_name(table) for table in paths.columns)
    for name, following in pairwise(names):
        if name == following:
            yield ("attributes",), f"two arrays would be the table '{name}'"
    for table in paths.columns:
        if table and not table.endswith("[]") and table[: table.rindex("[")] not in entry.documents.kinds:
            yield (DOCUMENTS_KEY, "kinds"), f"doesn't say what tells the kinds of '{table[: table.rindex('[')]}' apart"
    for array in entry.documents.kinds:
        if f"{array}[]" in paths.columns:
            yield (DOCUMENTS_KEY, "kinds", array), f"its elements are of kinds, so '{array}[]' is no path"


class _TablePart:
    """What a policy of documents says of one of their tables, as an entry of a policy of several tables."""

    def __init__(
        self, tree: YamlTree, data: Mapping[str, object], entry: NestedEntry, paths: DocumentPaths, table: str
    ) -> None:
        self._places = [
            place
            for place, model in enumerate(entry.privacy)
            if not isinstance(model, SensitiveModel) or model.attribute in paths.columns[table]
        ]
        given: Any = data["attributes"]
        whose = paths.people.get(table)
        numbers = {key: {"role": str(Role.INSENSITIVE)} for key in paths.keys(table)}
        attributes = {
            **numbers,
            **({whose: given[whose]} if whose else {}),
            **{p: given[p] for p in paths.columns[table]},
        }
        person = whose or ("" if entry.person else key_of(ROOT))
        own = {"attributes": attributes, **({"person": person} if person in attributes else {})}
        name = table_name(table)
        top = {key: one for key, one in data.items() if key not in ("person", "attributes", DOCUMENTS_KEY)}
        privacy: Any = data.get("privacy", [])
        if "privacy" in top:
            top["privacy"] = [privacy[place] for place in self._places]
        self._at = (TABLES_KEY, name)
        marks = {self._here(path): mark for path, mark in tree.marks.items()}
        whole = {**top, TABLES_KEY: {name: own}}
        self._entry = TableEntry(
            YamlTree(whole, {path: mark for path, mark in marks.items() if path}), whole, name, own
        )

    def validated(self) -> tuple[Policy | None, list[PolicyFinding]]:
        policy, found = self._entry.validated()
        return policy, [(self._in_file(path), told) for path, told in found]

    def _here(self, path: TreePath) -> TreePath:
        """Where a part of the file stands in the entry; nowhere, if it is of other tables."""
        if path[:1] in (("attributes",), ("person",)):
            return (*self._at, *path)
        if path[:1] == ("privacy",) and len(path) > 1:
            return ("privacy", self._places.index(int(path[1])), *path[2:]) if path[1] in self._places else ()
        return path

    def _in_file(self, path: TreePath) -> TreePath:
        if path[:2] == self._at:
            return path[2:]
        if path[:1] == ("privacy",) and len(path) > 1:
            return ("privacy", self._places[int(path[1])], *path[2:])
        return path
