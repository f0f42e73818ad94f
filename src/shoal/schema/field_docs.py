"""What the docstrings below fields say, as descriptions in a JSON Schema, read when somebody asks for the schema.

Pydantic can do so by itself, but reads the source of every such class whenever it is imported: a tenth of the time in
which a command starts.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from itertools import pairwise

from pydantic import BaseModel, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema


class DocumentedFields(BaseModel):
    """A model whose fields are explained by the docstrings that follow them."""

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        full = handler(core)
        shown = handler.resolve_ref_schema(full).get("properties", {})
        for name, text in field_docs(cls).items():
            field = cls.model_fields[name]
            for key in {name, field.alias, field.serialization_alias, field.validation_alias} & shown.keys():
                shown[key].setdefault("description", text)
        return full


def field_docs(model: type[BaseModel]) -> dict[str, str]:
    """By field, what is written below it; a class that redefines a field of its parent without a word keeps none."""
    found: dict[str, str] = {}
    for owner in reversed(model.__mro__):
        if issubclass(owner, BaseModel) and owner is not BaseModel:
            own = _written(owner)
            found = {name: text for name, text in found.items() if name not in own} | own
    return {name: text for name, text in found.items() if text and name in model.model_fields}


def _written(model: type[BaseModel]) -> dict[str, str]:
    """Of the fields that the source of this class defines; "" of those without a word."""
    try:
        source = textwrap.dedent(inspect.getsource(model))
    except (OSError, TypeError):  # made at run time
        return {}
    (body,) = (node.body for node in ast.parse(source).body if isinstance(node, ast.ClassDef))
    found = {}
    for line, following in pairwise([*body, ast.Pass()]):
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
            found[line.target.id] = _text(following)
    return found


def _text(line: ast.stmt) -> str:
    said = line.value if isinstance(line, ast.Expr) else None
    return inspect.cleandoc(said.value) if isinstance(said, ast.Constant) and isinstance(said.value, str) else ""
