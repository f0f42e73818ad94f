"""Texts as places: what an annotator finds, counted by kind and place, with lines and forms instead of values."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from shoal.discover.recognisers import RecogniserSet
from shoal.discover.value_shapes import common_shapes
from shoal.scan.annotators import Annotate
from shoal.scan.findings import ScanFinding, ScannedSource, weight_of
from shoal.schema.progress import told

UTF_8 = "utf-8"
BLOCK = 16_000
"""Characters that are annotated at once, cut at the end of a line."""
MOST = 2_000_000
"""Bytes of a file that are looked at; of a larger one, pieces spread over it."""
PIECE = 100_000
LINES = 5
VALUES = 500
"""Values of a kind in a place whose forms are counted."""


@dataclass(frozen=True)
class TextBlock:
    """A text, where it stands, and the number of its first line (0 if lines have no numbers)."""

    place: str
    text: str
    line: int = 0
    label: str = ""
    """What the file calls it; read with the text, because it tells what the text is."""


@dataclass
class _TypeTally:
    count: int = 0
    scores: float = 0.0
    lines: list[int] = field(default_factory=list)
    values: Counter[str] = field(default_factory=Counter)


class TextCounter:
    """Counts what is found in the texts of one source."""

    def __init__(self, source: str, annotate: Annotate, recognisers: RecogniserSet | None = None) -> None:
        self.source = source
        self._annotate = annotate
        self._recognisers = recognisers
        self._found: dict[tuple[str, str], _TypeTally] = {}
        self.characters = 0

    def read(self, blocks: Iterable[TextBlock], most: int | None = None) -> bool:
        """Whether all was read."""
        for block in told(blocks, lambda block: len(block.text.encode())):
            if most is not None and self.characters >= most:
                return False
            self._read(block)
        return True

    def _read(self, block: TextBlock) -> None:
        before = f"{block.label}: " if block.label else ""
        text = before + block.text
        self.characters += len(block.text)
        starts = [match.end() for match in re.finditer("\n", text)] if block.line else []
        for span in self._annotate(text):
            if span.start < len(before):
                continue
            tally = self._found.setdefault((block.place, span.type), _TypeTally())
            tally.count += 1
            tally.scores += span.score
            line = block.line + bisect_right(starts, span.start)
            if block.line and len(tally.lines) < LINES and line not in tally.lines:
                tally.lines.append(line)
            if len(tally.values) < VALUES:
                tally.values[text[span.start : span.end]] += 1

    def findings(self, scale: float = 1.0) -> list[ScanFinding]:
        """``scale`` is how many times more there is than was read."""
        return [
            ScanFinding(
                self.source,
                place,
                kind,
                round(tally.count * scale),
                tally.scores / tally.count,
                weight_of(kind, self._recognisers),
                tuple(shape.form for shape in common_shapes(pl.Series(list(tally.values), dtype=pl.String))),
                tuple(tally.lines),
                scale > 1,
            )
            for (place, kind), tally in self._found.items()
        ]


def scan_text(
    path: Path,
    annotate: Annotate,
    *,
    everything: bool,
    recognisers: RecogniserSet | None = None,
    encoding: str = UTF_8,
) -> tuple[list[ScanFinding], ScannedSource]:
    """A plain text or a log."""
    source, size = str(path), path.stat().st_size
    texts = TextCounter(source, annotate, recognisers)
    whole = everything or size <= MOST
    texts.read(_whole(path, encoding) if whole else _spread(path, size, encoding))
    sampled = "" if whole else f"{MOST // PIECE} pieces of {PIECE // 1000} kB, spread over the file"
    scale = 1.0 if whole else size / MOST
    return texts.findings(scale), ScannedSource(source, "text", _size(size), sampled)


def _whole(path: Path, encoding: str) -> Iterator[TextBlock]:
    line, lines, length = 1, list[str](), 0
    with path.open(encoding=encoding, errors="replace", newline=None) as file:
        while text := file.readline(BLOCK):
            lines.append(text)
            length += len(text)
            if length >= BLOCK:
                whole = "".join(lines)
                yield TextBlock("text", whole, line)
                line, lines, length = line + whole.count("\n"), [], 0
    if lines:
        yield TextBlock("text", "".join(lines), line)


def _spread(path: Path, size: int, encoding: str) -> Iterator[TextBlock]:
    """Pieces from all over the file, each from the beginning of a line; their lines have no numbers."""
    pieces = MOST // PIECE
    with path.open("rb") as file:
        for place in range(pieces):
            file.seek(place * (size - PIECE) // (pieces - 1))
            text = file.read(PIECE).decode(encoding, errors="replace")
            _, _, after = text.partition("\n")
            for start in range(0, len(after or text), BLOCK):
                yield TextBlock("text", (after or text)[start : start + BLOCK])


def _size(size: int) -> str:
    return f"{size:,} bytes" if size < 10_000 else f"{size / 1000:,.0f} kB"


def scan_pieces(  # noqa: PLR0913 - a document, and by what it is read
    source: str,
    kind: str,
    blocks: Iterable[TextBlock],
    annotate: Annotate,
    *,
    everything: bool,
    recognisers: RecogniserSet | None = None,
) -> tuple[list[ScanFinding], ScannedSource]:
    """The texts of a document, a mail, a JSON file."""
    texts = TextCounter(source, annotate, recognisers)
    whole = texts.read(blocks, None if everything else MOST)
    sampled = "" if whole else f"the first {texts.characters:,} characters"
    amount = f"{texts.characters:,} characters" if whole else "more than was looked at"
    return texts.findings(), ScannedSource(source, kind, amount, sampled)


def general_place(place: str) -> str:
    """A place without the numbers that tell repeated parts apart.

    >>> general_place("$.people[3].name"), general_place("Sheet1!B7"), general_place("body, paragraph 12")
    ('$.people[].name', 'Sheet1!B', 'body, paragraphs')
    """
    numbered = re.sub(r"\b(paragraph|row|line|cell|column|shape|comment|footnote|endnote) \d+", r"\1s", place)
    return re.sub(r"!([A-Z]{1,3})\d+$", r"!\1", re.sub(r"\[\d+\]", "[]", numbered))
