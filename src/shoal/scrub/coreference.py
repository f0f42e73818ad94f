"""Who is meant by a name in a text: "Dr. Rao", "Rao", "A. Rao" and "Asha Rao" are one person, if nobody else fits.

Titles don't count. Full names are people; a name in which an initial stands for a given name is the person it fits.
A single name is the one person who has it as a surname, or as a given name. Where several fit, or none does, nothing is
guessed: the name is a person of its own, who has a pseudonym of its own. So "Rao" is kept apart in a letter about Asha
Rao and Ravi Rao, and likewise in a letter that tells of no other Rao.

Across texts a person is known by the first and the last name alone, without what stands between them: so one who is
called only "Rao" in another text has another pseudonym there.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

TITLES = frozenset(
    {
        "mr", "mrs", "ms", "miss", "mx", "dr", "prof", "professor", "sir", "madam", "mdm", "dame", "lord", "lady",
        "rev", "fr", "sr", "shri", "sri", "smt", "shrimati", "kumari", "km", "thiru", "tmt", "pandit", "pt", "ustad",
        "justice", "hon", "hon'ble", "capt", "captain", "col", "colonel", "maj", "major", "lt", "gen", "sgt",
        "master", "herr", "frau", "monsieur", "madame", "mme", "mlle", "señor", "señora", "sra", "encik", "puan",
        "tuan", "datuk", "dato", "haji", "hajah", "er", "adv", "ca",
    }
)  # fmt: skip
NEUTRAL_TITLES = frozenset({"dr", "prof", "professor", "rev", "er", "adv", "ca"})
"""Those that say nothing of the sex."""

_WORD = re.compile(r"[^\W\d_](?:[^\W_]|['’\-](?=[^\W\d_]))*")
_POSSESSIVE = re.compile(r"['’]s$", re.IGNORECASE)


@dataclass(frozen=True)
class NameMention:
    """A name as it stands, in small letters, without titles; the given name first."""

    words: tuple[str, ...]

    @property
    def key(self) -> str:
        """What the person is known by in every text."""
        return " ".join(dict.fromkeys((self.words[0], self.words[-1]))) if self.words else ""

    @property
    def is_full(self) -> bool:
        return len(self.words) > 1 and not self.abbreviated

    @property
    def abbreviated(self) -> bool:
        return any(len(word) == 1 for word in (self.words[:1] + self.words[-1:]))

    def fits(self, full: NameMention) -> bool:
        """Whether it can be a shorter way to write the full name."""
        if not self.words:
            return False
        if len(self.words) == 1:
            return self.words[0] in (full.words[-1], full.words[0])
        first, last = full.words[0], full.words[-1]
        return _like(self.words[0], first) and _like(self.words[-1], last)


def mention_of(text: str) -> NameMention:
    """
    >>> mention_of("Dr. Asha K. Rao's").words
    ('asha', 'k', 'rao')
    >>> mention_of("RAO, Asha").words
    ('asha', 'rao')
    """
    family, comma, given = text.partition(",")
    words = _words(f"{given} {family}" if comma and _words(given) else text)
    return NameMention(tuple(words))


def titles_of(text: str) -> str:
    """The titles in front that say nothing of the sex, as they stand, with a space after them."""
    found = re.match(r"(?:[^\W\d_]+\.?\s+)+", text)
    if found is None:
        return ""
    words = found[0].split()
    kept = [word for word in words if word.rstrip(".").casefold() in NEUTRAL_TITLES]
    return "".join(f"{word} " for word in kept)


def resolve_people(texts: Iterable[str]) -> dict[str, str]:
    """The key of the person that each name stands for, where all of them stand in one document.

    >>> resolve_people(["Dr. Rao", "Asha Rao", "A. Rao", "Lim"])
    {'Dr. Rao': 'asha rao', 'Asha Rao': 'asha rao', 'A. Rao': 'asha rao', 'Lim': 'lim'}
    """
    mentions = {text: mention_of(text) for text in texts}
    full = {mention.key: mention for mention in mentions.values() if mention.is_full}
    by_part: defaultdict[str, dict[str, NameMention]] = defaultdict(dict)
    for key, mention in full.items():
        first, last = mention.words[0], mention.words[-1]
        for part in (first, last, _initials(first, last)):
            by_part[part][key] = mention
    return {text: _person(mention, by_part) for text, mention in mentions.items()}


def _person(mention: NameMention, by_part: Mapping[str, Mapping[str, NameMention]]) -> str:
    """``by_part`` holds full names by their first and last words, and by the initials of both."""
    if mention.is_full or not mention.words:
        return mention.key
    first, last = mention.words[0], mention.words[-1]
    part = last if len(last) > 1 or len(mention.words) == 1 else first if len(first) > 1 else _initials(first, last)
    fitting = [key for key, other in by_part.get(part, {}).items() if mention.fits(other)]
    return fitting[0] if len(fitting) == 1 else mention.key


def _initials(first: str, last: str) -> str:
    """With a space between, which no word has."""
    return f"{first[0]} {last[0]}"


def _like(short: str, name: str) -> bool:
    return short == name or (len(short) == 1 and name.startswith(short))


def _words(text: str) -> list[str]:
    words = [_POSSESSIVE.sub("", word).casefold() for word in _WORD.findall(text)]
    while len(words) > 1 and words[0] in TITLES:
        words = words[1:]
    return words
