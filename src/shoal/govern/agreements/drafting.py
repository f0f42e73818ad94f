"""A draft of an agreement: the clauses of a template with what is recorded, blanks where nothing is.

A blank is visible in the text, numbered, and listed at the end. A draft is words of ours with facts of the registry; it
binds nobody until both sides have completed, checked and signed it.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from shoal.govern.agreements.particulars import Particular, known_request, particulars
from shoal.govern.agreements.templates import PLACEHOLDER, AgreementTemplate, agreement_template, placeholders
from shoal.govern.kinds.request import AgreementClause
from shoal.govern.registry import GovernanceRegistry
from shoal.io import sha256_of
from shoal.report.plain_document import DocumentSection, PlainDocument

BLANK: Final = "________"
_COLUMNS: Final = ("what", "is", "recorded in")
_WARNING: Final = (
    "A draft from a template and what is recorded. It is no legal advice, and nothing is agreed before both sides have "
    "completed it, had it checked and signed it."
)


@dataclass(frozen=True)
class AgreementPage:
    """A draft before it is written to a file."""

    request: str
    template: str
    release: str
    page: PlainDocument
    clauses: tuple[AgreementClause, ...]
    blanks: Mapping[str, str]
    """What the registry doesn't know: by placeholder, what is asked for."""

    def to_dict(self) -> dict[str, Any]:
        return {
            "request": self.request,
            "template": self.template,
            "release": self.release,
            "clauses": [clause.value for clause in self.clauses],
            "blanks": dict(self.blanks),
        }


def draft_agreement(  # noqa: PLR0913  # of which request, by whom, with what the registry can't know yet
    registry: GovernanceRegistry, identifier: str, template: str, *, by: str, release: str = "", channel: str = ""
) -> AgreementPage:
    """As it would be written now. Refused for whom, and in a status in which, recording it would be."""
    chosen = agreement_template(template)
    registry.require("request", "draft", identifier, by=by)
    known = particulars(registry, identifier, release=release, channel=channel)
    named = release or known_request(registry, identifier).release
    blanks = tuple(name for name in chosen.placeholders if name not in known)
    page = agreement_document(chosen, known, registry.today().isoformat())
    clauses = tuple(clause.id for clause in chosen.clauses)
    return AgreementPage(
        identifier, template, named, page, clauses, {name: placeholders()[name].asks for name in blanks}
    )


def record_draft(registry: GovernanceRegistry, made: AgreementPage, written: Path, *, by: str) -> str:
    """Put the checksum of what was written into the registry. Where that fails, there is no draft either."""
    sha256 = sha256_of(written)
    given = {
        "template": made.template,
        "sha256": sha256,
        "clauses": made.clauses,
        "blanks": tuple(made.blanks),
        "release": made.release,
    }
    try:
        registry.perform("request", "draft", made.request, given, by=by)
    except BaseException:
        with contextlib.suppress(OSError):
            written.unlink()
        raise
    return sha256


def agreement_document(template: AgreementTemplate, known: Mapping[str, Particular], created: str) -> PlainDocument:
    blanks = tuple(name for name in template.placeholders if name not in known)
    numbers = {name: f"{BLANK} (B{number})" for number, name in enumerate(blanks, start=1)}

    def value(found: re.Match[str]) -> str:
        return known[found[1]].value if found[1] in known else numbers[found[1]]

    sections = (
        DocumentSection("About this draft", (_WARNING, f"Meant for: {template.used_for}.", _told(template, blanks))),
        DocumentSection("Between whom", (PLACEHOLDER.sub(value, template.opening),)),
        *_clauses(template, value),
        DocumentSection("Where it comes from", (), _COLUMNS, tuple(_rows(template, known, numbers))),
        *_asked(blanks),
        DocumentSection(
            "Signatures", (), ("side", "name and function", "day", "signature"),
            (("who gives the data", "", "", ""), ("who gets it", "", "", "")),
        ),
    )  # fmt: skip
    return PlainDocument(template.title, "draft", created, sections)


def _told(template: AgreementTemplate, blanks: tuple[str, ...]) -> str:
    filled = len(template.placeholders) - len(blanks)
    return f"{filled} of {len(template.placeholders)} particulars are recorded, {len(blanks)} are blanks."


def _clauses(template: AgreementTemplate, value: Callable[[re.Match[str]], str]) -> Iterator[DocumentSection]:
    for number, clause in enumerate(template.clauses, start=1):
        answers = f"Clause {clause.id.value}; answers {'; '.join(clause.source)}."
        yield DocumentSection(f"{number}. {clause.title}", (PLACEHOLDER.sub(value, clause.text), answers))


def _rows(
    template: AgreementTemplate, known: Mapping[str, Particular], numbers: Mapping[str, str]
) -> Iterator[tuple[str, ...]]:
    for name in template.placeholders:
        found = known.get(name, Particular(numbers.get(name, ""), ""))
        yield (placeholders()[name].asks, found.value, found.where)


def _asked(blanks: tuple[str, ...]) -> Iterator[DocumentSection]:
    if blanks:
        rows = tuple((f"B{number}", placeholders()[name].asks) for number, name in enumerate(blanks, start=1))
        yield DocumentSection("Still to be filled in", (), ("blank", "what is asked for"), rows)
