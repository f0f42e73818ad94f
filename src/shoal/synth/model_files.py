"""Models as files: a zip archive of JSON and arrays, in which nothing can be run."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
from pydantic import ValidationError

from shoal.errors import SourceError
from shoal.io.atomic.file_replacement import atomic_binary
from shoal.synth.method import Arrays, SynthesisModel, synthesis_method

_VERSION: Final = 1
_STATE: Final = "model"
Model = TypeVar("Model")


def save_model(model: SynthesisModel, path: Path) -> None:
    """Written whole or not at all; the same model gives the same bytes."""
    save_state(path, model.method, *model.saved())


def save_state(path: Path, method: str, state: dict[str, Any], arrays: Arrays) -> None:
    whole = {"shoal_model": _VERSION, "method": method, "state": state}
    text = json.dumps(whole, ensure_ascii=False).encode()  # columns stay in their order
    with atomic_binary(path) as file:
        np.savez_compressed(file, **{_STATE: np.frombuffer(text, dtype=np.uint8)}, **arrays)  # type: ignore[arg-type]


def load_model(path: Path) -> SynthesisModel:
    return load_state(path, lambda method, state, arrays: synthesis_method(method).load(state, arrays))


def load_state(path: Path, made: Callable[[str, Mapping[str, Any], Arrays], Model]) -> Model:
    """What is ``made`` of the name of a method, and of what its model saved; a SourceError where nothing can be."""
    try:
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        whole = json.loads(arrays.pop(_STATE).tobytes().decode())
        if whole["shoal_model"] != _VERSION:
            raise SourceError(f"'{path.name}' was written by another version")
        return made(whole["method"], whole["state"], arrays)
    except OSError as error:
        raise SourceError(f"'{path.name}' can't be read: {type(error).__name__}") from None
    except (ValueError, KeyError, TypeError, AttributeError, EOFError, zipfile.BadZipFile, ValidationError):
        raise SourceError(f"'{path.name}' is no model of a table, or is damaged") from None
