"""Everything that Shoal raises.

ShoalError
├── InputError                what the user gave can't be used (exit code 2)
│   ├── SourceError           a file, folder or database that can't be read
│   ├── DataError             rows or columns that don't fit what the policy asks
│   ├── PolicyError           a policy with problems, all of them at once
│   ├── TargetError           an output that can't be written
│   ├── InfeasibleError       privacy models that can't be met on this data
│   ├── AccessError           a key or a right that is lacking
│   ├── IntegrityError        something sealed that was altered, cut short or replaced by an older copy
│   └── RefusedQuestion       a question that the curator does not answer
├── BudgetExhausted           a question that costs more than is left (exit code 1)
├── Cancelled                 work that was asked to stop, and did (exit code 130)
└── BugError                  our mistake, please report it (exit code 3)

Each class carries a stable ``code`` (``SHOAL-…``); the page ``docs/reference/errors.md`` has an anchor for each.
No message ever holds a value from the data: columns are named, values are counted.

An error that is about an input says which, as a ``field``: the library calls it by its Python name, the command line by
its flag, a form shows the message next to it. Text that names inputs in passing is a ``FieldText``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Self

_UNSEEN: Final = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""What ends a line, moves the cursor, turns the direction of writing or can't be encoded."""


def printable(text: str) -> str:
    r"""For a line on a screen: a column or a file may be named by somebody who wants it to look like something else.

    >>> printable("age\r\nerror: none")
    'age\\r\\nerror: none'
    """
    return _UNSEEN.sub(lambda found: ascii(found.group())[1:-1], text)


@dataclass(frozen=True)
class FieldName:
    """An input by its name in Python. Each door to the library has its own way to write it."""

    name: str
    example: str = ""
    """What could be given."""
    of: str = ""
    """The use case that takes it, where it is another one than is under way."""

    def keyword(self) -> str:
        """
        >>> FieldName("by_records").keyword(), FieldName("harm", "high").keyword()
        ('by_records', 'harm=high')
        """
        written = f"{self.name}={self.example}" if self.example else self.name
        return f"`{self.of}` with `{written}`" if self.of else written


FieldStyle = Callable[[FieldName], str]
"""How a door writes an input: as a keyword, a flag, the label of a form."""


class FieldText(str):
    """Text that names inputs. As a string it has them as Python keywords.

    >>> said = FieldText("give ", FieldName("weight"), " too")
    >>> said, said.styled(lambda field: field.name.upper())
    ('give weight too', 'give WEIGHT too')
    """

    parts: tuple[str | FieldName, ...]
    __slots__ = ("parts",)

    def __new__(cls, *parts: str | FieldName) -> FieldText:
        flat = [each for part in parts for each in (part.parts if isinstance(part, FieldText) else (part,))]
        made = super().__new__(cls, "".join(each.keyword() if isinstance(each, FieldName) else each for each in flat))
        made.parts = tuple(flat)
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return FieldText, self.parts

    def styled(self, style: FieldStyle) -> str:
        return "".join(style(part) if isinstance(part, FieldName) else part for part in self.parts)


def styled(text: str, style: FieldStyle) -> str:
    """Text of any kind with the inputs that it names, if any, as a door writes them."""
    return text.styled(style) if isinstance(text, FieldText) else text


def _fixed(text: str, style: FieldStyle, names: Collection[str]) -> str:
    if not isinstance(text, FieldText):
        return text
    return FieldText(
        *(style(each) if isinstance(each, FieldName) and each.name in names else each for each in text.parts)
    )


class ShoalError(Exception):
    """The root of the tree: one clear line, a stable code, a page that explains it."""

    code: ClassVar[str] = "SHOAL-000"
    exit_code: ClassVar[int] = 3

    def __init__(self, message: str, *, field: str | FieldName | None = None, advice: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.field = FieldName(field) if isinstance(field, str) else field
        """The input that can't be used, where it is one."""
        self.advice = advice

    def __str__(self) -> str:
        return self.styled(FieldName.keyword)

    @property
    def text(self) -> FieldText:
        """The input, what is wrong with it, what to do: for one line on a screen."""
        about = () if self.field is None else (self.field, ": ")
        whole = FieldText(*about, self.message, *((" (", self.advice, ")") if self.advice else ()))
        return FieldText(*(part if isinstance(part, FieldName) else printable(part) for part in whole.parts))

    def styled(self, style: FieldStyle) -> str:
        """The text as one line, as a door writes it."""
        return printable(self.text.styled(style))

    def with_fields(self, style: FieldStyle, names: Collection[str]) -> Self:
        """The same error with the inputs of these names written in one way, whatever door it goes through."""
        other = copy(self)
        other.message = _fixed(self.message, style, names)
        other.advice = None if self.advice is None else _fixed(self.advice, style, names)
        return other

    @classmethod
    def anchor(cls) -> str:
        return f"reference/errors.html#{cls.code.lower()}"


class InputError(ShoalError):
    """What the user gave can't be used; nothing was written."""

    code = "SHOAL-100"
    exit_code = 2


class SourceError(InputError):
    """A file, folder or database that can't be read as a table."""

    code = "SHOAL-110"


class DataError(InputError):
    """Rows or columns that don't fit what the policy asks of them."""

    code = "SHOAL-120"


@dataclass(frozen=True, order=True)
class PolicyProblem:
    """One thing wrong with a policy, where it stands in the file, and what was probably meant."""

    line: int
    column: int
    path: str
    message: str

    def __str__(self) -> str:
        where = f"line {self.line}, column {self.column}: " if self.line else ""
        what = f"{self.path}: " if self.path else ""
        return printable(f"{where}{what}{self.message}")


class PolicyError(InputError):
    """A policy with problems; ``problems`` lists all of them."""

    code = "SHOAL-130"

    def __init__(self, problems: list[PolicyProblem], *, source: str = "policy") -> None:
        self.problems = tuple(sorted(problems))
        self.source = source
        shown = "; ".join(str(problem) for problem in self.problems)
        super().__init__(f"{source}: {shown}")


class TargetError(InputError):
    """An output that can't be written; what was there before is untouched."""

    code = "SHOAL-140"


class InfeasibleError(InputError):
    """The privacy models can't be met on this data with this policy."""

    code = "SHOAL-150"


class AccessError(InputError):
    """A key, a passphrase or a right that is lacking; nothing was shown or changed."""

    code = "SHOAL-160"


class IntegrityError(InputError):
    """Something sealed that was altered, cut short or replaced by an older copy; it is not answered from."""

    code = "SHOAL-170"


class RefusedQuestion(InputError):  # noqa: N818  # nothing went wrong
    """A question outside of what can be asked; nothing was read and nothing is spent."""

    code = "SHOAL-180"


class BudgetExhausted(ShoalError):  # noqa: N818  # nothing went wrong
    """A question that costs more than is left; nothing was read and nothing is spent."""

    code = "SHOAL-190"
    exit_code = 1


class Cancelled(ShoalError):  # noqa: N818  # nothing went wrong
    """Work that was asked to stop; nothing was written. No InputError: who forgives faults of data must let it pass."""

    code = "SHOAL-300"
    exit_code = 130

    def __init__(self) -> None:
        super().__init__("interrupted: nothing was written")


def install_advice(extra: str) -> str:
    """How to get what the base installation leaves out; quoted, since shells read brackets.

    >>> install_advice("text")
    'pip install "shoal[text]"'
    """
    return f'pip install "shoal[{extra}]"'


def is_panic(error: BaseException) -> bool:
    """Whether a library written in Rust broke down. Such an error is no Exception, and each library has its own."""
    return type(error).__name__ == "PanicException"


class BugError(ShoalError):
    """Our mistake, not the user's."""

    code = "SHOAL-900"
    exit_code = 3
