"""Word lists: which words are names, places, peoples, kinds of organisations, and which are just English.

The lists come from Faker's locales (names, occupations), GeoNames (cities, countries) and the files in ``lists``.
Words are looked up folded: small letters, Latin accents taken off, so that "SZÖLLŐSY" and "Szollosy" are one entry.
Names that Faker holds in Cyrillic or Greek are known in Latin letters too.

>>> lexicon().kinds("Asha") & LexiconKind.GIVEN == LexiconKind.GIVEN
True
>>> folded("Łódź")
'lodz'
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module, resources
from pkgutil import iter_modules

from shoal import geonames
from shoal.discover.recognisers import default_recognisers
from shoal.kernels.derived_files import Sections, kept_or_made
from shoal.text.lexicon.kept_tables import kept_words, tables_key
from shoal.text.lexicon.sharded_table import ShardedTable
from shoal.text.scoped_cache import cached_in_scope

LARGE_CITY = 100_000
"""Inhabitants from which a city's name speaks for itself; smaller ones need words around them that speak of a place."""
METROPOLIS = 1_000_000
ALIASES_FROM = 200_000
"""Inhabitants from which a city is known by its names in other languages and scripts too."""
LONGEST_PHRASE = 5


class LexiconKind:
    """What a word or a phrase can be, as bits: most that are something are several things. Plain numbers, for speed."""

    GIVEN = 1 << 0
    FAMILY = 1 << 1
    CITY = 1 << 2
    LARGE = 1 << 3
    """A city of LARGE_CITY inhabitants or more."""
    METROPOLIS = 1 << 4
    """A city of METROPOLIS inhabitants or more, which is meant even where it is a name as well."""
    COUNTRY = 1 << 5
    PEOPLE = 1 << 6
    BELIEF = 1 << 7
    OCCUPATION = 1 << 8
    COMMON = 1 << 9
    """An everyday English word."""
    TITLE = 1 << 10
    FORM = 1 << 11
    """A legal form: Ltd, GmbH."""
    BODY = 1 << 12
    """A kind of organisation: Bank, University."""
    GENERIC = 1 << 13
    """Part of what offices everywhere are called: "Regional", "Supreme"."""
    FIRM = 1 << 14
    """An organisation that is known by name."""


NAME = LexiconKind.GIVEN | LexiconKind.FAMILY
PLACE = LexiconKind.CITY | LexiconKind.COUNTRY
SIZES = LexiconKind.LARGE | LexiconKind.METROPOLIS

_ROMAN_LETTERS = (
    "аa бb вv гg ґg дd еe єie ёe жzh зz иi іi їi йy кk лl мm нn оo пp рr сs тt уu фf хkh цts чch шsh щshch ъ ыy ь эe "
    "юyu яya αa βv γg δd εe ζz ηi θth ιi κk λl μm νn ξx οo πp ρr σs ςs τt υy φf χch ψps ωo"
)
_ROMAN = {pair[0]: pair[1:] for pair in _ROMAN_LETTERS.split(" ")}
_LETTERS = str.maketrans(
    {"ł": "l", "ø": "o", "đ": "d", "ß": "ss", "ı": "i", "æ": "ae", "þ": "th", "ð": "d", "œ": "oe", "ə": "e", "’": "'"}
)
_ACCENTS = re.compile("[\u0300-\u036f]+")


@cached_in_scope(most=1 << 16)
def _bare(word: str) -> str:
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", word.lower()))).translate(
        _LETTERS
    )


def folded(word: str) -> str:
    return word.lower() if word.isascii() else _bare(word)


def in_small_letters(text: str) -> str:
    """In small letters, character by character, so that places stay."""
    small = text.replace("İ", "i").lower()
    return small if len(small) == len(text) else "".join(low if len(low := one.lower()) == 1 else one for one in text)


@dataclass(frozen=True)
class Lexicon:
    """All lists as one table."""

    entries: ShardedTable

    def kinds(self, phrase: str) -> int:
        return self.entries.get(folded(phrase), 0)

    def of_kind(self, kind: int) -> Sequence[str]:
        """The folded phrases of a kind."""
        return kept_words(f"of_kind_{kind}", lambda: (phrase for phrase, kinds in self.entries.items() if kinds & kind))


@cache
def lexicon() -> Lexicon:
    """Read once, on first use."""
    made: list[ShardedTable] = []

    def make() -> Sections:
        made.append(ShardedTable.of(_read_lists()))
        data, places = made[0].written()
        return {"phrases": data, "places": json.dumps(places, ensure_ascii=False).encode()}

    kept = kept_or_made("lexicon", tables_key(), make)
    return Lexicon(made[0] if made else ShardedTable(kept["phrases"], json.loads(kept["places"])))


def _read_lists() -> dict[str, int]:
    entries: dict[str, int] = {}

    def add(phrases: Iterable[str], kind: int) -> None:
        for phrase in phrases:
            key = folded(phrase)
            entries[key] = entries.get(key, 0) | kind

    for given, family in _faker_names():
        add(given, LexiconKind.GIVEN)
        add(family, LexiconKind.FAMILY)
    for name, kind in _cities():
        add((name,), kind)
    add(_countries(), LexiconKind.COUNTRY)
    add(_occupations(), LexiconKind.OCCUPATION)
    for file, kind in _FILES.items():
        add(words_in(file), kind)
    bodies = sections_in("bodies")
    add(bodies["forms"], LexiconKind.FORM)
    add(bodies["kinds"] + bodies["leading"], LexiconKind.BODY)
    add(bodies["generic"], LexiconKind.GENERIC)
    add(
        (f"{people}s" for people in words_in("peoples") if people.isascii() and people[-1] in "nirctkdb"),
        LexiconKind.PEOPLE,
    )
    add(words_in("firms"), LexiconKind.FIRM)
    add(
        (f"{belief}s" for belief in words_in("beliefs") if belief.isascii() and belief[-1] in "tncuhkwi"),
        LexiconKind.BELIEF,
    )
    add(words_in("abroad"), LexiconKind.COMMON)
    for word in (*_everyday(), *_labels()):
        entries.setdefault(word, LexiconKind.COMMON)
    entries.pop("", None)
    return entries


_FILES = {
    "given": LexiconKind.GIVEN,
    "family": LexiconKind.FAMILY,
    "countries": LexiconKind.COUNTRY,
    "peoples": LexiconKind.PEOPLE,
    "beliefs": LexiconKind.BELIEF,
    "occupations": LexiconKind.OCCUPATION,
    "titles": LexiconKind.TITLE,
    "common": LexiconKind.COMMON,
}


_SPACED = ("common", "everyday")
"""Lists with spaces between the words."""


@cache
def sections_in(file: str) -> dict[str, tuple[str, ...]]:
    """The words of a list by section: lines, commas between words; ``[name]`` opens a section, ``#`` a comment."""
    text = (resources.files("shoal.text") / "lists" / f"{file}.txt").read_text(encoding="utf-8")
    found: dict[str, list[str]] = {"": []}
    section = ""
    for line in text.splitlines():
        if line.startswith("["):
            section = line.strip("[]")
            found[section] = []
        elif not line.startswith("#"):
            parts = line.split() if file in _SPACED else line.split(",")
            found[section] += [part.strip() for part in parts if part.strip()]
    return {name: tuple(words) for name, words in found.items()}


def words_in(file: str) -> tuple[str, ...]:
    return sections_in(file)[""]


def _everyday() -> Iterator[str]:
    """Everyday words with their regular forms: "journeys", "hired", "baking". They never take a name's place."""
    for word in words_in("everyday") + words_in("common"):
        yield word
        if len(word) < 3 or not word.isascii():
            continue
        stem = word[:-1] if word[-1] in "ey" else word
        yield from (f"{stem}ies", f"{stem}ied", f"{word}ing") if word[-1] == "y" else (f"{stem}ing",)
        yield from (f"{word}s", f"{stem}es", f"{stem}ed", f"{stem}er", f"{stem}ers", f"{word}ly")


def _labels() -> Iterator[str]:
    """What recognisers' values are called: "Aadhaar", "DNI"."""
    for each in default_recognisers():
        if each.text is not None:
            yield from (folded(word) for word in (*each.text.context, *each.text.after))


def _faker_names() -> Iterator[tuple[set[str], set[str]]]:
    from faker.providers import person

    for module in iter_modules(person.__path__):
        provider = import_module(f"{person.__name__}.{module.name}").Provider
        given: set[str] = set()
        family: set[str] = set()
        for attribute in dir(provider):
            if "name" not in attribute or "pairs" in attribute or attribute.startswith(("language", "_")):
                continue
            names = getattr(provider, attribute)
            if isinstance(names, (tuple, list, dict)):
                (family if "last" in attribute else given).update(_known(names))
        yield given, family


def _known(names: Iterable[object]) -> Iterator[str]:
    """Names of two letters or more (one, in Han characters), with their form in Latin letters; no patterns."""
    for name in names:
        if isinstance(name, str) and (len(name) > 1 or not name.isascii()) and "{" not in name:
            yield name
            small = name.lower()
            if small[0] in _ROMAN:
                yield "".join(_ROMAN.get(letter, letter) for letter in _bare(small))


def _cities() -> Iterator[tuple[str, int]]:
    for city in geonames.towns():
        kind = LexiconKind.CITY
        if city.population >= LARGE_CITY:
            kind |= LexiconKind.LARGE
        if city.population >= METROPOLIS:
            kind |= LexiconKind.METROPOLIS
        yield city.name, kind
        if city.population >= ALIASES_FROM:
            for alias in city.other_names:
                if _plain(alias):
                    yield alias, kind


def _plain(alias: str) -> bool:
    """A city's other name that is neither a code nor a short word: of five Latin letters, or in another script."""
    if alias.isascii():
        return len(alias) > 4 and alias[0].isupper() and alias[1:].replace(" ", "").isalpha() and not alias.isupper()
    return len(alias) > 2 and not alias[0].islower() and alias.replace(" ", "").isalpha()


def _countries() -> Iterator[str]:
    yield from (country.name for country in geonames.countries())
    yield from geonames.us_states().values()


def _occupations() -> Iterator[str]:
    """Faker's jobs; one that is written "Engineer, civil" is known as "civil engineer" too."""
    from faker.providers.job import Provider

    for job in Provider.jobs:
        yield job
        head, comma, rest = job.partition(", ")
        if comma:
            yield f"{rest} {head}"
            yield head
