"""Forms for acts of the registry, made from the same declarations as the options of `shoal register`.

What is asked for is what the command line asks for, but for paths: nobody names a file of the server. Of a file that
shows something the browser gives name and checksum, and what is in it stays with who has it.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum
from types import UnionType
from typing import TYPE_CHECKING, Any, Final, Union, get_args, get_origin

from shoal.errors import InputError
from shoal.govern.rights import role_rights
from shoal.govern.training import training_topics

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from shoal.govern.record_kinds import RecordAct

FILE: Final = "file"
CHECKSUM: Final = "sha256"
SERVER_PATHS: Final = frozenset({"folder", "result"})
LONGEST: Final = 4000
_BY_COMMAND: Final = frozenset({
    *(("release", act) for act in ("enter", "announce", "compose")),
    *(("opt-out", act) for act in ("withdraw", "again", "widen", "return")),
    ("package", "pack"), ("request", "draft"), ("destruction", "prove"), ("person", "sit"), ("incident", "reissue"),
})  # fmt: skip
"""Written by what does the work (a run, a check, a package, an examination), never by a form that only says so."""
_LONG_TEXTS: Final = frozenset(
    {"note", "text", "reason", "purpose", "found", "action", "root_cause", "answer", "wanted"}
)


class Widget(StrEnum):
    TEXT = "text"
    LONG = "long"
    NUMBER = "number"
    DATE = "date"
    CHECK = "check"
    CHOICE = "choice"
    CHOICES = "choices"
    LINES = "lines"
    FILE = "file"


@dataclass(frozen=True)
class FormField:
    name: str
    label: str
    widget: Widget
    required: bool
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class ActForm:
    kind: str
    act: str
    about: str
    begins: bool
    fields: tuple[FormField, ...]

    def given(self, told: Mapping[str, Any]) -> dict[str, Any]:
        """What the act is given; a field that is not asked for is refused, whatever the act could take."""
        known = {field.name for field in self.fields}
        known |= {CHECKSUM} if FILE in known else set()
        for name in told:
            if name not in known:
                raise InputError("is not asked for", field=name if len(name) <= 40 and name.isidentifier() else "field")
        given = {name: value for name, value in told.items() if value not in (None, "", [], False)}
        if given.get(FILE) and not given.get(CHECKSUM):
            raise InputError("comes with its checksum", field=FILE)
        if FILE in given:
            given[FILE] = str(given[FILE]).replace("\\", "/").rpartition("/")[2][:200]
        return given


def act_form(kind: str, act: RecordAct) -> ActForm | None:
    """None of an act that is no matter of a form, or asks for something that no form has a field for."""
    if (kind, act.name) in _BY_COMMAND:
        return None
    asked = {name: field for name, field in act.given.model_fields.items() if field.description}
    fields = tuple(_fields(asked))
    missing = {name for name, field in act.given.model_fields.items() if field.is_required()} - {
        field.name for field in fields
    }
    return None if missing else ActForm(kind, act.name, act.about, act.begins, fields)


def _fields(asked: Mapping[str, FieldInfo]) -> Iterator[FormField]:
    for name, field in asked.items():
        if name in SERVER_PATHS:
            continue
        shape = _shape(name, field.annotation)
        if shape is not None:
            widget, choices = shape
            yield FormField(name, str(field.description), widget, field.is_required(), choices)


def _shape(name: str, annotation: Any) -> tuple[Widget, tuple[str, ...]] | None:
    if name in _NAMED and annotation in _NAMED[name]:
        return {FILE: (Widget.FILE, ()), "topic": (Widget.CHOICE, tuple(training_topics())),
                "roles": (Widget.CHOICES, tuple(role_rights()))}[name]  # fmt: skip
    if get_origin(annotation) in {Union, UnionType}:
        return _shape(name, next(one for one in get_args(annotation) if one is not type(None)))
    if get_origin(annotation) is tuple:
        return _several(_shape(name, get_args(annotation)[0]))
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return Widget.CHOICE, tuple(str(one.value) for one in annotation)
    return (_simple(name, annotation), ()) if annotation in _SIMPLE else None


_NAMED: Final[Mapping[str, tuple[Any, ...]]] = {FILE: (str,), "topic": (str,), "roles": (tuple[str, ...],)}
"""Fields whose values are known, though their declaration takes any text."""


def _several(one: tuple[Widget, tuple[str, ...]] | None) -> tuple[Widget, tuple[str, ...]] | None:
    if one is None or one[0] not in {Widget.TEXT, Widget.LONG, Widget.CHOICE}:
        return None
    return (Widget.CHOICES, one[1]) if one[0] is Widget.CHOICE else (Widget.LINES, ())


_SIMPLE: Final = {str: Widget.TEXT, int: Widget.NUMBER, float: Widget.NUMBER, bool: Widget.CHECK,
                  datetime.date: Widget.DATE, datetime.datetime: Widget.TEXT}  # fmt: skip


def _simple(name: str, annotation: Any) -> Widget:
    return Widget.LONG if annotation is str and name in _LONG_TEXTS else _SIMPLE[annotation]


def from_form(form: ActForm, sent: Mapping[str, list[str]]) -> dict[str, Any]:
    """What a browser sent, as what the act is given."""
    told: dict[str, Any] = {}
    for field in form.fields:
        values = [one.strip()[:LONGEST] for one in sent.get(field.name, []) if one.strip()]
        if field.widget is Widget.LINES:
            told[field.name] = [line.strip() for one in values for line in one.splitlines() if line.strip()]
        elif field.widget is Widget.CHOICES:
            told[field.name] = values
        elif field.widget is Widget.CHECK:
            told[field.name] = bool(values)
        elif values:
            told[field.name] = values[0]
        if field.widget is Widget.FILE:
            told[CHECKSUM] = next(iter(sent.get(CHECKSUM, [])), "").strip()
    return told
