"""Writes reference pages from the registries: what the files of techniques and privacy models say of themselves.

The words come from the file's docstring, the properties from what the class declares, the parameters from its pydantic
fields. What engines do with each technique comes from the examples that the tests run on both of them (``engines``).
``--check`` writes nothing and fails when a page is out of date.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import yaml

import engines
from shoal.privacy import Figure, PrivacyModel, privacy_models
from shoal.schema import Role, ValueType
from shoal.schema.parameters import Parameters
from shoal.schema.properties import Properties
from shoal.techniques import TableTechnique, Technique, table_techniques, techniques

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "reference"
HEAD = """# Techniques

This page is made by `make generate` from the technique files themselves; a test fails when it is out of date. How to
write them in a policy is in [Write a policy](../how-to/write-a-policy.md), how to add one in
[Add a technique](../how-to/add-a-technique.md).

The columns follow ISO/IEC 20889, table A.1: whether a record stays *truthful* (what it says after is still true of the
person), and which of the three risks the technique lowers. Some techniques are of one attribute, others of the whole
table. The standard lists formal privacy models in the same table; they stand [below the families](#models).
"""
MODELS_IN_A1 = """## Formal privacy models (ISO/IEC 20889, 10) { #models }

What [a model](privacy-models.md) does when it is met. Solvers reach it by generalisation and suppression, so records
stay truthful (microaggregation would not leave them so). The standard has a line for k-anonymity; others follow from
what each of them bounds. Its line for differential privacy has no counterpart here: no such model comes with Shoal yet.
"""
OVERVIEW = """| Key | Technique | Of | Truthful | Singling out | Linking | Inference | Random |
|---|---|---|---|---|---|---|---|"""
MODELS_HEAD = """# Privacy models

This page is made by `make generate` from the files of the models themselves; a test fails when it is out of date. Which
of them to take is in [Choose a model](../how-to/choose-a-model.md), where they stand in a policy in
[Policy file](policy.md#privacy-models).

A model gives every equivalence class a *figure*. `release.json` has the figure that is `required` and the one that the
worst class of the written file has `achieved`. Three properties say what [the solver](../explanation/solver.md) may
rely on:

- *class by class*: a class is judged by itself. Otherwise the model looks at the whole table, and whether a class may
  stay depends on the others.
- *kept when classes merge*: merging classes that meet the model gives a class that meets it (monotone under
  generalisation).
- *kept when classes go*: taking away whole classes never breaks the others (monotone under suppression).

*depends* stands where a parameter decides. A model without these properties can be reached too; the search for it takes
longer.
"""
MODELS_OVERVIEW = """| Key | Model | Looks at | Class by class | Kept when classes merge | Kept when classes go |
|---|---|---|---|---|---|"""
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
    """The families in the order of the standard, as the folders of the techniques name them."""
    entries: list[tuple[str, AnyTechnique]] = [*techniques, *table_techniques]
    families: dict[str, list[tuple[str, AnyTechnique]]] = {}
    for key, entry in sorted(entries, key=lambda one: (_clause(_family(one[1])), one[0])):
        families.setdefault(_family(entry), []).append((key, entry))
    parts = [HEAD]
    for family, there in families.items():
        parts += [f"## {_family_title(family)}\n", OVERVIEW, *(_overview(key, entry) for key, entry in there), ""]
    parts += [MODELS_IN_A1, OVERVIEW.replace("Technique", "Model"), *map(_model_in_a1, privacy_models), ""]
    for there in families.values():
        for key, entry in there:
            parts += _technique(key, entry)
    return "\n".join(parts).rstrip() + "\n"


def _family(entry: AnyTechnique) -> str:
    """The folder of a technique: ``shoal.techniques.suppression``."""
    return ".".join(entry.__module__.split(".")[:3])


def _family_title(family: str) -> str:
    """What a folder says of itself, up to the list of what is in it."""
    return (inspect.getdoc(sys.modules[family]) or "").partition("\n")[0].partition(":")[0].rstrip(".")


def _clause(family: str) -> tuple[int, ...]:
    """Its clause of the standard; what has none comes last."""
    found = re.search(r"ISO/IEC 20889, ([\d.]+\d)", _family_title(family))
    return tuple(int(part) for part in found[1].split(".")) if found else (99,)


def _overview(key: str, entry: AnyTechnique) -> str:
    facts, on = entry.facts, "attribute" if issubclass(entry, Technique) else "table"
    return f"| [`{key}`](#{key}) | {facts.title} | {on} | {_properties(facts.properties)} | {_yes(facts.random)} |"


def _model_in_a1(entry: tuple[str, type[PrivacyModel]]) -> str:
    key, model = entry
    return f"| [`{key}`](privacy-models.md#{key}) | {model.title} | table | {_properties(model.properties)} | no |"


def _properties(what: Properties) -> str:
    return f"{_yes(what.truthful)} | {what.singling_out} | {what.linking} | {what.inference}"


def _technique(key: str, entry: AnyTechnique) -> Iterator[str]:
    facts = entry.facts
    yield f"## `{key}` {{ #{key} }}\n"
    yield f"{_words(entry)}\n"
    yield f"- Source: {facts.clause}"
    yield f"- Value types: {_all_or(facts.types, ValueType)}"
    yield f"- Roles: {_all_or(facts.roles, Role)}"
    yield f"- Missing values: {facts.missing}\n"
    yield f"{_parameters(entry)}\n"


def models_page() -> str:
    parts = [MODELS_HEAD, MODELS_OVERVIEW, *(_models_overview(key, model) for key, model in privacy_models), ""]
    for key, model in privacy_models:
        parts += _model(key, model)
    return "\n".join(parts).rstrip() + "\n"


def _models_overview(key: str, model: type[PrivacyModel]) -> str:
    kept = f"{_declared(model, 'monotone_under_generalisation')} | {_declared(model, 'monotone_under_suppression')}"
    return f"| [`{key}`](#{key}) | {model.title} | {_looks_at(model)} | {_declared(model, 'local')} | {kept} |"


def _model(key: str, model: type[PrivacyModel]) -> Iterator[str]:
    yield f"## `{key}` {{ #{key} }}\n"
    yield f"{_words(model)}\n"
    own = _prose(inspect.cleandoc(model.__doc__ or ""))
    if own:
        yield f"{own}\n"
    yield f"- Source: {model.clause}"
    yield f"- Class by class: {_declared(model, 'local')}"
    yield f"- Kept when classes merge: {_declared(model, 'monotone_under_generalisation')}"
    yield f"- Kept when classes go: {_declared(model, 'monotone_under_suppression')}"
    if figures := ", ".join(_figure(figure) for figure in model.measured_by()):
        yield f"- Figures of `shoal measure`: {figures}"
    yield f"- Example: `- {key}: {model.example}`"
    yield f"- What the report says of it: {model(**yaml.safe_load(model.example)).explain()}"
    yield f"\n{_parameters(model)}\n"


def _figure(figure: Figure) -> str:
    """With what ``--require`` makes of it: a lower or an upper bound."""
    return f"`{figure.name}` ({'at least' if figure.more_is_safer else 'at most'})"


def _declared(model: type[PrivacyModel], name: str) -> str:
    fact = inspect.getattr_static(model, name)
    return _yes(fact) if isinstance(fact, bool) else "depends"


def _looks_at(model: type[PrivacyModel]) -> str:
    fields = model.model_fields
    if "attribute" in fields:
        return "sensitive values"
    return "population" if {"population", "population_size"} & fields.keys() else "class sizes"


def _parameters(entry: type[Parameters]) -> str:
    schema = entry.model_json_schema(by_alias=True)
    rows = list(_rows(schema, schema.get("$defs", {}), ""))
    return _table(("Parameter", "Values", "Default", "Meaning"), rows) if rows else "No parameters."


def _table(header: Row, rows: list[Row]) -> str:
    """A table without its last column where no row has anything to say there."""
    width = len(header) if any(row[-1] for row in rows) else len(header) - 1
    lines = (header, ("---",) * len(header), *rows)
    return "\n".join(f"| {' | '.join(line[:width])} |" for line in lines)


def _words(entry: type[Parameters]) -> str:
    """The file's docstring without its runnable examples."""
    return _prose(inspect.getdoc(sys.modules[entry.__module__]) or "")


def _prose(text: str) -> str:
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


PAGES = {
    FOLDER / "techniques.md": page,
    FOLDER / "privacy-models.md": models_page,
    FOLDER / "engines.md": engines.page,
}


def main(arguments: list[str]) -> int:
    if "--check" in arguments:
        return int(any(not path.exists() or path.read_text(encoding="utf-8") != made() for path, made in PAGES.items()))
    for path, made in PAGES.items():
        path.write_text(made(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
