"""Levels that a person chooses for a column: as a policy names them, tried on values, checked against all of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import polars as pl
from pydantic import ValidationError

from shoal.errors import DataError, InputError
from shoal.hierarchy import Hierarchy, hierarchies, parse_hierarchy
from shoal.schema.columns import Column
from shoal.schema.type_detection import detect

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from shoal.io import Source

LONGEST_TREE: Final = 100_000
Setting = str | dict[str, Any]
Branch = dict[str, Any] | list[str]


@dataclass(frozen=True)
class TriedLevels:
    """What becomes of values on each level, from as it is to the star."""

    meanings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@cache
def kinds_offered() -> tuple[str, ...]:
    """Kinds of which no parameter is a path: nobody names a file of the server."""
    return tuple(key for key, kind in hierarchies if not any("Path" in repr(one) for one in kind.model_fields.values()))


def checked_setting(given: Setting) -> Setting:
    """
    >>> checked_setting({"intervals": {"widths": [5, 10]}})
    {'intervals': {'widths': [5, 10]}}
    """
    key = given if isinstance(given, str) else next(iter(given), "")
    if key not in kinds_offered() or (isinstance(given, dict) and len(given) != 1):
        raise InputError(f"has to be of {', '.join(kinds_offered())}", field="levels")
    _parsed(given)
    return given


def _parsed(given: Setting) -> Hierarchy:
    try:
        return parse_hierarchy(given)
    except ValidationError as error:
        wrong = "; ".join(str(one["msg"]).removeprefix("Value error, ") for one in error.errors()[:3])
        raise InputError(wrong, field="levels") from None
    except ValueError as error:
        raise InputError(str(error), field="levels") from None


def tree_of_text(text: str) -> Branch:
    r"""A tree from lines that are moved in, or from lines as ``value;group;wider group`` (ARX).

    >>> tree_of_text("Asia\n  South Asia\n    India\n    Nepal\nEurope\n  France")
    {'Asia': {'South Asia': ['India', 'Nepal']}, 'Europe': ['France']}
    >>> tree_of_text("India;Asia;*\nFrance;Europe;*")
    {'Asia': ['India'], 'Europe': ['France']}
    """
    lines = [line.expandtabs(4).rstrip() for line in text[:LONGEST_TREE].splitlines() if line.strip()]
    tree: dict[str, Any] = {}
    if lines and all(";" in line for line in lines):
        for line in lines:
            path = [part.strip() for part in line.split(";") if part.strip() not in ("", "*")]
            _put(tree, path[::-1])
        return _as_written(tree)
    open_branches: list[tuple[int, str]] = []
    for line in lines:
        depth = len(line) - len(line.lstrip())
        open_branches = [one for one in open_branches if one[0] < depth]
        open_branches.append((depth, line.strip()))
        _put(tree, [name for _, name in open_branches])
    return _as_written(tree)


def _as_written(tree: dict[str, Any]) -> Branch:
    """Values as a list; a value that stands beside groups as a name with nothing under it."""
    if all(under is None for under in tree.values()):
        return list(tree)
    return {name: [] if under is None else _as_written(under) for name, under in tree.items()}


def _put(tree: dict[str, Any], path: Sequence[str]) -> None:
    for name in path[:-1]:
        if tree.get(name) is None:
            tree[name] = {}
        tree = tree[name]
    if path:
        tree.setdefault(path[-1], None)


def text_of_tree(tree: Any, indent: int = 0) -> str:
    r"""A tree as lines that are moved in: what ``tree_of_text`` reads.

    >>> text_of_tree({"Asia": {"South Asia": ["India", "Nepal"]}, "Europe": []}).splitlines()
    ['Asia', '  South Asia', '    India', '    Nepal', 'Europe']
    """
    lines = []
    for name in tree:
        lines.append(" " * indent + str(name))
        if isinstance(tree, Mapping) and tree[name]:
            lines.append(text_of_tree(tree[name], indent + 2))
    return "\n".join(lines)


def setting_of_form(kind: str, sent: Mapping[str, str]) -> Setting | None:
    """What the fields of the page, named ``kind.parameter``, say as a policy says it; None for what is proposed."""
    if kind == "proposed":
        return None
    of_kind = {name.removeprefix(f"{kind}."): text for name, text in sent.items() if name.startswith(f"{kind}.")}
    required = {name for name, field in _parameters(kind).items() if field.is_required()}
    made = {name: _READINGS.get(name, str)(text) for name, text in of_kind.items() if text.strip() or name in required}
    return checked_setting({kind: made})


def _parameters(kind: str) -> Mapping[str, FieldInfo]:
    return dict(hierarchies)[kind].model_fields if kind in kinds_offered() else {}


def _numbers(text: str) -> list[float | int]:
    try:
        found = [float(part) for part in text.replace(";", ",").split(",") if part.strip()]
    except ValueError:
        found = []
    if not found or not all(abs(one) < 1e15 for one in found):
        raise InputError("has to be numbers, with commas between", field="levels")
    return [int(one) if one == int(one) else one for one in found]


def _number(text: str) -> float | int:
    return _numbers(text)[0]


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


_READINGS: Final[Mapping[str, Callable[[str], Any]]] = {
    "widths": _numbers,
    **dict.fromkeys(("origin", "low", "high"), _number),
    "levels": _names,
    "tree": tree_of_text,
    "minimum": lambda text: int(_number(text)),
}
"""By parameter; others are text."""


def tried(setting: Setting, name: str, values: Sequence[str]) -> TriedLevels:
    """On a few values that somebody may see. What does not fit is a DataError, which says no value."""
    frame = pl.DataFrame({name: list(dict.fromkeys(values))}, schema={name: pl.String})
    bound, distinct = _bound(setting, frame.lazy(), name)
    levels = range(bound.height + 1)
    columns = [bound.generalise(distinct["value"], level).cast(pl.String).to_list() for level in levels]
    rows = tuple(tuple("" if cell is None else cell for cell in row) for row in zip(*columns, strict=True))
    return TriedLevels(tuple(bound.meaning(level) for level in levels), rows)


def coverage(setting: Setting, source: Source, name: str) -> dict[str, Any]:
    """How many different labels each level has in the whole column; a value that is not known is a DataError."""
    bound, distinct = _bound(setting, source.scan(), name)
    labels = [int(bound.generalise(distinct["value"], level).n_unique()) for level in range(bound.height + 1)]
    meanings = [bound.meaning(level) for level in range(bound.height + 1)]
    return {"column": name, "values": distinct.height, "levels": labels, "meanings": meanings}


def _bound(setting: Setting, frame: pl.LazyFrame, name: str) -> tuple[Any, pl.DataFrame]:
    hierarchy = _parsed(checked_setting(setting))
    column: Column = detect(frame, [name])[name]
    counted = frame.select(value=pl.col(name)).drop_nulls().group_by("value").len("records").sort("value")
    distinct = counted.collect(engine="streaming")
    if distinct.is_empty():
        raise DataError(f"column '{name}' has no values")
    reason = hierarchy.refuse(column)
    if reason is not None:
        raise DataError(f"column '{name}': {reason}")
    return hierarchy.bind(column, distinct), distinct
