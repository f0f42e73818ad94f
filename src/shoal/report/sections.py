"""The sections of the page: one template each, which says itself where it stands and who may see it.

A new section is one new file in ``templates/sections``, or one in another distribution under the entry point
``shoal.report_sections``, which is its path and whose name is the section's id. Its first comment is its declaration::

    {#
    title: Warnings
    order: 10
    editions: [owner]
    shown: page.warnings
    #}

The template sees the page and nothing else. A section that does not name the recipient's edition is not in it, whatever
the page holds; without ``shown`` it is always there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import cache
from importlib import resources
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import TYPE_CHECKING, Final

import yaml
from jinja2 import ChoiceLoader, Environment, FunctionLoader, PackageLoader, StrictUndefined, TemplateError
from jinja2.environment import TemplateExpression
from pydantic import Field, ValidationError

from shoal.errors import InputError
from shoal.report.compiled_templates import CompiledTemplates
from shoal.report.quoted_names import long_word, prose
from shoal.report.reassessments import ReassessmentRows, place
from shoal.results.number_format import percent, small, span
from shoal.schema.bounded_yaml import Loader
from shoal.schema.parameters import Parameters
from shoal.schema.registry import loaded, plugins

if TYPE_CHECKING:
    from shoal.report.page import ReportPage

PLUGINS: Final = "shoal.report_sections"
_FOLDER: Final = "sections"
_ENDING: Final = ".html.j2"
_OUTSIDE: Final = "plug-ins/"
_DECLARATION: Final = re.compile(r"\{#\n(.*?)#\}\n", re.DOTALL)
_LARGEST: Final = 1_000_000


class Edition(StrEnum):
    OWNER = "owner"
    RECIPIENT = "recipient"


class SectionDeclaration(Parameters):
    title: str = Field(min_length=1)
    order: int
    editions: frozenset[Edition] = Field(min_length=1)
    shown: str | None = None
    """An expression of the page; the section is there where it holds something."""


class ReportSection(Parameters):
    key: str = Field(pattern=r"[a-z][a-z0-9_-]*")
    """The id of its heading."""
    declared: SectionDeclaration
    template: str
    """The name that its template is loaded by."""

    def is_shown(self, page: ReportPage) -> bool:
        if (Edition.RECIPIENT if page.recipient else Edition.OWNER) not in self.declared.editions:
            return False
        shown = self.declared.shown
        return shown is None or bool(_condition(shown)(page=page))


@cache
def _condition(shown: str) -> TemplateExpression:
    """Both editions ask the same."""
    return environment().compile_expression(shown)


@cache
def sections() -> tuple[ReportSection, ...]:
    """All that are there, in the order of the page."""
    found = {one.key: one for one in _own()}
    for entry in plugins(PLUGINS):
        if entry.name in found:
            raise _refused(entry, f"there is a report section '{entry.name}' already")
        found[entry.name] = _from_outside(entry)
    return tuple(sorted(found.values(), key=lambda one: (one.declared.order, one.key)))


def titles(page: ReportPage) -> dict[str, str]:
    """Of the sections that the page has, by their id, in order."""
    return {one.key: one.declared.title for one in sections() if one.is_shown(page)}


def _own() -> Iterator[ReportSection]:
    folder = resources.files("shoal.report") / "templates" / _FOLDER
    for file in folder.iterdir():
        if file.name.endswith(_ENDING):
            text = file.read_text(encoding="utf-8")
            yield _declared(file.name.removesuffix(_ENDING), text, f"{_FOLDER}/{file.name}")


def _declared(key: str, text: str, template: str) -> ReportSection:
    """ValueError if the template does not begin with a declaration."""
    head = _DECLARATION.match(text)
    if head is None:
        raise ValueError("it has to begin with its declaration")
    try:
        given = yaml.load(head[1], Loader=Loader)  # noqa: S506  a safe one
        return ReportSection(key=key, declared=SectionDeclaration.model_validate(given), template=template)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ValueError(f"{where}: {first['msg']}") from None
    except yaml.YAMLError:
        raise ValueError("its declaration is not YAML") from None


def _from_outside(entry: EntryPoint) -> ReportSection:
    try:
        section = _declared(entry.name, _text_of(entry), f"{_OUTSIDE}{entry.name}")
        environment().parse(_text_of(entry))
        environment().compile_expression(section.declared.shown or "true")
    except (OSError, TypeError, UnicodeDecodeError):
        raise _refused(entry, "it names no file that can be read") from None
    except TemplateError:
        raise _refused(entry, "its template can't be read") from None
    except ValueError as error:
        raise _refused(entry, str(error)) from None
    return section


@cache
def _text_of(entry: EntryPoint) -> str:
    path = Path(loaded(entry))
    if path.stat().st_size > _LARGEST:
        raise ValueError("its template is too large")
    return path.read_text(encoding="utf-8")


def _refused(entry: EntryPoint, reason: str) -> InputError:
    return InputError(
        f"the plug-in '{entry.name}' ({entry.value}) can't be used: {reason}", advice="mend it or uninstall it"
    )


def _template_from_outside(name: str) -> str | None:
    known: Sequence[EntryPoint] = plugins(PLUGINS) if name.startswith(_OUTSIDE) else ()
    return next((_text_of(entry) for entry in known if name == f"{_OUTSIDE}{entry.name}"), None)


@cache
def environment() -> Environment:
    """Of all pages: what comes from facts is escaped, and what is not there is an error."""
    made = Environment(
        loader=ChoiceLoader([PackageLoader("shoal.report"), FunctionLoader(_template_from_outside)]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    settings = (made.trim_blocks, made.lstrip_blocks, made.keep_trailing_newline, made.autoescape, made.undefined)
    made.bytecode_cache = CompiledTemplates(Path(__file__).with_name("templates"), repr(settings))
    made.filters |= {"prose": prose, "percent": percent, "small": small}
    made.tests["long_word"] = long_word
    made.globals |= {"place": place, "span": span}
    made.globals["nobody_yet"] = ReassessmentRows()
    return made
