"""A policy of several tables: each entry of ``tables`` is a policy of one table, what stands beside them is for all.

``load_any`` reads either kind of policy. As with one table, every problem is reported at once, with its line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, ValidationError, field_validator

from shoal.errors import PolicyError, PolicyProblem
from shoal.io.nested.flattening import NestedDocuments
from shoal.io.options import Address, IfExists
from shoal.policy.assessment import Assess
from shoal.policy.choices import OneModel
from shoal.policy.differential_privacy import guarantee_of
from shoal.policy.load import (
    DOCUMENTS_KEY,
    TABLES_KEY,
    PolicyFinding,
    findings_of,
    policy_from_tree,
    read_given,
    read_mapping,
    read_policy,
)
from shoal.policy.model import OneLine, Policy, Solve
from shoal.policy.presets import UseCase
from shoal.policy.references import Reference, ReferenceEnd, problems_of, why_apart
from shoal.policy.table_defaults import TableEntry
from shoal.policy.yaml_tree import TreePath, YamlTree, dotted
from shoal.privacy import PrivacyModel
from shoal.privacy.base import SensitiveModel
from shoal.privacy.models.k_anonymity import KAnonymity
from shoal.schema import Role
from shoal.schema.parameters import Parameters
from shoal.schema.registry import did_you_mean

EXTERNAL_USE_CASES = frozenset({"external-sharing", "public"})
"""Use cases in which the data leaves the house, so that the joined tables have to have the k of the single ones."""
TABLE_NAME = re.compile(r"^\w[\w-]{0,62}$")
"""A table's name is the name of its folder, and stands before the dot of a reference."""

ONE_TABLE = "differential_privacy is for a table by itself: what several say of one person would add up"


def _address(value: object) -> object:
    if isinstance(value, str):
        if "://" not in value:
            raise ValueError("what all tables have in common is a database, {url: …}; files stand with their tables")
        return {"url": value}
    return value


class SharedSource(Address):
    """The database that the tables are in; each is read from the table of its name, unless it says otherwise."""

    db_schema: str | None = Field(default=None, alias="schema", min_length=1)


class SharedTarget(SharedSource):
    """The database that the tables are written to, each under its name."""

    if_exists: IfExists = "fail"


class ReferenceEntry(Parameters):
    """That a column of one table holds the keys of another."""

    model_config = ConfigDict(populate_by_name=False)

    child: str = Field(alias="from", description="The column that holds keys, as visits.patient.")
    parent: str = Field(alias="to", description="The column whose keys they are, as patients.id.")
    keep: bool = Field(default=True, description="Whether the released tables are to be joinable by it.")


class JoinedTablesRule(Parameters):
    """What is asked of the tables together: of all that they say of one person."""

    accept: str | None = Field(default=None, description="Why the joined tables need not meet what is asked of them.")
    k: int | None = Field(default=None, ge=1, description="With `accept`: the lowest k of the joined tables, still.")
    unlink: bool = Field(default=False, description="Take away whatever records could be joined by.")

    @field_validator("accept")
    @classmethod
    def _says_why(cls, reason: str | None) -> str | None:
        if reason is not None and not reason.strip():
            raise ValueError("needs a reason, which the report shows")
        return reason


class SeveralEntry(Parameters):
    """A policy of several tables, in the shape of the file."""

    shoal: Literal[1]
    name: str = Field(pattern=r"^[\w][\w .-]{0,99}$")
    use_case: UseCase | None = None
    purpose: OneLine | None = None
    responsible: OneLine | None = None
    source: Annotated[SharedSource, BeforeValidator(_address, json_schema_input_type=str | SharedSource)] | None = None
    target: Annotated[SharedTarget, BeforeValidator(_address, json_schema_input_type=str | SharedTarget)] | None = None
    vault: str | None = None
    shred_on: date | None = None
    tables: dict[str, dict[str, Any]] = Field(min_length=1)
    privacy: tuple[OneModel, ...] = ()
    joined: JoinedTablesRule = Field(default_factory=JoinedTablesRule)
    solve: Solve = Field(default_factory=Solve)
    assess: Assess = Field(default_factory=Assess)
    references: tuple[ReferenceEntry, ...] = ()
    leave_out: tuple[str, ...] = Field(default=(), description="Tables of the database that are not to be copied.")


@dataclass(frozen=True)
class MultiTablePolicy:
    """Policies of tables that belong together, and how they refer to each other."""

    name: str
    tables: Mapping[str, Policy]
    references: tuple[Reference, ...] = ()
    text: str = field(default="", repr=False)
    folder: Path = field(default_factory=Path)
    privacy: tuple[PrivacyModel, ...] = ()
    """What stands at the top: it is asked of the joined tables, and of tables that say nothing else."""
    leave_out: tuple[str, ...] = ()
    """Tables that are there and are not to be copied; any other that is not named stops a copy."""
    joined: JoinedTablesRule = field(default_factory=JoinedTablesRule)
    documents: NestedDocuments | None = None
    """The nested documents that the tables are taken from, and put together to again."""

    @property
    def joined_k(self) -> int | None:
        """The k that the joined tables have to have; None where nothing asks for one."""
        asked = [model.k for model in self.privacy if isinstance(model, KAnonymity) and model.plain]
        if any(str(policy.use_case) in EXTERNAL_USE_CASES for policy in self.tables.values()):
            models = (model for policy in self.tables.values() for model in policy.models)
            asked += [model.k for model in models if isinstance(model, KAnonymity) and model.plain]
        return max(asked, default=None)

    @property
    def joined_models(self) -> tuple[tuple[ReferenceEnd, SensitiveModel], ...]:
        """Models of a sensitive attribute of one table, TABLE.COLUMN, asked of the classes of the joined tables."""
        named = (
            (ReferenceEnd.parse(model.attribute), model) for model in self.privacy if isinstance(model, SensitiveModel)
        )
        return tuple((end, model) for end, model in named if end.column and end.table in self.tables)


def load_any(path: str | Path) -> Policy | MultiTablePolicy:
    """A policy of one table, or of several."""
    return any_from_text(read_policy(Path(path)), source=str(path), folder=Path(path).parent)


def any_of(given: object) -> Policy | MultiTablePolicy:
    """The same, as a caller has it: read already, a path, a text, or a mapping."""
    return given if isinstance(given, Policy | MultiTablePolicy) else read_given(given, any_from_text)


def any_from_text(text: str, *, source: str = "policy", folder: Path | None = None) -> Policy | MultiTablePolicy:
    folder = folder or Path()
    tree, data = read_mapping(text, source=source)
    if DOCUMENTS_KEY in data and TABLES_KEY not in data:
        from shoal.policy.nested_documents import nested_policy

        nested = nested_policy(tree, data, source=source)
        tables = {name: policy.placed(text, folder) for name, policy in nested.tables.items()}
        return replace(nested, tables=tables, text=text, folder=folder)
    if TABLES_KEY not in data:
        return policy_from_tree(Policy, tree, data, source=source).placed(text, folder)
    problems = list(tree.problems)
    found, several = _read(tree, data)
    problems += [PolicyProblem(*tree.where(path), dotted(path), message) for path, message in found]
    if problems or several is None:
        raise PolicyError(list(dict.fromkeys(problems)), source=source)
    tables = {name: policy.placed(text, folder) for name, policy in several.tables.items()}
    return replace(several, tables=tables, text=text, folder=folder)


def _read(tree: YamlTree, data: dict[str, object]) -> tuple[list[PolicyFinding], MultiTablePolicy | None]:
    found, entry = _outside(tree, data)
    tables: dict[str, Policy] = {}
    given = data[TABLES_KEY]
    for name, own in given.items() if isinstance(given, dict) else ():
        if not TABLE_NAME.match(name):
            found.append(((TABLES_KEY, name), "a table's name has letters, digits, _ and -, at most 63"))
        elif isinstance(own, dict):
            policy, wrong = TableEntry(tree, data, name, own).validated()
            found += wrong
            if policy is not None:
                tables[name] = policy
    if entry is None:
        return found, None
    references = tuple(
        Reference(ReferenceEnd.parse(one.child), ReferenceEnd.parse(one.parent), one.keep) for one in entry.references
    )
    several = MultiTablePolicy(
        entry.name, tables, references, privacy=entry.privacy, joined=entry.joined, leave_out=entry.leave_out
    )
    unread = set(entry.tables) - set(tables)
    found += [*_wrong_targets(tables), *_wrong_references(tables, references, unread), *_wrong_joined(several)]
    found += [((TABLES_KEY, name), ONE_TABLE) for name, policy in tables.items() if policy.guarantee is not None]
    return found, several


def _outside(tree: YamlTree, data: dict[str, object]) -> tuple[list[PolicyFinding], SeveralEntry | None]:
    """What stands beside the tables."""
    try:
        return [], SeveralEntry.model_validate(data)
    except ValidationError as error:
        return findings_of(error, tree, SeveralEntry), None


def _wrong_targets(tables: Mapping[str, Policy]) -> Iterator[PolicyFinding]:
    written: dict[str, str] = {}
    for name, policy in tables.items():
        place = "" if policy.target is None else policy.target.label
        if place in written:
            yield (TABLES_KEY, name, "target"), f"the table '{written[place]}' is written there too"
        elif place:
            written[place] = name


def _wrong_references(
    tables: Mapping[str, Policy], references: tuple[Reference, ...], unknown: set[str]
) -> Iterator[PolicyFinding]:
    """``unknown`` are the tables that can't be read themselves, so that nothing can be said of what refers to them."""
    for place, reference in enumerate(references):
        path: TreePath = ("references", place)
        if unknown & {reference.child.table, reference.parent.table}:
            continue
        wrong = [((*path, at), message) for at, message in problems_of(tables, reference)]
        yield from wrong
        if not wrong and (reference.child, reference.parent) in {(one.child, one.parent) for one in references[:place]}:
            yield path, "stands twice"
        elif not wrong and reference.keep and (why := why_apart(tables, reference)):
            yield path, why


def _wrong_joined(several: MultiTablePolicy) -> Iterator[PolicyFinding]:
    joined = several.joined
    if joined.k is not None and joined.accept is None:
        yield ("joined", "k"), "goes with `accept`; a k that has to hold stands in `privacy` at the top"
    if joined.unlink and joined.accept is not None:
        yield ("joined", "unlink"), "leaves nothing joined that could be accepted"
    if guarantee_of(several.privacy) is not None:
        yield ("privacy",), ONE_TABLE
    for place, model in enumerate(several.privacy):
        end = ReferenceEnd.parse(model.attribute) if isinstance(model, SensitiveModel) else None
        if end is None or not end.column or end.table not in several.tables:
            continue
        path: TreePath = ("privacy", place, model.key)
        known = several.tables[end.table].with_role(Role.SENSITIVE)
        if end.column not in known:
            near = did_you_mean(end.column, known)
            yield path, f"'{end.column}' has to be a sensitive attribute of '{end.table}' that is released{near}"
        elif getattr(model, "distance", None) == "hierarchical":
            yield path, "a hierarchical distance is not for joined tables"


def policies_schema() -> dict[str, Any]:
    """JSON Schema for editors: a policy of one table, of several, or of nested documents."""
    from shoal.policy.nested_documents import NestedEntry

    one, several = Policy.json_schema(), SeveralEntry.model_json_schema(by_alias=True)
    definitions = {**several.pop("$defs"), **one.pop("$defs")}
    own = {key: value for key, value in one["properties"].items() if key not in ("shoal", "name", "vault")}
    in_all = {"type": "object", "properties": {"table": {"type": "string"}, "query": {"type": "string"}}}
    for key in ("source", "target"):
        own[key] = {"anyOf": [*own[key]["anyOf"], in_all]}
    definitions["Table"] = {
        "type": "object",
        "description": "A policy of one of the tables.",
        "properties": own,
        "required": ["attributes"],
        "additionalProperties": False,
    }
    several["properties"][TABLES_KEY]["additionalProperties"] = {"$ref": "#/$defs/Table"}
    nested = NestedEntry.model_json_schema(by_alias=True)
    definitions = {**nested.pop("$defs"), **definitions}
    dialect = one.pop("$schema")
    return {"$schema": dialect, "$defs": definitions, "oneOf": [one, several, nested]}
