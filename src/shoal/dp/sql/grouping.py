"""GROUP BY with totals: ROLLUP, CUBE, GROUPING SETS and WITH TOTALS, as levels of keys."""

from __future__ import annotations

from itertools import combinations, product
from typing import Final

from sqlglot import exp

from shoal.dp.sql.scalar_reader import refuse_more
from shoal.errors import RefusedQuestion

MOST_LEVELS: Final = 64
Level = tuple[exp.Expr, ...]


def grouping_levels(group: exp.Expr) -> list[Level]:
    """Each level by the keys that stay."""
    if any(value for name, value in group.args.items() if name not in ("expressions", "rollup", "cube", "totals")):
        raise RefusedQuestion("GROUP BY takes columns and expressions", advice="GROUP BY ROLLUP (a, b) for sub-totals")
    sets = [_levels(one) for one in group.expressions]
    size = 1
    for one in sets:
        size *= len(one)
    if size > MOST_LEVELS:
        raise RefusedQuestion(f"GROUP BY with more than {MOST_LEVELS} levels of totals", advice="use ROLLUP")
    levels = [tuple(key for part in parts for key in part) for parts in product(*sets)]
    trailing = [bool(group.args.get(name)) for name in ("rollup", "cube", "totals")]
    if not any(trailing):
        return levels
    if len(levels) != 1 or sum(trailing) != 1 or any(one.expressions for one in group.args.get("rollup") or ()):
        raise RefusedQuestion("GROUP BY with totals of totals", advice="GROUP BY ROLLUP (a, b)")
    keys = levels[0]
    return _rolled(keys) if trailing[0] else _cubed(keys) if trailing[1] else [keys, ()]


def _levels(node: exp.Expr) -> list[Level]:
    if isinstance(node, exp.Rollup | exp.Cube):
        refuse_more(node, "expressions")
        keys = tuple(node.expressions)
        if any(isinstance(one, exp.Tuple) for one in keys):
            raise RefusedQuestion("ROLLUP and CUBE take columns and expressions one by one", advice="ROLLUP (a, b)")
        return _rolled(keys) if isinstance(node, exp.Rollup) else _cubed(keys)
    if isinstance(node, exp.GroupingSets):
        refuse_more(node, "expressions")
        return [level for one in node.expressions for level in _set(one)]
    return [(node,)]


def _set(node: exp.Expr) -> list[Level]:
    if isinstance(node, exp.Tuple):
        return [tuple(node.expressions)]
    return _levels(node.this if isinstance(node, exp.Paren) else node)


def _rolled(keys: Level) -> list[Level]:
    return [keys[:number] for number in range(len(keys), -1, -1)]


def _cubed(keys: Level) -> list[Level]:
    if len(keys) > MOST_LEVELS.bit_length():
        raise RefusedQuestion(f"CUBE of {len(keys)} keys has too many totals", advice="use ROLLUP")
    return [level for number in range(len(keys), -1, -1) for level in combinations(keys, number)]
