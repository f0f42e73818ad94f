"""What was once worked out of a word or a text is remembered by the finder that it was worked out for, and is gone with
it: no word of anybody's text outlives the object that read it.

A function deep inside a finder is marked ``cached_in_scope``. It has a table in the memory that is in use when it is
called; where none is, it works things out anew.

>>> @cached_in_scope(most=2)
... def length(word: str) -> int:
...     asked.append(word)
...     return len(word)
>>> asked, memory = [], ScopedCache()
>>> with memory.in_use():
...     [length(word) for word in ("Pune", "Goa", "Pune")]
[4, 3, 4]
>>> asked
['Pune', 'Goa']
>>> length("Pune"), asked
(4, ['Pune', 'Goa', 'Pune'])
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, Final, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")
_MISSING: Final = object()


class ScopedCache:
    """Tables of what is known, one for each function. A copy that travels begins anew."""

    def __init__(self) -> None:
        self.tables: dict[object, dict[Any, Any]] = {}

    def __reduce__(self) -> tuple[type[ScopedCache], tuple[()]]:
        return ScopedCache, ()

    def table(self, function: object) -> dict[Any, Any]:
        return self.tables.setdefault(function, {})

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Inside, functions that are ``cached_in_scope`` look here; in this thread only."""
        before = _current.set(self)
        try:
            yield
        finally:
            _current.reset(before)


_current: ContextVar[ScopedCache | None] = ContextVar("memory", default=None)


def cached_in_scope(most: int) -> Callable[[Callable[[Key], Value]], Callable[[Key], Value]]:
    """Of ``most`` arguments at once; then it begins anew."""

    def keeping(function: Callable[[Key], Value]) -> Callable[[Key], Value]:
        current = _current.get

        @wraps(function)
        def look_up(key: Key, /) -> Value:
            memory = current()
            if memory is None:
                return function(key)
            table = memory.tables.get(function)
            if table is None:
                table = memory.table(function)
            found: Any = table.get(key, _MISSING)
            if found is _MISSING:
                found = function(key)
                if len(table) >= most:
                    table.clear()
                table[key] = found
            return found  # type: ignore[no-any-return]

        return look_up

    return keeping
