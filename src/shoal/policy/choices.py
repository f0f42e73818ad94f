"""How a policy names a technique, a hierarchy or a model: a word, or one key with its parameters.

The shapes are assembled from the registries, so a new technique file is at once a new policy key, with its own
parameter checks, its place in the JSON Schema and its "did you mean".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import BeforeValidator

from shoal.hierarchy import Hierarchy, hierarchies
from shoal.privacy import PrivacyModel, privacy_models
from shoal.schema.registry_choices import RegistryChoice, item, one_of
from shoal.techniques import Technique, table_techniques, techniques


def _as_list(value: object) -> object:
    return value if isinstance(value, list | tuple) else [value]


if TYPE_CHECKING:
    OneHierarchy = Hierarchy
    OneModel = PrivacyModel
    TechniqueList = tuple[Technique, ...]

    class TableTechniques(RegistryChoice): ...
else:
    OneHierarchy = item("HierarchyChoice", hierarchies)
    OneModel = item("PrivacyModelChoice", privacy_models)
    _OneTechnique = item("TechniqueChoice", techniques)
    TechniqueList = Annotated[
        tuple[_OneTechnique, ...],
        BeforeValidator(_as_list, json_schema_input_type=_OneTechnique | list[_OneTechnique]),
    ]
    TableTechniques = one_of("TableTechniques", table_techniques)
