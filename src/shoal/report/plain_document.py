"""Documents that are words and tables only: checklists, drafts, notifications; as a page, as Markdown, as CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from shoal.report.sections import environment

_MARKUP: Final = re.compile(r"[\\<\[\]]")
_BLOCK: Final = re.compile(r"^(\d*)([#>+*=~.)-]|```)")


@dataclass(frozen=True)
class DocumentSection:
    title: str
    paragraphs: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class PlainDocument:
    title: str
    kind: str
    """What it is, in a few words, above the title."""
    created: str
    sections: tuple[DocumentSection, ...]

    def to_html(self) -> str:
        return environment().get_template("document.html.j2").render(page=self)

    def to_markdown(self) -> str:
        """
        >>> section = DocumentSection("Risk", ("As recorded.",), ("figure", "is"), (("k", "5 | 6"),))
        >>> print(PlainDocument("Ward", "draft", "2026-03-02", (section,)).to_markdown())
        # Ward
        <BLANKLINE>
        draft, 2026-03-02
        <BLANKLINE>
        ## Risk
        <BLANKLINE>
        As recorded.
        <BLANKLINE>
        | figure | is |
        |---|---|
        | k | 5 \\| 6 |
        <BLANKLINE>
        """
        return "\n".join(self._markdown())

    def _markdown(self) -> Iterator[str]:
        yield from (f"# {_line(self.title)}", "", f"{self.kind}, {self.created}", "")
        for section in self.sections:
            yield from (f"## {_line(section.title)}", "")
            for text in section.paragraphs:
                yield from (_paragraph(text), "")
            if section.rows:
                yield f"| {' | '.join(map(_cell, section.columns))} |"
                yield "|" + "---|" * len(section.columns)
                yield from (f"| {' | '.join(map(_cell, row))} |" for row in section.rows)
                yield ""

    def to_csv(self) -> str:
        """The tables, each row after the title of its section. A cell never begins a formula of a spreadsheet."""
        written = io.StringIO()
        rows = csv.writer(written, lineterminator="\n")
        tables = [section for section in self.sections if section.rows]
        if tables:
            rows.writerow(["section", *tables[0].columns])
        for section in tables:
            rows.writerows([_harmless(cell) for cell in (section.title, *row)] for row in section.rows)
        return written.getvalue()


def _line(text: str) -> str:
    """What Markdown would read as HTML or as a link stays what it is: words."""
    return _MARKUP.sub(r"\\\g<0>", " ".join(text.split()))


def _paragraph(text: str) -> str:
    """Words that begin like a heading or a list stay a paragraph."""
    return _BLOCK.sub(r"\1\\\2", _line(text))


def _cell(text: str) -> str:
    return _line(text).replace("|", "\\|")


def _harmless(cell: str) -> str:
    return f"'{cell}" if cell[:1] in {"=", "+", "-", "@", "\t"} else cell
