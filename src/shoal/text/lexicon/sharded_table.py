"""A large table of phrases of which a text needs few: it is kept as text, cut by the first two letters of the phrases,
and a part is read when a phrase is looked up that would be in it.

>>> table = ShardedTable.of({"asha": 1, "asia": 4, "goa": 4})
>>> table.get("asha", 0), table.get("ashen", 0), table["goa"], len(table)
(1, 0, 4, 3)
>>> sorted(ShardedTable(*table.written()).items())
[('asha', 1), ('asia', 4), ('goa', 4)]
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import ItemsView, Iterator, Mapping
from typing import Self

PREFIX = 2
Places = Mapping[str, tuple[int, int]]
"""Where the part of each beginning starts and ends in the bytes."""


class ShardedTable(Mapping[str, int]):
    """Numbers by phrase. Phrases hold no tabs and no line ends."""

    def __init__(self, data: bytes, places: Places) -> None:
        self._data = data
        self._places = places
        self._read: dict[str, dict[str, int]] = {}
        self._whole: dict[str, int] = {}
        """All of it, where it is at hand."""

    @classmethod
    def of(cls, entries: Mapping[str, int]) -> Self:
        parts: defaultdict[str, defaultdict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
        for phrase, number in entries.items():
            parts[phrase[:PREFIX]][number].append(phrase)
        pieces, places, start = [], {}, 0
        for prefix, lines in parts.items():
            piece = "\n".join("\t".join((str(number), *phrases)) for number, phrases in lines.items()).encode()
            pieces.append(piece)
            places[prefix] = (start, start + len(piece))
            start += len(piece)
        table = cls(b"".join(pieces), places)
        table._whole = dict(entries)
        return table

    def written(self) -> tuple[bytes, Places]:
        """What the same table can be made of again."""
        return self._data, self._places

    def get(self, phrase: str, default: int = 0) -> int:  # type: ignore[override]
        """The number of a phrase; looked up by the ten thousand, so without the detour of a mapping."""
        part = self._read.get(phrase[:PREFIX])
        if part is None:
            part = self._part(phrase[:PREFIX])
        return part.get(phrase, default)

    def __getitem__(self, phrase: str) -> int:
        return self._part(phrase[:PREFIX])[phrase]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def items(self) -> ItemsView[str, int]:
        """All at once: many times as quick as to look each phrase up."""
        return self._all().items()

    def __len__(self) -> int:
        return len(self._all())

    def _all(self) -> dict[str, int]:
        if self._whole:
            return self._whole
        whole: dict[str, int] = {}
        for prefix in self._places:
            whole.update(self._part(prefix))
        return whole

    def _part(self, prefix: str) -> dict[str, int]:
        part = self._read.get(prefix)
        if part is None:
            if prefix not in self._places:
                return _NOTHING
            start, end = self._places[prefix]
            part = self._read[prefix] = {}
            for line in self._data[start:end].decode().split("\n"):
                number, *phrases = line.split("\t")
                part.update(dict.fromkeys(phrases, int(number)))
        return part


_NOTHING: dict[str, int] = {}
"""For beginnings that no phrase has: they are not remembered, as they come from the user's text."""
