"""How files are to be read, as options of every command that reads some."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Final

import typer

from shoal.cli.terminal.lists import listed
from shoal.cli.terminal.option_sets import OptionSet
from shoal.cli.terminal.output import say

if TYPE_CHECKING:
    from shoal.io import ReaderOptions, Source
    from shoal.policy import Policy


@dataclass(frozen=True)
class ReaderFlags(OptionSet):
    """What is not said is found out. Options go to every file that a command names, as far as its format knows them."""

    encoding: Annotated[str | None, typer.Option(help="Of text files: utf-8, cp1252, shift_jis …")] = None
    separator: Annotated[str | None, typer.Option(help="Between cells of text files: ; or tab, comma, pipe …")] = None
    quote: Annotated[str | None, typer.Option(help="Around cells of text files; '' if nothing is quoted.")] = None
    header_row: Annotated[int | None, typer.Option(help="The row that names the columns, from 1.")] = None
    null_values: Annotated[
        str | None, typer.Option(help="What means a missing value beside empty cells, separated by commas: NA,-99.")
    ] = None
    decimal: Annotated[str | None, typer.Option(help="',' where numbers are written 1.234,56; '.' where 1,234.56.")] = (
        None
    )
    sheet: Annotated[str | None, typer.Option(help="Of an Excel file: its name, or its number from 1.")] = None
    format: Annotated[
        str | None, typer.Option("--format", help="csv, excel, parquet …, where a file's name does not tell.")
    ] = None

    @cached_property
    def options(self) -> ReaderOptions:
        from shoal.io import ReaderOptions

        given = asdict(self)
        if self.null_values is not None:
            given["null_values"] = listed("--null-values", self.null_values)
        return ReaderOptions.parse(**given)

    def open(self, place: str) -> Source:
        """One file, or a table of a database; what was found out about it and could be meant otherwise is said."""
        return self.open_all({"data": place})["data"]

    def open_all(self, places: Mapping[str, str | None]) -> dict[str, Source]:
        """Those that are named."""
        from shoal.io.frames import sources_at

        sources = sources_at({name: place for name, place in places.items() if place is not None}, self.options)
        for source in sources.values():
            self.tell(source)
        return sources

    def open_for(self, policy: Policy, data: str | None) -> Source:
        """What the caller names, else what the policy names."""
        from shoal.policy.sources import source_of

        if data is not None:
            return self.open(data)
        source = source_of(policy, None, self.options)
        self.tell(source, header_said=getattr(policy.source, "header_row", None) is not None)
        return source

    def tell(self, source: Source, *, header_said: bool = False) -> None:
        from shoal.io.reading_notes import reading_notes

        for text in reading_notes(source, header_said=header_said or self.header_row is not None):
            say(text)


NO_FLAGS: Final = ReaderFlags()
