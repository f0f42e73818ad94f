"""Files that are made to harm whoever reads them, each by its name; none is larger than a few hundred kilobytes."""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping
from itertools import chain, repeat
from typing import Final

import numpy as np
import pikepdf
import polars as pl
import pyarrow.parquet
from tests.documents.made import MADE
from tests.hostile.seeds import table

_MAIN: Final = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_DEEP: Final = 200_000


def _parquet(**options: object) -> bytes:
    out = io.BytesIO()
    table().write_parquet(out, **options)  # type: ignore[arg-type]
    return out.getvalue()


def _ipc(frame: pl.DataFrame, out: io.BytesIO) -> None:
    frame.write_ipc(out, compression="uncompressed")


def _plain_parquet(frame: pl.DataFrame, out: io.BytesIO) -> None:
    pyarrow.parquet.write_table(frame.to_arrow(), out, compression="none", use_dictionary=False, write_statistics=False)


def damaged_parquet() -> bytes:
    """Its page headers are overwritten: the reader panics."""
    made = bytearray(_parquet(compression="uncompressed"))
    made[4:200] = b"\xff" * 196
    return bytes(made)


def parquet_without_records_it_claims() -> bytes:
    """The number of rows in its last part is another than that of its pages."""
    made = bytearray(_parquet())
    foot = len(made) - 8 - struct.unpack("<I", made[-8:-4])[0]
    at = made.index(bytes([0x16, 60 << 1]), foot)
    made[at + 1] = 50 << 1
    return bytes(made)


def endless_parquet() -> bytes:
    """It claims 2⁴⁰ records."""
    made = _parquet()
    length = struct.unpack("<I", made[-8:-4])[0]
    body, foot = made[: -8 - length], made[-8 - length : -8]
    many = bytes([0x16, 0x80, 0x80, 0x80, 0x80, 0x80, 0x40])
    foot = foot.replace(bytes([0x16, 60 << 1]), many)
    return body + foot + struct.pack("<I", len(foot)) + b"PAR1"


def dateless(kind: pl.DataType, number: int, write: Callable[[pl.DataFrame, io.BytesIO], object]) -> bytes:
    """A day that no calendar has, well written."""
    written = pl.Series("born", [11_223, 12_345, None]).cast(pl.Int32 if kind == pl.Date else pl.Int64).cast(kind)
    out = io.BytesIO()
    write(pl.DataFrame([written]), out)
    size = 4 if kind == pl.Date else 8
    before = np.array([11_223, 12_345], dtype=f"<i{size}").tobytes()
    assert out.getvalue().count(before) == 1
    return out.getvalue().replace(before, np.array([number, 12_345], dtype=f"<i{size}").tobytes())


def _repacked(old_file: bytes, changed: Mapping[str, Iterable[bytes]]) -> bytes:
    """An archive with some of its parts replaced, piece by piece."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(old_file)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            with new.open(name, "w") as part:
                for piece in changed.get(name, [old.read(name)]):
                    part.write(piece)
    return out.getvalue()


def _workbook(rows: Iterable[str], doctype: str = "") -> bytes:
    """The workbook of another writer with the rows of its sheet replaced."""
    begin, end = f'{doctype}<worksheet xmlns="{_MAIN}"><sheetData>', "</sheetData></worksheet>"
    sheet = (piece.encode() for piece in chain([begin], rows, [end]))
    return _repacked(MADE["a.xlsx"](), {"xl/worksheets/sheet1.xml": sheet})


def far_cell() -> bytes:
    """One cell at the far end of the sheet: a rectangle of 17 thousand million cells."""
    near, far = '<row r="1"><c r="A1"><v>1</v></c></row>', '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
    return _workbook([near, far])


def without_sheets() -> bytes:
    """A workbook that names no sheet."""
    with zipfile.ZipFile(io.BytesIO(MADE["a.xlsx"]())) as old:
        book = re.sub(rb"<sheets>.*</sheets>", b"<sheets/>", old.read("xl/workbook.xml"))
    return _repacked(MADE["a.xlsx"](), {"xl/workbook.xml": [book]})


def swelling_workbook() -> bytes:
    """A few hundred kilobytes that unpack to four hundred megabytes."""
    cells = '<c t="inlineStr"><is><t>' + "A" * 1000 + "</t></is></c>"
    row = f"<row>{cells}</row>"
    return _workbook(repeat(row * 1000, 390))


def laughing_workbook() -> bytes:
    """Entities of entities: four thousand million letters."""
    inner = "".join(f'<!ENTITY l{one} "{f"&l{one - 1};" * 10}">' for one in range(1, 10))
    row = '<row><c t="inlineStr"><is><t>&l9;</t></is></c></row>'
    return _workbook([row] * 2, f'<!DOCTYPE worksheet [<!ENTITY l0 "Asha">{inner}]>')


def pdf_with_one_large_stream() -> bytes:
    """A page whose drawing unpacks to two hundred megabytes."""
    made = pikepdf.new()
    made.add_blank_page(page_size=(200, 200))
    stream = pikepdf.Stream(made, zlib.compress(b"0 0 1 1 re f\n" * 16_000_000, 9))
    stream.stream_dict = pikepdf.Dictionary(Filter=pikepdf.Name.FlateDecode)
    made.pages[0].Contents = made.make_indirect(stream)
    out = io.BytesIO()
    made.save(out, compress_streams=False, stream_decode_level=pikepdf.StreamDecodeLevel.none)
    return out.getvalue()


def pdf_that_draws_itself() -> bytes:
    """A form that draws itself, and pages that are their own parents."""
    made = pikepdf.new()
    made.add_blank_page(page_size=(200, 200))
    form = made.make_indirect(pikepdf.Stream(made, b"/F Do " * 2000))
    form.stream_dict = pikepdf.Dictionary(
        Type=pikepdf.Name.XObject,
        Subtype=pikepdf.Name.Form,
        BBox=[0, 0, 200, 200],
        Resources={"/XObject": {"/F": form}},
    )
    page = made.pages[0]
    page.Resources = pikepdf.Dictionary(XObject=pikepdf.Dictionary(F=form))
    page.Contents = made.make_indirect(pikepdf.Stream(made, b"/F Do " * 2000))
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


def huge_page() -> bytes:
    made = pikepdf.new()
    made.add_blank_page(page_size=(200, 200))
    made.pages[0].MediaBox = pikepdf.Array([0, 0, 2_000_000_000, 2_000_000_000])
    made.pages[0].Contents = made.make_indirect(pikepdf.Stream(made, b"0 0 9999999 9999999 re f"))
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


def _letter(pieces: Iterable[bytes]) -> bytes:
    return _repacked(MADE["a.docx"](), {"word/document.xml": pieces})


def swelling_letter() -> bytes:
    return _letter(chain([b"<w>"], repeat(b" " * 1_000_000, 300), [b"</w>"]))


def lying_letter() -> bytes:
    """Its directory says that the text has a hundred bytes; it unpacks to a hundred million."""
    made = _letter(chain([b"<w>"], repeat(b" " * 1_000_000, 100), [b"</w>"]))
    return made.replace(struct.pack("<I", 100_000_007), struct.pack("<I", 100))


def deep_letter() -> bytes:
    return _letter([b"<w>" * _DEEP, b"</w>" * _DEEP])


def nested_mails() -> bytes:
    """A mail in a mail in a mail, three thousand deep."""
    return b"From: a@example.net\nContent-Type: message/rfc822\n\n" * 3000 + b"\nbody\n"


def many_boundaries() -> bytes:
    """Parts within parts, each opened anew."""
    heads = b"".join(
        b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (number, number) for number in range(3000)
    )
    return b"From: a@example.net\n" + heads + b"\nbody\n"


TABLES: Final[dict[str, Callable[[], bytes]]] = {
    "damaged.parquet": damaged_parquet,
    "claims.parquet": parquet_without_records_it_claims,
    "endless.parquet": endless_parquet,
    "cut.parquet": lambda: _parquet()[:-700] + b"PAR1",
    "far.xlsx": far_cell,
    "swelling.xlsx": swelling_workbook,
    "laughing.xlsx": laughing_workbook,
    "deep.jsonl": lambda: b'{"a": ' + b"[" * _DEEP + b"]" * _DEEP + b"}\n",
    "deep.json": lambda: b"[" * 1_000_000,
    "deeper.jsonl": lambda: b'{"a":' * _DEEP + b"1" + b"}" * _DEEP + b"\n",
    "lying.arrow": lambda: (
        b"ARROW1\0\0" + b"\xff\xff\xff\xff\xff\xff\xff\x7f" * 100 + struct.pack("<I", 0x7FFFFFF0) + b"ARROW1"
    ),
    "lying.ipc": lambda: b"\xff\xff\xff\xff" + struct.pack("<I", 0x7FFFFFF0) + b"\0" * 64,
    "dateless.arrow": lambda: dateless(pl.Date(), 2**31 - 1, _ipc),
    "ancient.arrow": lambda: dateless(pl.Date(), -719_163, _ipc),
    "later.arrow": lambda: dateless(pl.Datetime("ms"), 2**62, _ipc),
    "dateless.parquet": lambda: dateless(pl.Date(), 2_932_897, _plain_parquet),
    "dateless.ipc": lambda: dateless(pl.Datetime("us"), 2**62, lambda frame, out: frame.write_ipc_stream(out)),
    "wide.csv": lambda: b",".join(b"c%d" % one for one in range(150_000)) + b"\n" + b"," * 149_999 + b"\n",
    "nul.csv": lambda: b"name,age\nAsha,\0\0\0\n" * 2,
    "star.csv": lambda: b"*,age\nAsha,3\nRao,4\n",
    "regex.csv": lambda: b"^.*$,age\nAsha,3\nRao,4\n",
}
"""All of them are refused."""
DOCUMENTS: Final[dict[str, Callable[[], bytes]]] = {
    "stream.pdf": pdf_with_one_large_stream,
    "itself.pdf": pdf_that_draws_itself,
    "huge.pdf": huge_page,
    "swelling.docx": swelling_letter,
    "lying.docx": lying_letter,
    "deep.docx": deep_letter,
    "far.xlsx": far_cell,
    "swelling.xlsx": swelling_workbook,
    "laughing.xlsx": laughing_workbook,
    "nested.eml": nested_mails,
    "boundaries.eml": many_boundaries,
    "deep.html": lambda: b"<div>" * _DEEP + b"Asha",
    "open.html": lambda: b"<a <a " * 50_000 + b"<!--" * 50_000,
    "deep.json": lambda: b"[" * 1_000_000,
    "deep.jsonl": lambda: b'{"a": ' + b"[" * _DEEP + b"]" * _DEEP + b"}\n",
}
"""Some can be read after all; none may do harm."""
