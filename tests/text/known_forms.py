"""A small annotator for tests of scrubbing: it knows what the tests write, whatever the recognisers learn later."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from shoal.text.annotator import Annotator
from shoal.text.spans import Span

NAMES = (
    r"(?:(?:Dr|Mr|Mrs)\.? )?(?:(?:Asha|Ravi|Zoë|Wei Ling) (?:K\. )?|A\. )?(?:Rao|Lim|Phang|O'Brien)(?:'s)?|Asha|Ravi"
)
FORMS = {
    "person": rf"\b(?:{NAMES})(?!\w)",
    "email": r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+",
    "phone": r"\+\d[\d ]{7,15}\d",
    "aadhaar": r"(?<!\d)\d{4}[ -]?\d{4}[ -]?\d{4}(?!\d)",
    "nric": r"\b[STFGM]\d{7}[A-Z]\b",
    "account": r"\bAC-\d{4,10}\b",
    "date": r"\b\d{4}-\d{2}-\d{2}\b|\b\d{1,2}/\d{1,2}/\d{4}\b|\b\d{1,2} (?:March|April|May) \d{4}\b|\bsome day\b",
    "age": r"\b\d{1,3}(?: years old|-year-old)|\baged \d{1,3}\b",
    "address": r"\b\d+ [A-Z]\w+ (?:Road|Street)(?:,\s\w+)?",
}


@dataclass(frozen=True)
class Forms:
    """Finds by regular expressions; what stands beside a person's label or stand-in is one too, if it looks like it."""

    def find(self, text: str) -> Iterator[Span]:
        for kind, form in FORMS.items():
            for match in re.finditer(form, text):
                yield Span(match.start(), match.end(), kind, 0.9, "test")
        for match in re.finditer(r"(?<=\] )[A-Z]\w+\b", text):
            yield Span(match.start(), match.end(), "person", 0.6, "test")


def annotator() -> Annotator:
    return Annotator((Forms(),))
