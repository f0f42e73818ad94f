"""Options that go together and that several commands have: declared once, taken by a command as one parameter.

An option set is a frozen dataclass whose fields are annotated as a command's parameters are. A command that has a
parameter of its type gets all its options::

    def profile(data: …, reader: ReaderFlags = NO_FLAGS) -> None: …
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import fields
from functools import wraps
from typing import Any, Final, get_type_hints

_IS_EXPANDED: Final = "is_expanded"


class OptionSet:
    """The base of what ``expanded`` takes apart."""

    def around(self) -> AbstractContextManager[None]:
        """What holds while the command runs."""
        return nullcontext()


def expanded(command: Callable[..., Any], *everywhere: type[OptionSet]) -> Callable[..., Any]:
    """The command with the options of its option sets in their place, and with those that every command has."""
    if getattr(command, _IS_EXPANDED, False):
        return command
    signature = inspect.signature(command, eval_str=True)
    hints = {name: parameter.annotation for name, parameter in signature.parameters.items()}
    sets = {name: kind for name, kind in hints.items() if isinstance(kind, type) and issubclass(kind, OptionSet)}
    parameters = []
    for parameter in signature.parameters.values():
        if parameter.name in sets:
            parameters += _options_of(sets[parameter.name])
        else:
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
    parameters += [option for kind in everywhere for option in _options_of(kind)]

    @wraps(command)
    def call(**given: Any) -> Any:
        made = {name: _made(kind, given) for name, kind in sets.items()}
        with ExitStack() as held:
            for one in (*made.values(), *(_made(kind, given) for kind in everywhere)):
                held.enter_context(one.around())
            return command(**given, **made)

    call.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    setattr(call, _IS_EXPANDED, True)
    call.__annotations__ = {one.name: one.annotation for one in parameters}
    return call


def _made(kind: type[OptionSet], given: dict[str, Any]) -> OptionSet:
    return kind(**{option.name: given.pop(option.name) for option in _options_of(kind)})


def _options_of(kind: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    return [
        inspect.Parameter(one.name, inspect.Parameter.KEYWORD_ONLY, default=one.default, annotation=hints[one.name])
        for one in fields(kind)
    ]
