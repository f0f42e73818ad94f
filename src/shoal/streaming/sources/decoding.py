"""Lines to records: JSON, or cells between separators under a header. What is neither is None, and is only counted."""

from __future__ import annotations

import csv
import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from shoal.errors import SourceError
from shoal.streaming.sources.base import RawRecord

SEPARATORS: Final = {".csv": ",", ".tsv": "\t"}
_BOM: Final = b"\xef\xbb\xbf"


class LineDecoder(ABC):
    @abstractmethod
    def decode(self, lines: Sequence[bytes]) -> list[RawRecord | None]:
        """A record for each line."""


def _no_number(_: str) -> float:
    raise ValueError


def _json_object(line: bytes) -> RawRecord | None:
    try:
        found = _DECODER.decode(line.decode())
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


_DECODER: Final = json.JSONDecoder(parse_constant=_no_number)


class JsonLinesDecoder(LineDecoder):
    """
    >>> JsonLinesDecoder().decode([b'{"age": 34}', b'[1]', b'{"age": NaN}', b'{"age"'])
    [{'age': 34}, None, None, None]
    """

    def decode(self, lines: Sequence[bytes]) -> list[RawRecord | None]:
        return [_json_object(line) for line in lines]


@dataclass(frozen=True)
class DelimitedDecoder(LineDecoder):
    """
    >>> DelimitedDecoder(("age", "town"), ",").decode([b'34,"Pune, India"', b'34', b'"34,Pune', b'"",'])
    [{'age': '34', 'town': 'Pune, India'}, None, None, {'age': None, 'town': None}]
    """

    columns: tuple[str, ...]
    separator: str

    @classmethod
    def headed(cls, line: bytes, separator: str) -> DelimitedDecoder:
        cells = _cells(line.removeprefix(_BOM), separator)
        if not cells or "" in cells or len(set(cells)) < len(cells):
            raise SourceError("the stream has to begin with a line that names its columns, each once")
        return cls(tuple(cells), separator)

    def decode(self, lines: Sequence[bytes]) -> list[RawRecord | None]:
        return [self._record(_cells(line, self.separator)) for line in lines]

    def _record(self, cells: list[str] | None) -> RawRecord | None:
        if cells is None or len(cells) != len(self.columns):
            return None
        return dict(zip(self.columns, (cell or None for cell in cells), strict=True))


def _cells(line: bytes, separator: str) -> list[str] | None:
    """None where it is not one record by itself: a quote that is left open goes on in the next line."""
    try:
        rows = list(csv.reader([line.decode()], delimiter=separator, strict=True))
    except (csv.Error, ValueError):
        return None
    return rows[0] if len(rows) == 1 else None
