"""Mutations of a policy as what it says: values of the wrong kind, keys that go, come or change places."""

from __future__ import annotations

from copy import deepcopy
from random import Random
from typing import Any, Final

import yaml

_VALUES: Final[tuple[Any, ...]] = (
    None, True, False, 0, 1, -1, 2, 3, 7, 1000, 2**31, 2**63, 10**400, 0.0, 0.5, 1.0, -0.5, 1e-9, 1e308, float("inf"),
    float("nan"), "", " ", "*", "x", "name", "age", "pin", "share", "born", "kind", "ok", "nobody", "suppress",
    "mask",
    "^.*$", "__shoal_x", "a" * 5000, "é\u0301", "\u202e", "\0", "../../etc/passwd", "age + 1", "age + age", "1/0",
    "kind", "[",
    "age > 3 AND ok", "pin || name", [], {}, [[]], [None], [0], [1, 1], [2, 1], ["age"], ["age", "age"], {"x": 1},
    {"*": "suppress"}, {"k": 2}, {"mask": {"keep_last": 4}}, {"intervals": {"widths": [5]}}, {"redact": {}},
    {"round": {"base": 0.1}}, {"code": {"top": 50}}, {"noise": {"uniform": {"width": 3}}}, {"pram": {"keep": 0.5}},
    {"microaggregate": {"k": 2}}, {"permute": {}}, {"generalise": {"level": 1}}, {"combine": {"into": "z",
    "expression": "age"}},
    {"pseudonymise": {"domain": "d"}}, {"encrypt": {"scheme": "deterministic"}}, {"scrub": {}},
    {"aggregate": {"by": ["pin"]}},
)  # fmt: skip
_KEYS: Final = (
    "age", "pin", "kind", "*", "role", "technique", "hierarchy", "privacy", "solve", "k", "l", "t", "person",
    "sample",
    "suppress_records", "shuffle_rows", "aggregate", "anatomise", "weight", "use_case", "source", "output",
    "tables", "where",
    "fraction", "within", "attribute", "attributes", "levels", "utility", "recoding", "suppression_limit", "x", "",
)  # fmt: skip


def mutated_tree(content: bytes, random: Random) -> bytes:
    tree = yaml.safe_load(content)
    changed_tree(tree, random)
    return yaml.safe_dump(tree, allow_unicode=True, sort_keys=False).encode()


def changed_tree(tree: Any, random: Random) -> None:
    """In place."""
    for _ in range(random.choice((1, 1, 1, 1, 2, 4))):
        places = list(_places(tree))
        if places:
            _change(*random.choice(places), tree, random)  # type: ignore[call-arg]


def _places(tree: Any) -> Any:
    """Every mapping and list, with each of its keys."""
    if isinstance(tree, dict | list):
        for key in list(tree) if isinstance(tree, dict) else range(len(tree)):
            yield tree, key
            yield from _places(tree[key])


def _change(holder: Any, key: Any, tree: Any, random: Random) -> None:
    chance = random.random()
    if chance < 0.5:
        holder[key] = deepcopy(random.choice(_VALUES))
    elif chance < 0.65:
        del holder[key]
    elif chance < 0.8 and isinstance(holder, dict):
        holder[random.choice(_KEYS)] = holder.pop(key)
    elif chance < 0.9 and isinstance(holder, dict):
        holder[random.choice(_KEYS)] = deepcopy(random.choice(_VALUES))
    else:
        others = [inner[place] for inner, place in _places(tree)]
        holder[key] = deepcopy(random.choice(others))
