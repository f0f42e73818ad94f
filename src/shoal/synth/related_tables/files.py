"""Models of several tables as files (see ``model_files``)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from shoal.synth.method import Arrays
from shoal.synth.model_files import load_state, save_state
from shoal.synth.related_tables.model import RelatedTablesModel, related_tables_model

_NAME: Final = "related-tables"


def save_related_tables(model: RelatedTablesModel, path: Path) -> None:
    """Written whole or not at all; the same model gives the same bytes."""
    save_state(path, _NAME, *model.saved())


def load_related_tables(path: Path) -> RelatedTablesModel:
    return load_state(path, _made)


def _made(method: str, state: Mapping[str, Any], arrays: Arrays) -> RelatedTablesModel:
    if method != _NAME:
        raise ValueError
    return related_tables_model(state, arrays)
