"""How a policy names one of several kinds of things: a word, or one key with its parameters.

The shapes are assembled from the registries, so a new file is at once a new key, with its own parameter checks, its
place in the JSON Schema and its "did you mean".
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, PlainSerializer, create_model

from shoal.schema.parameters import Parameters
from shoal.schema.registry import Registry


class RegistryChoice(Parameters):
    """Exactly one of the registry's entries, under its key."""

    kind: ClassVar[str] = ""
    """What the entries are, in words."""


def one_of(name: str, registry: Registry[Any]) -> type[RegistryChoice]:
    """A model with a field for each entry."""
    fields: dict[str, Any] = {key: (entry | None, Field(default=None)) for key, entry in registry}
    model: type[RegistryChoice] = create_model(name, __base__=RegistryChoice, **fields)
    model.kind = registry.kind
    return model


def item(name: str, registry: Registry[Any]) -> Any:
    """The type of a field that holds one of the entries; it is written as a word or as one key."""
    model = one_of(name, registry)
    words = Literal[registry.names()]  # type: ignore[valid-type]  # the names are known only at run time
    return Annotated[
        model,
        BeforeValidator(_as_mapping, json_schema_input_type=words | model),
        AfterValidator(_the_one),
        PlainSerializer(_as_written),
    ]


def _as_mapping(value: object) -> object:
    """A bare word is that key with its defaults; a key without a value likewise; an entry stands for itself."""
    if isinstance(value, str):
        return {value: {}}
    if isinstance(value, dict):
        return {key: {} if given is None else given for key, given in value.items()}
    key = getattr(type(value), "key", None)
    return {key: value} if isinstance(value, Parameters) and isinstance(key, str) else value


def _the_one(choice: RegistryChoice) -> BaseModel:
    chosen = [getattr(choice, name) for name in choice.model_fields_set]
    if len(chosen) != 1 or chosen[0] is None:
        several = "; write a list to apply several in order" if choice.kind in ("technique", "privacy model") else ""
        raise ValueError(f"needs exactly one key here{several}")
    return chosen[0]  # type: ignore[no-any-return]  # built from the registry, so it is one of its models


def _as_written(entry: BaseModel) -> str | dict[str, Any]:
    given = entry.model_dump(mode="json", exclude_defaults=True, by_alias=True)
    key: str = entry.key  # type: ignore[attr-defined]  # whatever a registry holds has its key
    return {key: given} if given else key
