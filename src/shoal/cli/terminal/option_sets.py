"""Options that go together and that several commands have: declared once, taken by a command as one parameter.

An option set is a frozen dataclass whose fields are annotated as a command's parameters are. A command that has a
parameter of its type gets all its options::

    def profile(data: …, reader: ReaderFlags = NO_FLAGS) -> None: …
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from typing import Any, get_type_hints


class OptionSet:
    """The base of what ``expanded`` takes apart."""


def expanded(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command with the options of its option sets in their place."""
    hints = get_type_hints(command, include_extras=True)
    sets = {name: kind for name, kind in hints.items() if isinstance(kind, type) and issubclass(kind, OptionSet)}
    if not sets:
        return command
    signature = inspect.signature(command)
    parameters = [
        option
        for parameter in signature.parameters.values()
        for option in (
            _options_of(sets[parameter.name])
            if parameter.name in sets
            else [parameter.replace(annotation=hints[parameter.name], kind=inspect.Parameter.KEYWORD_ONLY)]
        )
    ]

    @wraps(command)
    def call(**given: Any) -> Any:
        for name, kind in sets.items():
            given[name] = kind(**{option.name: given.pop(option.name) for option in _options_of(kind)})
        return command(**given)

    call.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {one.name: one.annotation for one in parameters}
    return call


def _options_of(kind: type) -> list[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    return [
        inspect.Parameter(one.name, inspect.Parameter.KEYWORD_ONLY, default=one.default, annotation=hints[one.name])
        for one in fields(kind)
    ]
