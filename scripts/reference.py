"""Writes docs/reference/techniques.md from the registries: what each technique file says of itself, nothing else.

The words come from the file's docstring, the properties from its ``Facts``, the parameters from its pydantic fields.
``--check`` writes nothing and fails when the page is out of date.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from shoal.schema import Role, ValueType
from shoal.techniques import Facts, TableTechnique, Technique, table_techniques, techniques

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "techniques.md"
HEAD = """# Techniques

This page is made by `make generate` from the technique files themselves; a test fails when it is out of date. How to
write them in a policy is in [Write a policy](../how-to/write-a-policy.md), how to add one in
[Add a technique](../how-to/add-a-technique.md).

The columns follow ISO/IEC 20889, table A.1: whether a record stays *truthful* (what it says after is still true of the
person), and which of the three risks the technique lowers.
"""
OVERVIEW = """| Key | Technique | Truthful | Singling out | Linking | Inference | Random |
|---|---|---|---|---|---|---|"""
LIMITS = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
KINDS = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "object": "mapping",
}

Schema: TypeAlias = Mapping[str, Any]
Row: TypeAlias = tuple[str, str, str, str]
AnyTechnique: TypeAlias = type[Technique] | type[TableTechnique]


def page() -> str:
    groups: dict[str, list[tuple[str, AnyTechnique]]] = {
        "On an attribute": [*techniques],
        "On the table": [*table_techniques],
    }
    parts = [HEAD]
    for title, entries in groups.items():
        parts += [f"## {title}\n", OVERVIEW, *(_overview(key, entry.facts) for key, entry in entries), ""]
    for entries in groups.values():
        for key, entry in entries:
            parts += _technique(key, entry)
    return "\n".join(parts).rstrip() + "\n"


def _overview(key: str, facts: Facts) -> str:
    risks = f"{facts.singling_out} | {facts.linking} | {facts.inference}"
    return f"| [`{key}`](#{key}) | {facts.title} | {_yes(facts.truthful)} | {risks} | {_yes(facts.random)} |"


def _technique(key: str, entry: AnyTechnique) -> Iterator[str]:
    facts = entry.facts
    yield f"## `{key}` {{ #{key} }}\n"
    yield f"{_words(entry)}\n"
    yield f"- Source: {facts.clause}"
    yield f"- Value types: {_all_or(facts.types, ValueType)}"
    yield f"- Roles: {_all_or(facts.roles, Role)}"
    yield f"- Missing values: {facts.missing}\n"
    schema = entry.model_json_schema(by_alias=True)
    rows = list(_rows(schema, schema.get("$defs", {}), ""))
    yield _table(("Parameter", "Values", "Default", "Meaning"), rows) if rows else "No parameters."
    yield ""


def _table(header: Row, rows: list[Row]) -> str:
    """A table without its last column where no row has anything to say there."""
    width = len(header) if any(row[-1] for row in rows) else len(header) - 1
    lines = (header, ("---",) * len(header), *rows)
    return "\n".join(f"| {' | '.join(line[:width])} |" for line in lines)


def _words(entry: AnyTechnique) -> str:
    """The file's docstring without its runnable examples."""
    text = inspect.getdoc(sys.modules[entry.__module__]) or ""
    prose = text.partition(">>>")[0].strip().replace("``", "`")
    # A bar that is no border of a cell, as in |x|.
    return re.sub(r"(?<=[^\s|-])\|(?=[^\s|-])", r"\|", prose)


def _rows(schema: Schema, definitions: Schema, prefix: str) -> Iterator[Row]:
    """One line per parameter; the parameters of a parameter follow it as ``outer.inner``."""
    required = schema.get("required", ())
    for name, field in schema.get("properties", {}).items():
        choices = [_resolved(choice, definitions) for choice in field.get("anyOf", [field])]
        values = " or ".join(dict.fromkeys(text for text in (_values(one, definitions) for one in choices) if text))
        default = "required" if name in required else _default(field.get("default"))
        yield f"`{prefix}{name}`", values, default, _one_line(field.get("description", ""))
        for choice in choices:
            yield from _rows(choice, definitions, f"{prefix}{name}.")


def _resolved(schema: Schema, definitions: Schema) -> Schema:
    reference = schema.get("$ref", "")
    return definitions[reference.rpartition("/")[2]] if reference else schema


def _values(schema: Schema, definitions: Schema) -> str:
    if "const" in schema or "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema.get("enum", [schema.get("const")]))
    if schema.get("type") == "null":
        return ""
    if schema.get("type") == "array":
        items: Schema = schema.get("items") or next(iter(schema.get("prefixItems", [])), {})
        return f"list of {_values(_resolved(items, definitions), definitions) or 'values'}"
    limits = ", ".join(f"{sign} {schema[name]:g}" for name, sign in LIMITS.items() if name in schema)
    types = schema.get("type", "")
    kinds = " or ".join(KINDS.get(one, "value") for one in (types if isinstance(types, list) else [types]))
    return f"{kinds} {limits}".strip()


def _default(value: object) -> str:
    if value is None or value == []:
        return "none"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _one_line(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _yes(fact: bool) -> str:  # noqa: FBT001  # the fact itself, not a switch
    return "yes" if fact else "no"


def _all_or(some: frozenset[Role] | frozenset[ValueType], everything: type[Role] | type[ValueType]) -> str:
    return "all" if len(some) == len(everything) else ", ".join(one for one in everything if one in some)


def main(arguments: list[str]) -> int:
    wanted = page()
    if "--check" in arguments:
        return int(not PAGE.exists() or PAGE.read_text(encoding="utf-8") != wanted)
    PAGE.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
