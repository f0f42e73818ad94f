"""A policy file to a Policy, with every problem at once: line, column, and what was probably meant."""

from __future__ import annotations

import types
from pathlib import Path
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from shoal.errors import PolicyError, Problem, SourceError
from shoal.policy.checks import problems_in
from shoal.policy.choices import Choice
from shoal.policy.model import Policy
from shoal.policy.tree import Path as TreePath
from shoal.policy.tree import Tree, dotted, read_tree
from shoal.schema.registry import did_you_mean
from shoal.techniques import table_techniques

MAX_BYTES = 10_000_000


def load_policy(path: Path) -> Policy:
    if not path.exists():
        raise SourceError(f"{path}: there is no such policy file")
    if path.is_dir():
        raise SourceError(f"{path}: is a folder, not a policy file")
    try:
        if path.stat().st_size > MAX_BYTES:
            raise SourceError(f"{path}: too large for a policy file")
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise SourceError(f"{path}: is not UTF-8 text, so no policy file") from None
    except OSError as error:
        raise SourceError(f"{path}: can't be read ({error.strerror})") from None
    return policy_from_text(text, source=str(path), folder=path.parent)


def policy_from_text(text: str, *, source: str, folder: Path) -> Policy:
    tree = read_tree(text, source=source)
    problems = list(tree.problems)
    if not isinstance(tree.data, dict):
        problems.append(Problem(1, 1, "", "a policy is a mapping that begins with `shoal: 1`"))
        raise PolicyError(problems, source=source)
    policy = None
    try:
        policy = Policy.model_validate(tree.data)
    except ValidationError as error:
        problems += [_problem(details, tree) for details in error.errors(include_url=False)]
    if policy is not None:
        problems += [Problem(*tree.where(path), dotted(path), message) for path, message in problems_in(policy)]
    if problems or policy is None:
        raise PolicyError(list(dict.fromkeys(problems)), source=source)
    return policy.placed(text, folder)


def _problem(details: ErrorDetails, tree: Tree) -> Problem:
    path = _in_file(details["loc"], tree)
    message = details["msg"].removeprefix("Value error, ")
    if details["type"] == "extra_forbidden":
        kind, known = _known_at(details["loc"][:-1])
        word = str(details["loc"][-1])
        message = f"unknown {kind} '{word}'{did_you_mean(word, known)}"
    elif details["type"] == "missing":
        message = "is missing"
    else:
        message = message[:1].lower() + message[1:]
    return Problem(*tree.where(path), dotted(path), message)


def _in_file(loc: tuple[int | str, ...], tree: Tree) -> TreePath:
    """Where an error of the model stands in the file: without the parts that only the model has."""
    path: TreePath = ()
    for part in loc[1:] if loc[:1] == ("table",) else loc:
        if (*path, part) in tree.marks:
            path = (*path, part)
    last = loc[-1] if loc else ""
    return path if path and path[-1] == last else (*path, last) if isinstance(last, str) else path


def _known_at(loc: tuple[int | str, ...]) -> tuple[str, tuple[str, ...]]:
    """What could stand at a place in the model: the kind of thing, and the names that are known there."""
    models: list[Any] = [Policy]
    for part in loc:
        inner = [_annotation(model, part) for model in models]
        models = [found for annotation in inner for found in _models_in(annotation)] or models
    names = [name for model in models for name in model.model_fields]
    if models == [Policy]:
        names = [*(name for name in names if name != "table"), *table_techniques.names()]
    kind = _kind(models[0])
    return kind, tuple(dict.fromkeys(names))


def _kind(model: type[BaseModel]) -> str:
    if issubclass(model, Choice):
        named = {"HierarchyChoice": "hierarchy", "PrivacyModelChoice": "privacy model", "TechniqueChoice": "technique"}
        return named.get(model.__name__, "table technique")
    return "key" if model is Policy else "parameter"


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
