"""Small valid files of every format that is read, and words that mean something in them."""

from __future__ import annotations

import io
import re
import sqlite3
import zipfile
from collections.abc import Callable
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import openpyxl
import polars as pl
import pyarrow as pa
from tests.documents.made import MADE, WORDS
from tests.hostile.generated import SMALL

ROOT: Final = Path(__file__).resolve().parents[2]


def table(rows: int = 60) -> pl.DataFrame:
    number = pl.int_range(rows, eager=True)
    return pl.DataFrame(
        {
            "name": [f"Asha {one}" for one in range(rows)],
            "age": number % 90,
            "pin": (560001 + number % 9).cast(pl.String),
            "share": number / 7,
            "born": pl.date_range(pl.date(1950, 1, 1), pl.date(1950, 1, 1) + pl.duration(days=rows - 1), eager=True),
            "kind": pl.Series(["flu", "asthma", None] * (rows // 3), dtype=pl.Categorical),
            "ok": number % 2 == 0,
        }
    )


def _written(write: Callable[[pl.DataFrame, io.BytesIO], object]) -> Callable[[], bytes]:
    def made() -> bytes:
        out = io.BytesIO()
        write(table(), out)
        return out.getvalue()

    return made


def _arrow_stream() -> bytes:
    made = table().to_arrow(compat_level=pl.CompatLevel.oldest())
    out = io.BytesIO()
    with pa.ipc.new_stream(out, made.schema) as writer:
        writer.write_table(made, max_chunksize=20)
    return out.getvalue()


def _workbook() -> bytes:
    """By another writer than the first: shared texts, dates, a formula, cells that are merged or missing."""
    made, out = openpyxl.Workbook(), io.BytesIO()
    sheet = made.active
    sheet.append(["remark", "card", "seen", "sum"])
    for row in range(2, 20):
        sheet.append([WORDS if row % 2 else "none", 4111 + row % 3, date(2020, 1, row), f"=B{row}*2"])
    sheet["A5"] = None
    sheet.merge_cells("A8:A9")
    made.create_sheet("second").append(["a"])
    made.save(out)
    return _computed(out.getvalue())


def _computed(workbook: bytes) -> bytes:
    """With a value beside each formula, as a spreadsheet program leaves it; this writer computes none."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(workbook)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, re.sub(rb"(</f>)<v ?/?>(?:</v>)?", rb"\1<v>8222</v>", old.read(name)))
    return out.getvalue()


def _sqlite() -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder, "a.db")
        with sqlite3.connect(path) as there:
            there.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, age INTEGER, born DATE)")
            there.executemany(
                "INSERT INTO t (name, age, born) VALUES (?, ?, ?)",
                [(f"Asha {one}", one % 90, f"19{50 + one % 40}-01-02") for one in range(300)],
            )
            there.execute("CREATE INDEX i ON t (name)")
            there.execute("CREATE VIEW v AS SELECT name, age FROM t WHERE age > 5")
        there.close()
        return path.read_bytes()


_W: Final = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def _letter() -> bytes:
    """Without the megabyte of styles that the library brings, with a header, a comment and a footnote."""
    kinds = ("header", "comments", "footnotes")
    words = f"<w:p><w:r><w:t>{WORDS}</w:t></w:r></w:p>"
    parts = {
        "word/styles.xml": f"<w:styles {_W}><w:style w:styleId='a'><w:name w:val='Normal'/></w:style></w:styles>",
        "word/header.xml": f"<w:hdr {_W}>{words}</w:hdr>",
        "word/comments.xml": f"<w:comments {_W}><w:comment w:author='Asha Rao'>{words}</w:comment></w:comments>",
        "word/footnotes.xml": f"<w:footnotes {_W}><w:footnote w:id='2'>{words}</w:footnote></w:footnotes>",
    }
    of_word = "application/vnd.openxmlformats-officedocument.wordprocessingml"
    types = "".join(f'<Override PartName="/word/{kind}.xml" ContentType="{of_word}.{kind}+xml"/>' for kind in kinds)
    places = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    links = "".join(f'<Relationship Id="x{kind}" Type="{places}/{kind}" Target="{kind}.xml"/>' for kind in kinds)
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(MADE["a.docx"]())) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            if name in parts or re.search(r"stylesWithEffects|theme|thumbnail|customXml", name):
                continue
            text = old.read(name).decode()
            text = text.replace("</Types>", f"{types}</Types>")
            if name == "word/_rels/document.xml.rels":
                text = text.replace("</Relationships>", f"{links}</Relationships>")
            text = re.sub(
                r"<(Override|Relationship) [^>]*(stylesWithEffects|theme|thumbnail|customXml)[^>]*/>", "", text
            )
            new.writestr(zipfile.ZipInfo(name), text, zipfile.ZIP_DEFLATED)
        for name, text in parts.items():
            new.writestr(zipfile.ZipInfo(name), text, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _mail() -> bytes:
    from email.message import EmailMessage

    made = EmailMessage()
    made["From"], made["To"], made["Subject"] = "Asha Rao <asha@example.net>", "b@example.net", "=?utf-8?q?caf=C3=A9?="
    made.set_content(WORDS)
    made.add_alternative(f"<p>{WORDS}</p>", subtype="html")
    for name, kind in (("a.docx", "vnd.ms"), ("a.json", "json"), ("a.csv", "csv"), ("a.eml", "x")):
        made.add_attachment(_letter() if name == "a.docx" else MADE[name](), "application", kind, filename=name)
    return made.as_bytes()


def _page() -> bytes:
    return (
        b'<!DOCTYPE html><html><head><meta charset="utf-8"><style>p {color: red}</style><!-- Asha --></head>'
        b'<body onload="x()"><a href="mailto:asha@example.net?x=%20y">Asha</a><svg><text>Rao</text></svg>'
        b"<table><tr><td>1&amp;2<td>&#x41;</table><script>var a = '<p>'</script></body></html>"
    )


TABLES: Final[dict[str, tuple[Callable[[], bytes], ...]]] = {
    "csv": (_written(lambda frame, out: frame.write_csv(out)), lambda: b'a;b\r\n"x;\r\n""y";2\r\n' * 20),
    "tsv": (_written(lambda frame, out: frame.write_csv(out, separator="\t")),),
    "jsonl": (_written(lambda frame, out: frame.write_ndjson(out)),),
    "parquet": (
        _written(lambda frame, out: frame.write_parquet(out)),
        _written(lambda frame, out: frame.write_parquet(out, compression="snappy", row_group_size=20)),
        _written(lambda frame, out: frame.write_parquet(out, compression="uncompressed", data_page_size=100)),
    ),
    "arrow": (
        _written(lambda frame, out: frame.write_ipc(out, compression="uncompressed")),
        _written(lambda frame, out: frame.write_ipc(out, compression="lz4", compat_level=pl.CompatLevel.oldest())),
        _written(lambda frame, out: frame.write_ipc(out, compression="zstd")),
    ),
    "ipc": (_arrow_stream,),
    "xlsx": (
        _written(lambda frame, out: frame.with_columns(pl.col("kind").cast(pl.String)).write_excel(out)),
        _workbook,
    ),
    "sqlite": (_sqlite,),
}
DOCUMENTS: Final[dict[str, tuple[Callable[[], bytes], ...]]] = {
    **{name: (MADE[f"a.{name}"],) for name in ("pdf", "json", "mbox", "txt")},
    "docx": (*[_letter] * 7, MADE["a.docx"]),
    "html": (MADE["a.html"], _page),
    "eml": (MADE["a.eml"], _mail),
    "workbook": (MADE["a.xlsx"],),
    "cells": (MADE["a.csv"],),
    "lines": (MADE["a.jsonl"],),
}
ENDINGS: Final = {
    "workbook": "xlsx",
    "cells": "csv",
    "lines": "jsonl",
    "policy": "yaml",
    "recognisers": "yaml",
    "hierarchy": "csv",
}


def policies() -> list[bytes]:
    """Those of the documentation, and ours with every technique."""
    found = [
        block.encode()
        for page in sorted((ROOT / "docs").rglob("*.md"))
        for block in re.findall(r"```yaml\n(shoal: 1\n.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    ]
    return [*found, *[POLICY.encode(), SMALL.encode()] * len(found)]


POLICY: Final = """\
shoal: 1
name: clinic
source: clinic.csv
person: name
attributes:
  name: {role: direct, technique: {pseudonymise: {domain: people}}}
  age: {role: quasi, hierarchy: {intervals: {widths: [10, 20, 40], origin: 0}}}
  pin: {role: quasi, hierarchy: {redact: {side: right, char: "x"}}}
  share: {role: insensitive, technique: [{round: {base: 1}}, {noise: {laplace: {scale: 5}}}]}
  born: {role: quasi, hierarchy: {dates: [month, year]}}
  kind: {role: sensitive}
  ok: {role: insensitive, technique: {pram: {keep: 0.8}}}
  "*": suppress
privacy:
  - k_anonymity: {k: 3}
  - l_diversity: {attribute: kind, l: 2, kind: distinct}
  - t_closeness: {attribute: kind, t: 0.9, distance: equal}
solve: {recoding: global, suppression_limit: 0.2, levels: {age: [0, 2]}}
sample: {fraction: 0.9}
shuffle_rows: true
read_back: {found: suppress}
"""
HIERARCHY: Final = "".join(f"{age};{age // 10 * 10}-{age // 10 * 10 + 9};*\n" for age in range(100))
RECOGNISERS: Final = """\
lists:
  wards: [north, south]
ward:
  title: the number of a ward
  role: quasi
  because: few people are in one
  pattern: 'W-[0-9]{4}-<wards>'
  strength: 0.6
  column: {names: [ward]}
  technique: suppress
  text: {score: 0.4, context: {en: [ward, bed]}}
"""
YAML_WORDS: Final = tuple(
    word.encode()
    for word in (
        "*", "&a ", "*a", "<<: *a", "!!python/object:os.system ", "!!binary ", "!!set ", "!!timestamp ", "!x ", "~",
        ".nan",
        "1e999", "-1", "0", "9" * 5000, "true", "2026-01-01", "[", "]", "{", "}", ": ", "- ", "\n", "\n  ", "\t",
        "\ufeff",
        "\0", "\x85", "|\n", ">-\n", "? ", "#", "'", '"', "%YAML 3.0\n---\n", "...\n", "---\n", "[[[[[[[[",
        "a: " * 30,
        "{a: " * 60, "name", "age", "null", "0x10", "1_000", "é", "\U0001f600", "role: quasi", "role: direct",
        "technique: suppress", "{k: 0}", "{k: -5}", "{k: 1.5}", "{k: 99999999999999999999}", "widths: []",
        "widths: [0]",
        "widths: [-1]", "fraction: 2", "scale: 0", "scale: -1", "level: 99", "expression: ''",
        "hierarchy: {csv: nowhere}",
        "path: /dev/zero", "path: /proc/self/mem", "source: .",
    )
)  # fmt: skip
TEXT_WORDS: Final = (
    b"\0", b"\r", b"\n", b'"', b"'", b",", b";", b"\t", b"\xef\xbb\xbf", b"\xff\xfe", b"\xc3", b"\xed\xa0\x80",
    b"[" * 2000,
    b'{"a":' * 2000, b"\\ud800", b"\\u0000", b"1e999", b"NaN", b"-", b"<", b">", b"&#x110000;", b"&", b"<!--",
    b"<![CDATA[",
    b"<script>", b"</", b"--", b"=?utf-8?b?////?=", b"Content-Type: message/rfc822\n\n",
    b"Content-Type: multipart/mixed\n\n",
    b"charset=rot13", b"charset=utf-7", b"boundary=", b"From ", b"\n\nFrom ", b"Content-Transfer-Encoding: base64\n",
    b"<!DOCTYPE x [<!ENTITY a 'b'>]>", b"&a;", b"obj", b"endobj", b"stream", b"/Length 99999999 ", b"/Kids [1 0 R]",
    b"/Filter [/FlateDecode /FlateDecode]", b"/Contents 1 0 R", b"<<", b">>", b'r="XFD1048576"', b't="s"',
    b"<v>99999</v>",
)  # fmt: skip
