"""Expressions that are compiled when they are first used: most texts meet few of the rules, and to compile all of them
takes longer than to scrub a page.

>>> word = lazy_pattern("[a-z]+")
>>> word.findall("to be")
['to', 'be']
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any, cast


class _LazyPattern:
    """Stands for a compiled expression; each method is looked up once and kept."""

    def __init__(self, source: str, flags: re.RegexFlag) -> None:
        self._made_of = source, flags

    def __reduce__(self) -> tuple[type[_LazyPattern], tuple[str, re.RegexFlag]]:
        return _LazyPattern, self._made_of

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        return re.compile(*self._made_of)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        found = getattr(self.compiled, name)
        setattr(self, name, found)
        return found


def lazy_pattern(source: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    """As ``re.compile``, later. What a match calls its ``re`` is the compiled expression, not what is given here."""
    return cast("re.Pattern[str]", _LazyPattern(source, flags))
