"""How a policy names a technique, a hierarchy or a model: a word, or one key with its parameters.

The shapes are assembled from the registries, so a new technique file is at once a new policy key, with its own
parameter checks, its place in the JSON Schema and its "did you mean".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, create_model

from shoal.hierarchy import Hierarchy, hierarchies
from shoal.privacy import PrivacyModel, privacy_models
from shoal.schema.parameters import Parameters
from shoal.schema.registry import Registry
from shoal.techniques import Technique, table_techniques, techniques


class Choice(Parameters):
    """Exactly one of the registry's entries, under its key."""


def _one_of(name: str, registry: Registry[Any]) -> type[Choice]:
    fields: dict[str, Any] = {key: (entry | None, Field(default=None)) for key, entry in registry}
    return create_model(name, __base__=Choice, **fields)


def _as_mapping(value: object) -> object:
    """A bare word is that key with its defaults; a key without a value likewise."""
    if isinstance(value, str):
        return {value: {}}
    if isinstance(value, dict):
        return {key: {} if given is None else given for key, given in value.items()}
    return value


def _the_one(choice: BaseModel) -> BaseModel:
    chosen = [getattr(choice, name) for name in choice.model_fields_set]
    if len(chosen) != 1 or chosen[0] is None:
        raise ValueError("needs exactly one key here; write a list to apply several in order")
    return chosen[0]  # type: ignore[no-any-return]  # built from the registry, so it is one of its models


def _item(name: str, registry: Registry[Any]) -> Any:
    model = _one_of(name, registry)
    words = Literal[registry.names()]  # type: ignore[valid-type]  # the names are known only at run time
    return Annotated[
        model, BeforeValidator(_as_mapping, json_schema_input_type=words | model), AfterValidator(_the_one)
    ]


def _as_list(value: object) -> object:
    return value if isinstance(value, list | tuple) else [value]


if TYPE_CHECKING:
    OneHierarchy = Hierarchy
    OneModel = PrivacyModel
    TechniqueList = tuple[Technique, ...]

    class TableTechniques(Choice): ...
else:
    OneHierarchy = _item("HierarchyChoice", hierarchies)
    OneModel = _item("PrivacyModelChoice", privacy_models)
    _OneTechnique = _item("TechniqueChoice", techniques)
    TechniqueList = Annotated[
        tuple[_OneTechnique, ...],
        BeforeValidator(_as_list, json_schema_input_type=_OneTechnique | list[_OneTechnique]),
    ]
    TableTechniques = _one_of("TableTechniques", table_techniques)
