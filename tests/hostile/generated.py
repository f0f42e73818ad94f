"""Policies made from the JSON Schema of policies: what it allows, at random, put into one that holds.

Most of what is changed at random dies at the first check. These get as far as the plan, the search and the rewrite.
"""

from __future__ import annotations

from functools import cache
from random import Random
from typing import Any, Final

import yaml

COLUMNS: Final = ("name", "age", "pin", "share", "born", "kind", "ok")
_STRINGS: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(
        (
            "attribute",
            "attributes",
            "by",
            "with",
            "within",
            "columns",
            "tells",
            "person",
            "target",
            "of",
            "sensitive",
            "into",
        ),
        COLUMNS,
    ),
    "expression": (
        "age + 1",
        "age * 2 - share",
        "name",
        "pin",
        "age / 0",
        "share + share",
        "age %",
        "concat(name, pin)",
        "nobody",
    ),
    "where": (
        "age > 40",
        "kind = 'flu'",
        "ok",
        "age is null",
        "born < date '1960-01-01'",
        "age > 40 and not ok",
        "name",
        "1 = 1",
    ),
    "domain": ("people", "other"),
    "path": ("a.csv", "people.csv"),
    "csv": ("a.csv", "hierarchy.csv"),
    "population": ("people.csv",),
    "char": ("x", "*", "é"),
    "format": ("%Y-%m-%d", "%d/%m/%y", "%"),
    "because": ("known to all",),
    "date": ("2030-01-01", "1955-06-01"),
}
_WORDS: Final = (*COLUMNS, "x", "people", "flu", "560001", "*", "")
_LEFT: Final = ("shoal", "attributes", "source", "target", "vault", "name")
"""Keys that stay as they are in the policy."""
_DEPTH: Final = 6

SMALL: Final = """\
shoal: 1
name: small
attributes:
  age: {role: quasi, hierarchy: {intervals: {widths: [10, 20, 40], origin: 0}}}
  kind: {role: sensitive}
  "*": suppress
privacy: [{k_anonymity: {k: 2}}]
solve: {suppression_limit: 1}
shuffle_rows: true
"""


@cache
def _schema() -> dict[str, Any]:
    from shoal.policy.multi_table import policies_schema

    return policies_schema()


def generated(content: bytes, random: Random) -> bytes:
    """The policy with one to four things in it that the schema allows."""
    tree = yaml.safe_load(content)
    made = Making(random)
    for _ in range(random.choice((1, 1, 2, 2, 4))):
        _change(tree, made, random)
    return yaml.safe_dump(tree, allow_unicode=True, sort_keys=False).encode()


def _change(tree: dict[str, Any], made: Making, random: Random) -> None:
    whole = _schema()["oneOf"][0]["properties"]
    attribute = _schema()["$defs"]["Attribute"]["properties"]
    column = random.choice([name for name in tree["attributes"] if name != "*"])
    chance = random.random()
    if chance < 0.5 and isinstance(tree["attributes"][column], dict):
        key = random.choice(("technique", "technique", "hierarchy", "role", "type", "weight"))
        tree["attributes"][column][key] = made.instance(attribute[key], key)
    elif chance < 0.55:
        tree["attributes"][random.choice(COLUMNS)] = made.instance(_schema()["$defs"]["Attribute"], "attribute")
    elif chance < 0.7:
        model = made.instance(whole["privacy"]["items"], "privacy")
        tree["privacy"] = [model] if random.random() < 0.5 else [*tree.get("privacy", []), model]
    elif chance < 0.85:
        key = random.choice(list(_schema()["$defs"]["Solve"]["properties"]))
        tree.setdefault("solve", {})[key] = made.instance(_schema()["$defs"]["Solve"]["properties"][key], key)
    else:
        key = random.choice([key for key in whole if key not in _LEFT])
        tree[key] = made.instance(whole[key], key)


class Making:
    def __init__(self, random: Random) -> None:
        self._random = random

    def instance(self, schema: dict[str, Any], name: str, depth: int = 0) -> Any:
        """Something that the schema allows; nothing that is left out would do as well."""
        random = self._random
        if "$ref" in schema:
            return self.instance(_schema()["$defs"][schema["$ref"].rpartition("/")[2]], name, depth + 1)
        for several in ("anyOf", "oneOf"):
            if several in schema:
                ways = [way for way in schema[several] if way.get("type") != "null"] or schema[several]
                return self.instance(random.choice(ways), name, depth + 1)
        if "const" in schema or "enum" in schema:
            return random.choice(schema.get("enum") or [schema["const"]])
        return self._of_type(schema, name, depth)

    def _of_type(self, schema: dict[str, Any], name: str, depth: int) -> Any:
        random, kind = self._random, schema.get("type", "string")
        if kind == "object":
            return self._object(schema, name, depth)
        if kind == "array":
            return self._array(schema, name, depth)
        if kind in ("integer", "number"):
            return self._number(schema, whole=kind == "integer")
        if kind == "boolean":
            return random.random() < 0.5
        return random.choice(_STRINGS.get("date" if schema.get("format") == "date" else name, _WORDS))

    def _object(self, schema: dict[str, Any], name: str, depth: int) -> dict[str, Any]:
        random, properties = self._random, schema.get("properties", {})
        if schema.get("title", "").endswith("Choice"):
            chosen = [random.choice(list(properties))]
        else:
            least = schema.get("required", [])
            chosen = [key for key in properties if key in least or (depth < _DEPTH and random.random() < 0.3)]
        made = {key: self.instance(properties[key], key, depth + 1) for key in chosen}
        free = schema.get("additionalProperties")
        if isinstance(free, dict) and not properties:
            for _ in range(random.choice((1, 2))):
                made[random.choice(COLUMNS)] = self.instance(free, name, depth + 1)
        return made

    def _array(self, schema: dict[str, Any], name: str, depth: int) -> list[Any]:
        if "prefixItems" in schema:
            return [self.instance(item, name, depth + 1) for item in schema["prefixItems"]]
        least = schema.get("minItems", 0)
        size = self._random.randint(least, max(least, min(schema.get("maxItems", 3), 3)))
        found = [self.instance(schema.get("items", {}), name, depth + 1) for _ in range(size)]
        return sorted(found) if all(isinstance(one, int | float) for one in found) else found

    def _number(self, schema: dict[str, Any], *, whole: bool) -> float:
        least = schema.get("minimum", schema.get("exclusiveMinimum", 0))
        most = schema.get("maximum", schema.get("exclusiveMaximum", least + 20))
        random = self._random
        if random.random() < 0.1:
            return random.choice((least, most, least + 1, 10**9, 1e9 if not whole else 7))
        return random.randint(int(least), int(most)) if whole else round(random.uniform(least, most), 3)
