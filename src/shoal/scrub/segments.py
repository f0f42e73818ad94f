"""Texts as tables (ISO/IEC 20889, C.3, C.5, C.6): what was recognised, pieces that can't be put together, counts.

**Pieces** (``pieces_of``) are runs of n words of the scrubbed texts. That they can't be put together again rests on:

1. A text is cut once, from a random place on, into pieces that don't overlap; what is left at both ends is dropped. Two
   pieces that followed each other have no word in common, so nothing says that they did.
2. Pieces of different texts could overlap, where texts repeat each other. Of two pieces of which one ends with the two
   or more words that the other begins with, only the more frequent is kept. So no chain of overlaps exists.
3. A piece is kept only if at least ``least`` texts have it, so none is the mark of one text; and, if a list of public
   phrases is given, only if it is on it.
4. Each piece is listed once, in a random order.

What is left is to guess the order from the sense, among m! orders of m pieces, of which most belong to other texts. The
argument holds for one release: cutting the same texts twice, from other places on, gives overlaps. So a collection is
cut once; who has to repeat it uses the same seed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.randomness import Randomness, Stream
from shoal.scrub.scrubber import Scrubber

LEAST = 5
"""Texts that a piece has to be in, and that a count has to be of."""
OVERLAP = 2
"""Words that two pieces may not share end to beginning."""
SEGMENTS = pl.Schema(
    {"document": pl.String(), "start": pl.Int64(), "end": pl.Int64(), "type": pl.String(), "value": pl.String()}
)
PIECES = pl.Schema({"segment": pl.String(), "documents": pl.Int64()})
FREQUENCIES = pl.Schema({"type": pl.String(), "documents": pl.Int64(), "segments": pl.Int64()})

Documents = Iterable[tuple[str, str]]
"""The name and the text of each."""
Words = tuple[str, ...]
_WORD = re.compile(r"\[[A-Z][A-Z0-9_-]*\]|[^\W_]+(?:['’\-][^\W_]+)*")


def segment_table(documents: Documents, scrubber: Scrubber, *, keep_values: bool = False) -> pl.DataFrame:
    """One row for each segment that was recognised: where, of what type, and what stands for its value.

    ``keep_values`` adds the original values, for the owner of the texts alone: the table is personal data then.
    """
    rows = [row for name, text in documents for row in segments_of(name, text, scrubber, keep_values=keep_values)]
    schema = pl.Schema({**SEGMENTS, "original": pl.String()}) if keep_values else SEGMENTS
    return pl.DataFrame(rows, schema=schema, orient="row")


def segments_of(name: str, text: str, scrubber: Scrubber, *, keep_values: bool = False) -> Iterator[tuple[object, ...]]:
    """The rows of one document."""
    scrubbed = scrubber.scrub(text, name)
    for action in scrubbed.actions:
        told = (name, action.start, action.end, action.type, scrubbed.text[action.new_start : action.new_end])
        yield (*told, text[action.start : action.end]) if keep_values else told


def type_frequencies(segments: pl.DataFrame, least: int = LEAST) -> pl.DataFrame:
    """How many texts have segments of each type, and how many they are; counts of fewer texts are left out."""
    if segments.is_empty():
        return pl.DataFrame(schema=FREQUENCIES)
    return (
        segments.group_by("type")
        .agg(pl.col("document").n_unique().cast(pl.Int64).alias("documents"), pl.len().cast(pl.Int64).alias("segments"))
        .filter(pl.col("documents") >= least)
        .sort("documents", "type", descending=[True, False])
    )


def pieces_of(  # noqa: PLR0913  # each says what may be released
    texts: Iterable[str],
    scrubber: Scrubber,
    *,
    words: int = 3,
    least: int = LEAST,
    public: Collection[str] | None = None,
    randomness: Randomness | None = None,
) -> pl.DataFrame:
    """Pieces of so many words that can't be put together again, each with the number of texts that have it."""
    if words < 1 or least < 1:
        raise InputError("pieces have at least one word, and at least one text has them")
    stream = (randomness or Randomness()).stream("text", "pieces")
    known = None if public is None else {words_of(phrase) for phrase in public}
    spread: Counter[Words] = Counter()
    cut: set[Words] = set()
    for place, text in enumerate(texts):
        run = words_of(scrubber.scrub(text, str(place)).text)
        spread.update({run[at : at + words] for at in range(len(run) - words + 1)})
        cut.update(_cut(run, words, stream, place))
    common = [piece for piece in cut if spread[piece] >= least and (known is None or piece in known)]
    kept = _apart(sorted(common, key=lambda piece: (-spread[piece], piece)))
    order = stream.permutation(len(kept), lane=1)
    rows = [(" ".join(kept[place]), spread[kept[place]]) for place in order]
    return pl.DataFrame(rows, schema=PIECES, orient="row")


def words_of(text: str) -> Words:
    """The words of a text in small letters, labels as they are.

    >>> words_of("[PERSON] didn't come – again.")
    ('[PERSON]', "didn't", 'come', 'again')
    """
    return tuple(word if word.startswith("[") else word.casefold() for word in _WORD.findall(text))


def _cut(run: Words, size: int, stream: Stream, place: int) -> Iterator[Words]:
    """Pieces that don't overlap, from a random place on."""
    first = int(stream.words(np.array([place], dtype=np.uint64))[0, 0] % np.uint64(size))
    return (run[at : at + size] for at in range(first, len(run) - size + 1, size))


def _apart(pieces: Sequence[Words]) -> list[Words]:
    """Of pieces that overlap end to beginning, the first; also none that overlaps itself."""
    beginnings: set[Words] = set()
    endings: set[Words] = set()
    kept = []
    for piece in pieces:
        heads = {piece[:size] for size in range(OVERLAP, len(piece))}
        tails = {piece[-size:] for size in range(OVERLAP, len(piece))}
        if heads & (endings | tails) or tails & beginnings:
            continue
        beginnings |= heads
        endings |= tails
        kept.append(piece)
    return kept
