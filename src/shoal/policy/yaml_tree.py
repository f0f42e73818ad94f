"""YAML with positions: plain data, and for every path in it the line and column where it stands."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

import yaml

from shoal.errors import PolicyError, PolicyProblem
from shoal.schema.bounded_yaml import Loader, YamlBoundsError, check_bounds

TreePath = tuple[str | int, ...]


class _Loader(Loader):  # type: ignore[misc]  # chosen when it is imported
    """YAML 1.2's few plain scalars: `no` is a word, `011` is text and dates stay text, as data officers expect."""

    yaml_implicit_resolvers: dict[str, object] = {}  # noqa: RUF012  # the class attribute that PyYAML looks at


for _tag, _pattern, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"~|null|Null|NULL|", "~nN\0"),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)", "-+0123456789"),
    ("float", r"[-+]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?", "-+0123456789."),
):
    _Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}", re.compile(f"^(?:{_pattern})$"), [*_first.replace("\0", ""), ""]
    )


_TAGS = frozenset(f"tag:yaml.org,2002:{name}" for name in ("bool", "null", "int", "float", "str"))
"""What a value can be. Others are written out in the file only, and made by code that trusts what follows them."""


@dataclass
class YamlTree:
    data: object = None
    marks: dict[TreePath, tuple[int, int]] = field(default_factory=dict)
    problems: list[PolicyProblem] = field(default_factory=list)

    def where(self, path: TreePath) -> tuple[int, int]:
        """The position of a path, or of the nearest ancestor that stands in the file."""
        while path not in self.marks and path:
            path = path[:-1]
        return self.marks.get(path, (0, 0))


def read_tree(text: str, *, source: str) -> YamlTree:
    """Parse YAML; syntax errors and keys that stand twice are problems with their positions."""
    try:
        check_bounds(text)
        node = yaml.compose(text, Loader=_Loader)
    except YamlBoundsError as error:
        raise PolicyError([PolicyProblem(error.line, error.column, "", str(error))], source=source) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (0, 0)
        raise PolicyError([PolicyProblem(line, column, "", f"not YAML: {error.problem}")], source=source) from None
    except yaml.YAMLError:
        raise PolicyError(
            [PolicyProblem(0, 0, "", "not YAML: a character that is not allowed")], source=source
        ) from None
    tree = YamlTree()
    loader = _Loader("")
    tree.data = None if node is None else _convert(node, (), tree, loader, frozenset())
    return tree


def _convert(node: yaml.Node, path: TreePath, tree: YamlTree, loader: _Loader, above: frozenset[int]) -> object:
    mark = (node.start_mark.line + 1, node.start_mark.column + 1)
    tree.marks.setdefault(path, mark)
    if id(node) in above:
        tree.problems.append(PolicyProblem(*mark, dotted(path), "an alias that contains itself"))
        return None
    above |= {id(node)}
    if isinstance(node, yaml.SequenceNode):
        return [_convert(child, (*path, place), tree, loader, above) for place, child in enumerate(node.value)]
    if isinstance(node, yaml.MappingNode):
        return _convert_mapping(node, path, tree, loader, above)
    return _scalar(node, path, tree, loader)


def _convert_mapping(
    node: yaml.MappingNode, path: TreePath, tree: YamlTree, loader: _Loader, above: frozenset[int]
) -> dict[str, object]:
    result: dict[str, object] = {}
    for key_node, value_node in node.value:
        key = str(key_node.value) if isinstance(key_node, yaml.ScalarNode) else ""
        here = (*path, key)
        mark = (key_node.start_mark.line + 1, key_node.start_mark.column + 1)
        if not key:
            tree.problems.append(PolicyProblem(*mark, dotted(path), "a key must be a word"))
            continue
        if key in result:
            tree.problems.append(PolicyProblem(*mark, dotted(here), "stands twice"))
        tree.marks[here] = mark
        result[key] = _convert(value_node, here, tree, loader, above)
    return result


def _scalar(node: yaml.Node, path: TreePath, tree: YamlTree, loader: _Loader) -> object:
    if node.tag not in _TAGS:
        tree.problems.append(
            PolicyProblem(*tree.where(path), dotted(path), "a tag that says what a value is; leave it out")
        )
        return None
    try:
        return loader.construct_object(node)
    except (yaml.YAMLError, ValueError):
        tree.problems.append(PolicyProblem(*tree.where(path), dotted(path), "a value that can't be read"))
        return None


def plain_mapping(given: Mapping[object, object]) -> dict[str, object]:
    """A policy that is a mapping already, in the types that YAML has; others are problems, by path.

    >>> plain_mapping({"shoal": 1, "shred_on": date(2031, 1, 1)})
    {'shoal': 1, 'shred_on': '2031-01-01'}
    """
    problems: list[PolicyProblem] = []
    taken = {str(key): _plain(value, (str(key),), problems) for key, value in given.items()}
    if problems:
        raise PolicyError(problems)
    return taken


def _plain(given: object, path: TreePath, problems: list[PolicyProblem]) -> object:
    if isinstance(given, Mapping):
        return {str(key): _plain(value, (*path, str(key)), problems) for key, value in given.items()}
    if isinstance(given, list | tuple):
        return [_plain(value, (*path, place), problems) for place, value in enumerate(given)]
    if isinstance(given, date):
        return given.isoformat()
    if isinstance(given, str):
        return str.__str__(given)
    if given is None or isinstance(given, bool | int | float):
        return given
    said = f"a value of the type {type(given).__name__} can't stand in a policy"
    problems.append(PolicyProblem(0, 0, dotted(path), said))
    return None


def dotted(path: TreePath) -> str:
    return ".".join(str(part) for part in path)
