"""A policy file to a Policy, with every problem at once: line, column, and what was probably meant."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, Union, get_args, get_origin, runtime_checkable

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from shoal.errors import InputError, PolicyError, PolicyProblem, SourceError
from shoal.policy.checks import problems_in
from shoal.policy.yaml_tree import TreePath, YamlTree, dotted, plain_mapping, read_tree
from shoal.schema.registry import did_you_mean
from shoal.schema.registry_choices import RegistryChoice
from shoal.schema.validation_messages import validation_message
from shoal.techniques import table_techniques

if TYPE_CHECKING:
    from shoal.policy.model import Policy

MAX_BYTES = 10_000_000
TABLES_KEY = "tables"
"""The key that tells a policy of several tables."""
DOCUMENTS_KEY = "documents"
"""The key that tells a policy of nested documents."""
_NOT_HERE = {TABLES_KEY: "several tables", DOCUMENTS_KEY: "nested documents"}

_ASKED = "has to be "

PolicyFinding = tuple[TreePath, str]
PolicyT = TypeVar("PolicyT", bound="Policy")
PolicyOut = TypeVar("PolicyOut")


def read_policy(path: Path, kind: str = "policy") -> str:
    """The text of a file that somebody has written: a policy, or another one of its ``kind``."""
    if not path.exists():
        raise SourceError(f"{path}: there is no such {kind} file")
    if path.is_dir():
        raise SourceError(f"{path}: is a folder, not a {kind} file")
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise SourceError(f"{path}: too large for a {kind} file")
        return content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        raise SourceError(f"{path}: is not UTF-8 text, so no {kind} file") from None
    except OSError as error:
        raise SourceError(f"{path}: can't be read ({error.strerror})") from None


@runtime_checkable
class PolicyDraft(Protocol):
    """What can be run as a policy though it is none: what ``shoal.suggest`` gives."""

    @property
    def text(self) -> str: ...

    @property
    def policy(self) -> object: ...


PolicyReader = Callable[..., PolicyOut]
"""From the text of a policy, ``source`` (what problems are said of) and ``folder`` (of its paths)."""


def read_given(
    given: object, read: PolicyReader[PolicyOut], kind: str = "policy", *, field: str | None = None
) -> PolicyOut:
    """A policy as a caller has it: a draft, a mapping, the path of its file, or its text (of several lines).

    ``field`` is the input that it was given as, where that is not called by its kind.
    """
    field = field or kind
    if isinstance(given, PolicyDraft):
        return read(given.text, source=field, folder=Path())
    if isinstance(given, Mapping):
        text = yaml.safe_dump(plain_mapping(given), sort_keys=False, allow_unicode=True)
        try:
            return read(text, source=field, folder=Path())
        except PolicyError as error:
            raise PolicyError([replace(one, line=0, column=0) for one in error.problems], source=field) from None
    if isinstance(given, str) and "\n" in given:
        return read(given, source=field, folder=Path())
    if isinstance(given, str | Path):
        return read(read_policy(Path(given), kind), source=str(given), folder=Path(given).parent)
    raise InputError(
        f"a value of the type {type(given).__name__} is none",
        field=field,
        advice=f"give a {kind.capitalize()}, the path of its file, or a dict",
    )


def policy_from_text(model: type[PolicyT], text: str, *, source: str, folder: Path) -> PolicyT:
    tree, data = read_mapping(text, source=source)
    return policy_from_tree(model, tree, data, source=source).placed(text, folder)


def policy_from_tree(model: type[PolicyT], tree: YamlTree, data: dict[str, object], *, source: str) -> PolicyT:
    """The policy of one table, or all that is wrong with it."""
    problems = list(tree.problems)
    foreign = [key for key in _NOT_HERE if key in data]
    if foreign:
        problems += [
            PolicyProblem(*tree.where((key,)), key, f"a policy of {_NOT_HERE[key]} can't be used here")
            for key in foreign
        ]
        raise PolicyError(problems, source=source)
    policy, found = validated(model, tree)
    problems += [PolicyProblem(*tree.where(path), dotted(path), message) for path, message in found]
    if problems or policy is None:
        raise PolicyError(list(dict.fromkeys(problems)), source=source)
    return policy


def read_mapping(text: str, *, source: str, kind: str = "policy") -> tuple[YamlTree, dict[str, object]]:
    """The tree of a policy and what it holds; anything but a mapping is none."""
    tree = read_tree(text, source=source)
    if not isinstance(tree.data, dict):
        problem = PolicyProblem(1, 1, "", f"a {kind} is a mapping that begins with `shoal: 1`")
        raise PolicyError([*tree.problems, problem], source=source)
    return tree, tree.data


def validated(model: type[PolicyT], tree: YamlTree) -> tuple[PolicyT | None, list[PolicyFinding]]:
    """The policy of one table, if it is one; and what is wrong with it, by place in the tree."""
    try:
        policy = model.model_validate(tree.data)
    except ValidationError as error:
        return None, findings_of(error, tree, model)
    return policy, list(problems_in(policy))


def findings_of(error: ValidationError, tree: YamlTree, root: type[BaseModel]) -> list[PolicyFinding]:
    """What is wrong, by place in the tree, in our words; what may be this or that, and is neither, is told once."""
    found: list[PolicyFinding] = []
    told = (_located(details, tree, root) for details in error.errors(include_url=False))
    for path, group in groupby(told, key=itemgetter(0)):
        messages = [message for _, message in group]
        asked = dict.fromkeys(one.removeprefix(_ASKED) for one in messages if one.startswith(_ASKED))
        found += [(path, one) for one in messages if not one.startswith(_ASKED)]
        found += [(path, f"{_ASKED}{', or '.join(asked)}")] if asked else []
    return found


def _located(details: ErrorDetails, tree: YamlTree, root: type[BaseModel]) -> PolicyFinding:
    """An error of a model, by place in the tree, in our words."""
    message = validation_message(details)
    if details["type"] == "extra_forbidden":
        kind, known = _known_at(details["loc"][:-1], root)
        word = str(details["loc"][-1])
        message = f"unknown {kind} '{word}'{did_you_mean(word, known)}"
    return _in_file(details["loc"], tree, missing=details["type"] == "missing"), message


def _in_file(loc: tuple[int | str, ...], tree: YamlTree, *, missing: bool) -> TreePath:
    """Where an error of the model stands in the file: without the parts that only the model has."""
    path: TreePath = ()
    for part in loc[1:] if loc[:1] == ("table",) else loc:
        if (*path, part) in tree.marks:
            path = (*path, part)
    return (*path, str(loc[-1])) if missing else path


def _known_at(loc: tuple[int | str, ...], root: type[BaseModel]) -> tuple[str, tuple[str, ...]]:
    """What could stand at a place in the model: the kind of thing, and the names that are known there."""
    models: list[Any] = [root]
    for part in loc:
        inner = [_annotation(model, part) for model in models]
        models = [found for annotation in inner for found in _models_in(annotation)] or models
    names = [field.alias or name for model in models for name, field in model.model_fields.items()]
    if models == [root] and "table" in root.model_fields:
        names = [*(name for name in names if name != "table"), *table_techniques.names()]
    kind = "key" if models == [root] else _kind(models[0])
    return kind, tuple(dict.fromkeys(names))


def _kind(model: type[BaseModel]) -> str:
    return model.kind if issubclass(model, RegistryChoice) else "parameter"


def _annotation(model: type[BaseModel], part: int | str) -> Any:
    for name, field in model.model_fields.items():
        if part in (name, field.alias):
            return field.annotation
    return None


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    if get_origin(annotation) in (Union, types.UnionType, dict, tuple, list) or hasattr(annotation, "__metadata__"):
        return [model for argument in get_args(annotation) for model in _models_in(argument)]
    return []
