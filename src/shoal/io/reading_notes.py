"""What was found out about a file that somebody should know, because it could have been meant otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from shoal.errors import FieldName, FieldText
from shoal.io.formats.number_notation import undeclared_columns
from shoal.io.sources import Source, TextSource, beginning, explained

_LOOKED_AT: Final = 1000
_SHOWN: Final = 5


def found_header_row(source: Source) -> int | None:
    """The row that names the columns, where it is not the first."""
    row: int = getattr(source, "header_row", 1)
    return row if row > 1 else None


def reading_notes(source: Source, *, header_said: bool = False) -> Iterator[FieldText]:
    """One line each; none of them holds a value."""
    row = found_header_row(source)
    if row is not None and not header_said:
        lines = "line" if getattr(source, "dialect", None) is not None else "row"
        said = f"{source.label}: columns are named in {lines} {row}, and what stands above is left out, unless you say "
        yield FieldText(said, FieldName("header_row", "1"))
    if isinstance(source, TextSource) and source.notation is None:
        with explained(source):
            columns = undeclared_columns(beginning(source, _LOOKED_AT))
        if columns:
            shown = ", ".join(columns[:_SHOWN]) + (" …" if len(columns) > _SHOWN else "")
            said = f"{source.label}: {shown}: numbers with a decimal comma are read as text, unless you say "
            yield FieldText(said, FieldName("decimal", ","))
