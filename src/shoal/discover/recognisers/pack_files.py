"""Recognisers from files: one file for a country or a field, one entry for a kind of value.

A file of one's own has the same form as those in ``packs``; an entry of a known name takes the place of ours. An
installed distribution adds files by the entry point ``shoal.recognisers``, which is the path of one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import Field, ValidationError, field_validator

from shoal.discover.recognisers.base import ANYTHING, InText, Recogniser
from shoal.discover.recognisers.checks import CHECKS, Check, RangeCheck, check_named
from shoal.discover.recognisers.expressions import Edges, LinearError, linear
from shoal.errors import SourceError
from shoal.schema.bounded_yaml import Loader, YamlBoundsError, check_bounds
from shoal.schema.parameters import Parameters
from shoal.schema.registry import did_you_mean
from shoal.schema.roles import Role
from shoal.schema.values import ValueType

LARGEST = 5_000_000
LISTS = "lists"
"""The one key of a file that is no kind of value: lists of words, which patterns name as ``<months>``."""


class CheckRange(Parameters):
    between: tuple[float, float]


def known_check(check: str | CheckRange | None) -> str | CheckRange | None:
    if isinstance(check, str) and check_named(check) is None:
        raise ValueError(f"unknown check '{check}'{did_you_mean(check, tuple(CHECKS))}")
    return check


class InColumns(Parameters):
    """How columns of the kind are known."""

    names: tuple[str, ...] = ()
    called: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    types: frozenset[ValueType] | None = None


class TextEntry(Parameters):
    """How it is found in running text. Words are given by language, for the reader's sake."""

    pattern: str | None = None
    check: str | CheckRange | None = None
    score: float = Field(default=0.5, ge=0, le=1)
    checked: float = Field(default=0.95, ge=0, le=1)
    edges: Edges = "both"
    exact_case: bool = False
    dense: bool = False
    context: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    after: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    avoid: tuple[str, ...] = ()
    avoid_after: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    words: tuple[str, ...] = ()
    """A dictionary instead of a pattern."""

    _checked = field_validator("check")(known_check)

    def in_text(self, pattern: str, check: str | CheckRange | None) -> InText:
        made = InText(
            self.pattern or (_either(self.words) if self.words else pattern),
            self.score,
            self.checked,
            _all(self.context),
            self.avoid,
            _all(self.avoid_after),
            _all(self.after),
            self.edges,
            _check(self.check or check),
            self.exact_case,
            self.dense,
        )
        looked_for = made.labelled if made.after else made.expression
        for name, expression in (("pattern", looked_for), *(("avoid", avoided) for avoided in made.avoid)):
            _refuse(name, expression)
        return made


def _refuse(name: str, expression: str) -> None:
    try:
        compiled = linear(expression)
    except LinearError as error:
        raise ValueError(f"the {name} is refused: {error} (look-around and back-references are not possible)") from None
    if name == "pattern" and compiled.search(b"") is not None:
        raise ValueError("the pattern matches an empty text")


def _all(words: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word.casefold() for group in words.values() for word in group if word.strip()))


class RecogniserEntry(Parameters):
    """One kind of value, as a file describes it."""

    title: str
    role: Role
    because: str
    pattern: str = ANYTHING
    strength: Annotated[float, Field(ge=0, le=1)] = 0.0
    check: str | CheckRange | None = None
    proof: str = ""
    type: str | None = None
    """What a span of it is called in text, where several entries find the same kind."""
    column: InColumns = InColumns()
    text: TextEntry | None = None
    technique: Any = None
    hierarchy: Any = None
    examples: tuple[str, ...] = ()
    """Texts in which it has to be found; of a kind that is looked for in columns only, cells that have its form."""
    counter_examples: tuple[str, ...] = ()
    """Texts in which it must not be found."""

    _checked = field_validator("check")(known_check)

    def recogniser(self, key: str) -> Recogniser:
        text = self.text
        return Recogniser(
            key,
            self.title,
            self.role,
            self.because,
            self.pattern,
            self.strength,
            self.column.names,
            self.column.never,
            _check(self.check),
            self.proof,
            self.column.types,
            self.technique,
            self.hierarchy,
            self.type or key,
            None if text is None else text.in_text(self.pattern, self.check),
            self.column.called,
            self.examples,
            self.counter_examples,
        )

    @field_validator("pattern")
    @classmethod
    def _linear(cls, pattern: str) -> str:
        try:
            linear(pattern)
        except LinearError as error:
            raise ValueError(f"is refused: {error} (look-around and back-references are not possible)") from None
        return pattern


def _check(named: str | CheckRange | None) -> Check | None:
    if named is None or isinstance(named, str):
        return None if named is None else check_named(named)
    return RangeCheck(*named.between)


def recognisers_at(path: Path) -> tuple[Recogniser, ...]:
    """Those of one file."""
    return recognisers_in(text_of(path), str(path))


def text_of(path: Path) -> str:
    """What stands in a file of recognisers."""
    try:
        if path.stat().st_size > LARGEST:
            raise SourceError(f"{path}: too large for a file of recognisers")
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise SourceError(f"{path}: can't be read as a file of recognisers") from None


def recognisers_in(text: str, source: str) -> tuple[Recogniser, ...]:
    try:
        check_bounds(text)
        entries = yaml.load(text, Loader=Loader)  # noqa: S506  a safe one
    except YamlBoundsError as error:
        raise SourceError(f"{source}, line {error.line}: {error}") from None
    except (ValueError, TypeError, OverflowError, AttributeError, KeyError):
        raise SourceError(f"{source}: holds a value that can't be read") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        raise SourceError(f"{source}{line}: is not YAML") from None
    if not isinstance(entries, dict):
        raise SourceError(f"{source}: a file of recognisers is a mapping, one key for each kind of value")
    try:
        written = word_lists(entries.pop(LISTS, {}))
    except ValueError as error:
        raise SourceError(f"{source}: {LISTS}: {error}") from None
    return tuple(_read(str(key), filled(value, written), source) for key, value in entries.items())


def word_lists(lists: object) -> dict[str, str]:
    """Expressions for the lists of a file, by what stands for them in a pattern."""
    if not isinstance(lists, dict) or not all(isinstance(words, list) and words for words in lists.values()):
        raise ValueError("is a mapping, one list of words for each name")
    return {f"<{name}>": _either(words) for name, words in lists.items()}


def _either(words: Sequence[object]) -> str:
    """Any of the words, the longer first."""
    return f"(?:{'|'.join(re.escape(word) for word in sorted(map(str, words), key=len, reverse=True))})"


def filled(value: Any, written: Mapping[str, str]) -> Any:
    """The entry with the lists that its patterns name."""
    if isinstance(value, dict):
        return {key: filled(part, written) for key, part in value.items()}
    if isinstance(value, list):
        return [filled(part, written) for part in value]
    if isinstance(value, str):
        for name, pattern in written.items():
            value = value.replace(name, pattern)
    return value


def _read(key: str, value: object, source: str) -> Recogniser:
    try:
        return RecogniserEntry.model_validate(value).recogniser(key)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise SourceError(f"{source}: {key}.{where}: {first['msg'].removeprefix('Value error, ')}") from None
    except ValueError as error:
        raise SourceError(f"{source}: {key}.text: {error}") from None
