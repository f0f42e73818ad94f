"""How an identifier may have been made into a code without a key, and which of these ways a released column shows.

The function (hashes, checksums), what it was fed (capitals, separators left out, a country code, a common word before
or after, a line's end), how often it was repeated, how the result was written (hexadecimal, base64, base32, decimal)
and how much of it was kept. A few identifiers are tried in all of these ways; one that leads to released values more
often than chance does is the way, and breaks the whole column.
"""

from __future__ import annotations

import base64
import hashlib
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial

import polars as pl

from shoal.attack.matching.value_parts import common_start

Hash = Callable[[bytes], bytes]
Texts = tuple[bytes, ...]

FITTING = 0.9
"""A column holds codes if at least this share of its distinct values is written in one way, in one length."""
SHORTEST = {"hex": 4, "base32": 6, "base64": 6, "decimal": 4}
SYMBOLS = {"hex": 16, "base32": 32, "base64": 64, "decimal": 10}
PATTERNS = {
    "hex": "^(?:[0-9a-f]+|[0-9A-F]+)$",
    "base32": "^[A-Z2-7]+=*$",
    "base64": "^[0-9A-Za-z+/_-]+=*$",
    "decimal": "^-?[0-9]+$",
}
TRIED = 16
"""Identifiers that every way is tried with."""
REPEATED = 3
"""Those that are hashed over and over."""
ROUNDS = 1_000
BY_CHANCE = 1e-6
"""How probable it may be that chance alone leads any of the ways to so many released values."""
MOST_HASHES = 3_000_000
"""When the whole column is tried by the way that was found."""
WORDS = ("salt", "pepper", "secret", "key", "hash", "test", "password", "admin", "1234", "123456", "abc", "id")
COUNTRIES = ("+91", "91", "0", "0091", "+91 ", "+91-", "+65", "65", "+1", "1", "+44", "44", "+49", "49", "+86", "86")
_CHECKSUMS: dict[str, Hash] = {
    "crc32": lambda text: zlib.crc32(text).to_bytes(4, "big"),
    "adler32": lambda text: zlib.adler32(text).to_bytes(4, "big"),
}
_PLAIN = ("md5", "sha1", "sha256", "sha512")
_HASHES = (*_PLAIN, "sha224", "sha384", "sha3_224", "sha3_256", "sha3_384", "sha3_512", "blake2b", "blake2s")


def _function(name: str) -> Hash:
    return _CHECKSUMS.get(name) or partial(_hashed, name)


def _hashed(name: str, text: bytes) -> bytes:
    digest: bytes = getattr(hashlib, name)(text, usedforsecurity=False).digest()
    return digest


@dataclass(frozen=True)
class Codes:
    """The distinct codes of a column, as they are written."""

    way: str
    length: int
    values: frozenset[str] = field(repr=False)
    prefix: str = ""

    @classmethod
    def of(cls, released: pl.Series) -> list[Codes]:
        """All ways that the column may be read in; none where it holds no codes."""
        if not (released.dtype == pl.String or released.dtype.is_integer()):
            return []
        texts = [text.strip() for text in released.drop_nulls().cast(pl.String).unique().to_list()]
        texts = [text for text in texts if text != "*"]
        prefix = re.match(r"^(0x|.*[:\-_=#|/ ])?", common_start(texts)) if len(texts) > 1 else None
        cuts = dict.fromkeys(("", "" if prefix is None else prefix.group()))
        read = [cls._read(way, [text[len(cut) :] for text in texts], cut) for cut in cuts for way in PATTERNS]
        return [each for each in read if each is not None]

    @classmethod
    def _read(cls, way: str, texts: list[str], prefix: str) -> Codes | None:
        fit = [text for text in texts if re.match(PATTERNS[way], text)]
        if not fit or len(fit) < FITTING * len(texts):
            return None
        lengths = [len(text.rstrip("=")) for text in fit]
        length = max(lengths) if way == "decimal" else max(set(lengths), key=lengths.count)
        kept = [text for text, size in zip(fit, lengths, strict=True) if way == "decimal" or size == length]
        if length < SHORTEST[way] or len(kept) < FITTING * len(texts):
            return None
        return cls(way, length, frozenset(map(partial(_plain, way), kept)), prefix)

    @cached_property
    def by_chance(self) -> float:
        """How probable it is that one digest looks like one of these."""
        return min(1.0, 4 * len(self.values) / float(SYMBOLS[self.way]) ** min(self.length, 60))

    @property
    def long(self) -> bool:
        """Whether nothing but a code is so long and so even."""
        return self.way in ("hex", "base64", "base32") and self.length >= 16

    def forms(self, digest: bytes) -> tuple[str, ...]:
        """The digest as it may stand in the column: its beginning or its end."""
        size = self.length
        if self.way == "hex":
            text = digest.hex()
            return (text[:size], text[-size:]) if len(text) >= size else ()
        if self.way == "decimal":
            number, begun = int.from_bytes(digest, "big"), int.from_bytes(digest[:4], "big")
            eight = int.from_bytes(digest[:8], "big")
            return str(number % 10**size), str(number)[:size].lstrip("0"), str(begun), str(eight % 10**size)
        write, bits = (base64.b32encode, 5) if self.way == "base32" else (base64.b64encode, 6)
        text, cut = (write(part).decode().rstrip("=") for part in (digest, digest[: size * bits // 8]))
        return (text[:size], cut[:size], text[-size:]) if len(text) >= size else ()

    @cached_property
    def _ends(self) -> frozenset[bytes]:
        """Of hexadecimal codes of even length, the bytes."""
        if self.way != "hex" or self.length % 2:
            return frozenset()
        return frozenset(map(bytes.fromhex, self.values))

    def shows(self, digest: bytes) -> bool:
        if self._ends:
            size = self.length // 2
            return digest[:size] in self._ends or digest[-size:] in self._ends
        return any(form in self.values for form in self.forms(digest))

    def shown(self, digest: bytes) -> str | None:
        return next((form for form in self.forms(digest) if form in self.values), None)


def _plain(way: str, text: str) -> str:
    if way == "decimal":
        return text.lstrip("0")
    text = text.rstrip("=")
    return text.lower() if way == "hex" else text.replace("-", "+").replace("_", "/") if way == "base64" else text


@dataclass(frozen=True)
class CodeRecipe:
    """One way from an identifier to a code."""

    feed: Callable[[str], bytes]
    function: Hash
    rounds: int = 1
    in_hex: bool = False
    """Whether a further round is fed the hexadecimal text and not the bytes."""

    def __call__(self, text: str) -> bytes:
        digest = self.function(self.feed(text))
        for _ in range(self.rounds - 1):
            digest = self.function(digest.hex().encode() if self.in_hex else digest)
        return digest


@dataclass(frozen=True)
class BrokenCodes:
    """What a recipe comes to."""

    recipe: CodeRecipe
    codes: Codes
    broken: int
    """Released codes that the tried identifiers lead to."""
    tried: int
    """Of the released codes, those that the tried identifiers could have led to."""


def recognise(released: pl.Series, original: pl.Series, beside: pl.Series | None) -> BrokenCodes | None:
    """The recipe by which identifiers of the original lead to released codes; None if none of the known ones does.

    ``beside`` has the identifier of each released record, where it is known.
    """
    source = original if beside is None else beside.filter(released.is_not_null())
    texts = source.drop_nulls().cast(pl.String).unique(maintain_order=True).to_list()
    if len(texts) < 2:
        return None
    few = [texts[place * len(texts) // min(TRIED, len(texts))] for place in range(min(TRIED, len(texts)))]
    readings = [codes for codes in Codes.of(released) if codes.by_chance * len(few) < 0.5]
    if not readings:
        return None
    recipes = list(_recipes(few, released.name))
    for codes in readings:
        for recipe in recipes:
            if _convincing(codes, sum(codes.shows(recipe(text)) for text in few), len(few), len(recipes)):
                return _whole(recipe, codes, texts)
        repeated = _repeated(codes, few)
        if repeated is not None:
            return _whole(repeated, codes, texts)
    return None


def _convincing(codes: Codes, hits: int, tried: int, ways: int) -> bool:
    from scipy.special import bdtrc

    return hits > 0 and float(bdtrc(hits - 1, tried, codes.by_chance)) * ways < BY_CHANCE


def _recipes(few: list[str], name: str) -> Iterator[CodeRecipe]:
    feeds = _feeds(few)
    for function in (*_HASHES, *_CHECKSUMS):
        for feed in feeds:
            yield CodeRecipe(feed, _function(function))
    words = dict.fromkeys((*WORDS, name))
    for word in words:
        for function in (*_PLAIN, "crc32"):
            for feed in feeds[:4]:
                for between in ("", ":", "_", "-"):
                    yield CodeRecipe(partial(_around, feed, f"{word}{between}", ""), _function(function))
                    yield CodeRecipe(partial(_around, feed, "", f"{between}{word}"), _function(function))


def _around(feed: Callable[[str], bytes], before: str, after: str, text: str) -> bytes:
    return before.encode() + feed(text) + after.encode()


def _feeds(few: list[str]) -> list[Callable[[str], bytes]]:
    """The different ways to write these identifiers before they are hashed."""
    ways: list[Callable[[str], str]] = [str, _bare, str.lower, str.upper, _digits, lambda text: _digits(text)[-10:]]
    ways += [lambda text: _bare(text).lower(), lambda text: _bare(text).upper(), lambda text: _digits(text)[-8:]]
    ways += [partial(_with_country, country) for country in COUNTRIES]
    ways += [lambda text: text + "\n", lambda text: _bare(text) + "\n", lambda text: f'"{text}"']
    different: dict[Texts, Callable[[str], bytes]] = {}
    for way in ways:
        written = tuple(way(text).encode() for text in few)
        if len(set(written)) > len(written) // 2:
            different.setdefault(written, partial(_encoded, way))
    return list(different.values())


def _encoded(way: Callable[[str], str], text: str) -> bytes:
    return way(text).encode()


def _with_country(code: str, text: str) -> str:
    return code + _digits(text)


def _bare(text: str) -> str:
    return re.sub(r"[\W_]+", "", text)


def _digits(text: str) -> str:
    return re.sub(r"\D+", "", text)


def _repeated(codes: Codes, few: list[str]) -> CodeRecipe | None:
    """Two to a thousand rounds of one function, on bytes or on hexadecimal text."""
    if codes.by_chance > 1e-4:
        return None
    for function in _PLAIN:
        hashed = _function(function)
        for feed in _feeds(few)[:3]:
            for in_hex in (True, False):
                digests = [hashed(feed(text)) for text in few[:REPEATED]]
                for rounds in range(2, ROUNDS + 1):
                    digests = [hashed(digest.hex().encode() if in_hex else digest) for digest in digests]
                    if any(map(codes.shows, digests)):
                        recipe = CodeRecipe(feed, hashed, rounds, in_hex)
                        hits = sum(codes.shows(recipe(text)) for text in few)
                        if _convincing(codes, hits, len(few), 100 * ROUNDS):
                            return recipe
    return None


def _whole(recipe: CodeRecipe, codes: Codes, texts: list[str]) -> BrokenCodes:
    """Of a long column hashed over and over, as many as can be afforded, spread evenly."""
    step = -(-len(texts) * recipe.rounds // MOST_HASHES)
    some = texts[::step]
    found = {shown for text in some if (shown := codes.shown(recipe(text))) is not None}
    return BrokenCodes(recipe, codes, len(found), min(len(codes.values), len(some)))
