"""The account of a scrubbing: how much of each type was replaced, and where. It holds no value.

The side file and the table of segments are written as things happen, so that endless input needs no memory for them.
The table tells what stands for each value now; the values themselves stand in it only if the owner asks for them.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TextIO

from shoal import __version__
from shoal.scrub.outcome import ScrubAction

COLUMNS = ("document", "start", "end", "type", "value")
ORIGINAL = "original"


class ScrubAccount:
    def __init__(self, side: TextIO | None = None, table: TextIO | None = None, *, keep_values: bool = False) -> None:
        self.counts: Counter[str] = Counter()
        self.documents: dict[str, dict[str, int]] = {}
        """How much of each type, by document."""
        self.warnings: list[str] = []
        """What was found and could not be replaced, or was taken out unread."""
        self._document = ""
        self._side = side
        self._rows = None if table is None else csv.writer(table)
        self._keep_values = keep_values
        self._first = True
        self._formulas = 0
        if self._rows is not None:
            self._rows.writerow((*COLUMNS, ORIGINAL) if keep_values else COLUMNS)
        self._write(f'{{"shoal": {json.dumps(__version__)}, "documents": [')

    @contextmanager
    def document(self, name: str) -> Iterator[None]:
        """What is told inside is about this document; its entry is finished even if the work breaks off."""
        before = Counter(self.counts)
        self._document, self._first = name, True
        self._write(f'{"," if self.documents else ""}\n {{"document": {json.dumps(name)}, "actions": [')
        self.documents[name] = {}
        try:
            yield
        finally:
            types = dict(sorted((self.counts - before).items()))
            self.documents[name] = types
            self._write(f'], "types": {json.dumps(types)}}}')

    def tell(self, action: ScrubAction, value: str, original: str = "") -> None:
        self.counts[action.type] += 1
        if self._side is not None:
            self._side.write(("\n  " if self._first else ",\n  ") + json.dumps(action.to_dict()))
            self._first = False
        self.row(action, value, original)

    def row(self, action: ScrubAction, value: str, original: str = "", place: str = "") -> None:
        """A segment for the table; ``place`` is where in the document the text stands whose characters are counted."""
        if self._rows is not None:
            from shoal.io.formats.delimited.formula_escapes import is_formula

            document = f"{self._document}: {place}" if place else self._document
            told = (document, action.start, action.end, action.type, value)
            row = (*told, original) if self._keep_values else told
            self._formulas += any(is_formula(cell) for cell in row if isinstance(cell, str))
            self._rows.writerow(row)

    @property
    def wants_rows(self) -> bool:
        return self._rows is not None

    def count(self, types: Mapping[str, int], entries: Mapping[str, object]) -> None:
        """What was done to a document whose places are no characters of a text: pages, cells, headers."""
        self.counts.update(types)
        self._write(json.dumps(entries))

    def finish(self) -> None:
        if self._formulas:
            self.warnings.append(f"the table: {self._formulas:,} × formula that a spreadsheet would run")
        self._write(f'\n], "types": {json.dumps(dict(sorted(self.counts.items())))}}}\n')

    def to_dict(self) -> dict[str, object]:
        types = dict(sorted(self.counts.items()))
        return {"types": types, "documents": self.documents, "warnings": self.warnings}

    def _write(self, text: str) -> None:
        if self._side is not None:
            self._side.write(text)
