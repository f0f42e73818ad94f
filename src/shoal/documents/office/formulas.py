"""Formulas of a spreadsheet: what in them is text, and what in them points to sheets and names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from shoal.documents.cleaning_account import EditRecorder

_TEXT: Final = re.compile(r'"((?:[^"]|"")*)"')
_OUTSIDE: Final = re.compile(r"\[\d+\]|\.xl\w{1,3}\]")
_SHEET: Final = re.compile(r"'((?:[^']|'')+)'!|([^\W\d][\w.]*)!")
_NAME: Final = re.compile(r"(?<![\w.!'\"\[])([^\W\d][\w.]*)(?![\w.(!'\"\]])")


@dataclass(frozen=True)
class RenamedReferences:
    """Sheets and defined names that have another name now."""

    sheets: Mapping[str, str]
    names: Mapping[str, str]

    def in_formula(self, formula: str) -> str:
        pieces = _TEXT.split(formula)
        # split() puts what stands between quotes at odd places
        return "".join(f'"{piece}"' if odd % 2 else self._in_code(piece) for odd, piece in enumerate(pieces))

    def _in_code(self, code: str) -> str:
        if self.sheets:
            code = _SHEET.sub(self._sheet, code)
        return _NAME.sub(lambda found: self.names.get(found[1], found[1]), code) if self.names else code

    def _sheet(self, found: re.Match[str]) -> str:
        old = found[1].replace("''", "'") if found[1] else found[2]
        return f"'{self.sheets[old]}'!" if old in self.sheets else found[0]


def cleaned(formula: str, place: str, ledger: EditRecorder, renamed: RenamedReferences) -> str | None:
    """The formula with its texts scrubbed; None if it points to another file, or holds more that can't stay."""
    formula = renamed.in_formula(formula)
    code = _TEXT.sub('""', formula)
    if _OUTSIDE.search(code) or ledger.changes(code):
        return None
    return _TEXT.sub(lambda found: _quoted(ledger.clean(place, found[1].replace('""', '"'))), formula)


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
