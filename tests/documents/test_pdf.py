"""PDF: after redaction nothing is left, proven by poppler's tools, by all streams unpacked, and by pixels."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pikepdf
import pypdfium2
import pytest
from pikepdf import Array, Dictionary, Name, String
from tests.documents.marked import MARK, found_in, mark, scrub, scrub_to_text

from shoal import documents
from shoal.documents import DocumentAccount, DocumentOptions
from shoal.documents.pdf.page import _DrawnLetters
from shoal.errors import SourceError
from shoal.scan.gates import unread_verdict
from shoal.scan.source_walk import scan_places

PLACES = (
    "body", "title", "author", "xmp", "note", "author2", "field", "fielddefault", "outline", "script", "attachment",
    "attachmentname", "link", "hiddenlayer", "invisible", "white", "covered", "offpage", "actualtext", "revision",
    "page2", "rotated", "pictureinfo", "pattern", "unreferenced",
)  # fmt: skip
poppler = pytest.mark.skipif(
    shutil.which("pdftotext") is None, reason="poppler-utils absent: apt-get install poppler-utils"
)


def text(words: str, x: float, y: float, more: str = "") -> str:
    return f"BT /F1 12 Tf {more} 1 0 0 1 {x} {y} Tm ({words}) Tj ET\n"


def add_page(pdf: pikepdf.Pdf, content: str, **more: object) -> pikepdf.Page:
    pdf.add_blank_page(page_size=(300, 200))
    page = pdf.pages[-1]
    font = Dictionary(Type=Name.Font, Subtype=Name.Type1, BaseFont=Name.Helvetica, Encoding=Name.WinAnsiEncoding)
    page.Resources = Dictionary(Font=Dictionary(F1=font), **more)  # type: ignore[arg-type]
    page.Contents = pdf.make_stream(content.encode())
    return page


def bytes_of(pdf: pikepdf.Pdf) -> bytes:
    out = io.BytesIO()
    pdf.save(out)
    return out.getvalue()


def revised(content: bytes) -> bytes:
    """The file with a later revision in which an earlier text is no longer used."""
    start = int(re.findall(rb"startxref\s+(\d+)", content)[-1])
    size = int(re.findall(rb"/Size (\d+)", content)[-1])
    root = re.findall(rb"/Root (\d+ \d+ R)", content)[-1]
    body = content + f"\n{size} 0 obj\n({mark('revision')})\nendobj\n".encode()
    at = len(content) + 1
    table = f"xref\n{size} 1\n{at:010d} 00000 n \ntrailer\n<< /Size {size + 1} /Root ".encode() + root
    return body + table + f" /Prev {start} >>\nstartxref\n{len(body)}\n%%EOF\n".encode()


def document() -> bytes:
    pdf = pikepdf.new()
    layer = pdf.make_indirect(Dictionary(Type=Name.OCG, Name=String("hidden")))
    pattern = pdf.make_stream(text(mark("pattern"), 0, 0).encode())
    pattern.stream_dict.update(
        Dictionary(Type=Name.Pattern, PatternType=1, PaintType=1, TilingType=1, BBox=[0, 0, 99, 20], XStep=99, YStep=20,
                   Resources=Dictionary())
    )  # fmt: skip
    info = pikepdf.Stream(pdf, b"\x80" * 16)
    info.stream_dict.update(
        Dictionary(Type=Name.XObject, Subtype=Name.Image, Width=4, Height=4, ColorSpace=Name.DeviceGray,
                   BitsPerComponent=8, Title=String(mark("pictureinfo")))
    )  # fmt: skip
    content = (
        text(f"Dear {mark('body')}, you stay.", 20, 170)
        + "/OC /L1 BDC " + text(mark("hiddenlayer"), 20, 150) + "EMC "
        + text(mark("invisible"), 20, 130, "3 Tr") + "0 Tr "
        + "1 g " + text(mark("white"), 20, 110) + "0 g "
        + text(mark("covered"), 20, 90) + "0 0 0 rg 15 85 200 16 re f "
        + text(mark("offpage"), 20, -50)
        + f"/Span << /ActualText ({mark('actualtext')}) >> BDC " + text("shown", 20, 60) + "EMC "
        + "q 30 0 0 30 250 20 cm /Im Do Q /Pattern cs /P1 scn 20 20 60 20 re f "
    )  # fmt: skip
    page = add_page(
        pdf, content, Properties=Dictionary(L1=layer), XObject=Dictionary(Im=pdf.make_indirect(info)),
        Pattern=Dictionary(P1=pdf.make_indirect(pattern)),
    )  # fmt: skip
    add_page(pdf, text(f"Second {mark('page2')} page", 20, 100))
    add_page(pdf, f"BT /F1 12 Tf 0.7071 0.7071 -0.7071 0.7071 80 40 Tm (Slanted {mark('rotated')}) Tj ET")[
        "/Rotate"
    ] = 90
    pdf.Root.OCProperties = Dictionary(OCGs=Array([layer]), D=Dictionary(OFF=Array([layer])))
    note = Dictionary(Type=Name.Annot, Subtype=Name.Text, Rect=[0, 0, 9, 9], Contents=mark("note"), T=mark("author2"))
    link = Dictionary(Type=Name.Annot, Subtype=Name.Link, Rect=[0, 0, 9, 9])
    link.A = Dictionary(S=Name.URI, URI=String(f"mailto:{mark('link')}"))
    look = pdf.make_stream(text(mark("field"), 2, 2).encode())
    look.stream_dict.update(
        Dictionary(Type=Name.XObject, Subtype=Name.Form, BBox=[0, 0, 200, 14], Resources=page.Resources)
    )
    field = pdf.make_indirect(
        Dictionary(Type=Name.Annot, Subtype=Name.Widget, FT=Name.Tx, T="who", V=mark("field"), DV=mark("fielddefault"),
                   Rect=[20, 40, 220, 54], F=4, AP=Dictionary(N=look), DA=String("/F1 12 Tf 0 g"))
    )  # fmt: skip
    page.Annots = pdf.make_indirect(Array([pdf.make_indirect(note), pdf.make_indirect(link), field]))
    pdf.Root.AcroForm = Dictionary(Fields=Array([field]), DR=Dictionary(Font=page.Resources.Font))
    pdf.Root.OpenAction = Dictionary(S=Name.JavaScript, JS=String(f"app.alert('{mark('script')}')"))
    pdf.attachments[f"{mark('attachmentname')}.txt"] = mark("attachment").encode()
    with pdf.open_outline() as outline:
        outline.root.append(pikepdf.OutlineItem(mark("outline"), 0))
    with pdf.open_metadata(set_pikepdf_as_editor=False) as metadata:
        metadata["dc:description"] = mark("xmp")
    pdf.docinfo["/Title"], pdf.docinfo["/Author"] = mark("title"), mark("author")
    pdf.Root.PieceInfo = Dictionary(App=Dictionary(Private=String(mark("unreferenced"))))
    return revised(bytes_of(pdf))


def unpacked(content: bytes) -> bytes:
    """All objects and all streams of a file, decoded."""
    found = [content]
    with pikepdf.open(io.BytesIO(content)) as pdf:
        for each in pdf.objects:
            found.append(repr(each).encode())
            if isinstance(each, pikepdf.Stream):
                found.append(each.read_bytes())
    return b"\n".join(found)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, DocumentAccount]:
    folder = tmp_path_factory.mktemp("pdf")
    old, new = folder / "old.pdf", folder / "new.pdf"
    old.write_bytes(document())
    account = documents.open(old).rewrite(old, new, scrub)
    return old, new, account


@pytest.fixture(scope="module")
def marks(files: tuple[Path, Path, DocumentAccount]) -> tuple[set[str], set[str]]:
    """What is found in all objects and streams, before and after."""
    return found_in(unpacked(files[0].read_bytes())), found_in(unpacked(files[1].read_bytes()))


@pytest.mark.requirement("X-05")
@pytest.mark.parametrize("place", PLACES)
def test_every_hiding_place(place: str, marks: tuple[set[str], set[str]]) -> None:
    assert mark(place) in marks[0]
    assert mark(place) not in marks[1]


def tool(*words: str) -> str:
    return subprocess.run(words, capture_output=True, check=True, text=True).stdout


@poppler
@pytest.mark.requirement("X-05")
def test_independent_tools_find_pictures_and_nothing_else(files: tuple[Path, Path, DocumentAccount]) -> None:
    old, new, _ = (*map(str, files[:2]), None)
    assert mark("body") in tool("pdftotext", old, "-")
    assert tool("pdftotext", new, "-").strip() == ""
    facts = dict(line.split(":", 1) for line in tool("pdfinfo", new).splitlines() if ":" in line)
    assert not {"Title", "Author", "Creator", "Producer", "CreationDate", "Subject"} & set(facts)
    assert facts["Pages"].strip() == "3"
    assert {facts[name].strip() for name in ("JavaScript", "Encrypted", "Tagged", "Metadata Stream")} == {"no"}
    assert facts["Form"].strip() == "none"
    assert len(tool("pdfimages", "-list", new).splitlines()) == 2 + 3
    assert tool("pdffonts", new).splitlines()[2:] == []
    assert tool("pdfdetach", "-list", new).startswith("0 embedded files")


def pixels(path: Path, page: int, scale: float = 200 / 72) -> np.ndarray:
    with pypdfium2.PdfDocument(path) as pdf:
        return np.asarray(pdf[page].render(scale=scale).to_numpy())[:, :, 0].copy()


def picture(path: Path, page: int) -> np.ndarray:
    """The picture that a page of a redacted file is, dot by dot."""
    with pikepdf.open(path) as pdf:
        stream = pdf.pages[page].Resources.XObject.Page
        return np.frombuffer(stream.read_bytes(), np.uint8).reshape(int(stream.Height), int(stream.Width))


@poppler
@pytest.mark.requirement("X-05")
@pytest.mark.parametrize("scrubbing", [scrub, scrub_to_text])
def test_what_poppler_calls_the_place_of_a_secret_is_black(tmp_path: Path, scrubbing: object) -> None:
    """An independent reader says where the words are, before; after, not one pixel there is anything but black."""
    pdf = pikepdf.new()
    add_page(
        pdf, text("Dear", 20, 170) + text(mark("one"), 60, 170) + text("stays", 200, 170) + text(mark("two"), 20, 90)
    )
    add_page(pdf, text("Turned", 20, 150) + text(mark("three"), 80, 150))["/Rotate"] = 270
    add_page(pdf, text("Cropped", 60, 150) + text(mark("four"), 120, 150))["/CropBox"] = Array([50, 60, 290, 190])
    old, new = tmp_path / "old.pdf", tmp_path / "new.pdf"
    old.write_bytes(bytes_of(pdf))
    documents.open(old).rewrite(old, new, scrubbing)  # type: ignore[arg-type]
    scale = 200 / 72
    seen = 0
    for number in range(3):
        shown = picture(new, number)
        boxes = tool("pdftotext", "-bbox", "-cropbox", "-f", str(number + 1), "-l", str(number + 1), str(old), "-")
        words = re.findall(r'xMin="([\d.]+)" yMin="([\d.]+)" xMax="([\d.]+)" yMax="([\d.]+)">([^<]+)<', boxes)
        assert len(words) >= 2
        for left, top, right, bottom, word in words:
            x0, y0, x1, y1 = (round(float(one) * scale) for one in (left, top, right, bottom))
            inside = shown[y0 + 4 : y1 - 6, x0 + 1 : x1 - 1]
            assert inside.size
            if MARK.search(word):
                seen += 1
                assert inside.max() == 0, word
            else:
                assert 0 < (inside < 128).mean() < 0.6, word
                assert np.abs(inside.astype(int) - pixels(old, number)[y0 + 4 : y1 - 6, x0 + 1 : x1 - 1]).mean() < 12
    assert seen == 4


SLANTED = "BT /F1 12 Tf 0.7071 0.7071 -0.7071 0.7071 120 20 Tm (Slanted {}) Tj ET"
SCALED = "q 2.5 0 0 0.8 10 20 cm BT /F1 12 Tf 90 Tz 3 Tc 4 Ts 1 0 0 1 5 60 Tm (Wide {}) Tj ET Q"
UPRIGHT = "BT /F1 12 Tf 0 1 -1 0 150 20 Tm (Up {}) Tj ET"
KERNED = "BT /F1 14 Tf 1 0 0 1 20 100 Tm [(K {}) -400] TJ ET"


@pytest.mark.requirement("X-05")
@pytest.mark.parametrize("content", [SLANTED, SCALED, UPRIGHT, KERNED])
@pytest.mark.parametrize("rotation", [0, 90])
def test_every_pixel_of_a_secret_is_black(tmp_path: Path, content: str, rotation: int) -> None:
    """The pixels of a secret are those that differ from the page without it."""
    old, without, new = (tmp_path / name for name in ("old.pdf", "without.pdf", "new.pdf"))
    for path, words in ((old, mark("x")), (without, "")):
        pdf = pikepdf.new()
        add_page(pdf, content.format(words))["/Rotate"] = rotation
        path.write_bytes(bytes_of(pdf))
    account = documents.open(old).rewrite(old, new, scrub)
    assert account.by_type() == {"person": 1}
    before, bare, after = pixels(old, 0), pixels(without, 0), picture(new, 0)
    inked = before != bare
    assert inked.sum() > 500
    assert (after[inked] == 0).all()
    assert (after[after != bare] == 0).all()


@pytest.mark.requirement("X-05")
def test_letters_that_are_drawn_twice_are_read_once(tmp_path: Path) -> None:
    """First the rims of all letters, then the letters: so charts are printed by browsers."""

    def drawn(words: str) -> str:
        places = [(20 + 7.2 * at, letter) for at, letter in enumerate(words)]
        return "1 G 4 w " + "".join(text(letter, x, 100, f"{mode} Tr") for mode in (1, 0) for x, letter in places)

    old, new = tmp_path / "old.pdf", tmp_path / "new.pdf"
    pdf = pikepdf.new()
    add_page(pdf, drawn(f"ab {mark('ll')} cd")).Resources.Font.F1.BaseFont = Name.Courier
    old.write_bytes(bytes_of(pdf))
    account = documents.open(old).rewrite(old, new, scrub)
    assert account.by_type() == {"person": 1}
    line = picture(new, 0)[round(93 * 200 / 72), :]
    assert (line[round(44 * 200 / 72) : round(130 * 200 / 72)] == 0).all()


class Drawn:
    """Boxes of letters, as PDFium tells them."""

    def __init__(self, *boxes: tuple[float, float, float, float]) -> None:
        self._boxes = boxes

    def get_charbox(self, index: int, *, loose: bool) -> tuple[float, float, float, float]:
        return self._boxes[index]


def test_a_rim_makes_a_letter_larger_and_it_is_still_the_same_letter() -> None:
    """Boxes of a chart's label as a browser prints it; PDFium reads such letters twice."""
    rimmed = _DrawnLetters(Drawn((259.69, 435.28, 266.59, 443.9), (261.19, 436.79, 265.09, 442.4)))
    assert [rimmed.repeats(ord("h"), index) for index in (0, 1)] == [False, True]
    neighbours = _DrawnLetters(Drawn((20.0, 100.0, 21.0, 108.6), (22.7, 100.0, 23.7, 108.6)))
    assert [neighbours.repeats(ord("l"), index) for index in (0, 1)] == [False, False]
    assert not rimmed.repeats(ord("k"), 1)


@pytest.mark.requirement("X-05")
def test_fields_and_notes_that_are_shown_are_read_and_covered(tmp_path: Path) -> None:
    old, without, new = (tmp_path / name for name in ("old.pdf", "without.pdf", "new.pdf"))
    for path, words in ((old, mark("typed")), (without, "")):
        pdf = pikepdf.new()
        page = add_page(pdf, text("Name:", 20, 150))
        look = pdf.make_stream(text(f"{words} typed", 2, 2).encode())
        box = Dictionary(Type=Name.XObject, Subtype=Name.Form, BBox=[0, 0, 200, 14], Resources=page.Resources)
        look.stream_dict.update(box)
        free = Dictionary(Type=Name.Annot, Subtype=Name.FreeText, Rect=[20, 100, 220, 114], F=4, AP=Dictionary(N=look))
        page.Annots = Array([pdf.make_indirect(free)])
        path.write_bytes(bytes_of(pdf))
    documents.open(old).rewrite(old, new, scrub)
    with pypdfium2.PdfDocument(new) as pdf_new:
        assert pdf_new[0].get_textpage().get_text_range() == ""
    dark = pixels(new, 0)[round(86 * 200 / 72) : round(98 * 200 / 72), :] == 0
    assert dark.sum() > 2000


def test_the_account_names_what_went(files: tuple[Path, Path, DocumentAccount]) -> None:
    removed = {entry.what: entry.count for entry in files[2].removed}
    assert removed["note, link or other annotation"] == 3
    assert {
        "metadata",
        "form field",
        "attachment",
        "outline",
        "script or action",
        "layers",
        "earlier revision",
        "picture",
    } <= set(removed)
    assert "feather" not in str(files[2].to_dict())


def test_scanning_sees_hidden_places(files: tuple[Path, Path, DocumentAccount]) -> None:
    pieces = list(documents.open(files[0]).texts(files[0]))
    seen = set(MARK.findall("\n".join(piece.text for piece in pieces)))
    for place in ("body", "page2", "title", "xmp", "note", "field", "outline", "script", "attachment", "link", "white"):
        assert mark(place) in seen, place
    assert {"page 1", "page 2", "page 3"} <= {piece.place for piece in pieces}


def scan() -> bytes:
    pdf = pikepdf.new()
    picture = pikepdf.Stream(pdf, b"\x30" * 100)
    picture.stream_dict.update(
        Dictionary(
            Type=Name.XObject, Subtype=Name.Image, Width=10, Height=10, ColorSpace=Name.DeviceGray, BitsPerComponent=8
        )
    )
    add_page(pdf, text("A page with text", 20, 100))
    add_page(pdf, "q 300 0 0 200 0 0 cm /Im Do Q", XObject=Dictionary(Im=pdf.make_indirect(picture)))
    add_page(pdf, "")
    return bytes_of(pdf)


def test_scans_are_refused_or_covered(tmp_path: Path) -> None:
    old, new = tmp_path / "old.pdf", tmp_path / "new.pdf"
    old.write_bytes(scan())
    with pytest.raises(SourceError, match="page 2 has no text"):
        documents.open(old).rewrite(old, new, scrub)
    assert not new.exists()
    account = documents.format_for(old, DocumentOptions(unreadable="cover")).rewrite(old, new, scrub)
    assert set(np.unique(pixels(new, 1))) == {0x80}
    assert set(np.unique(pixels(new, 2))) == {0xFF}
    assert [(one.place, one.what) for one in account.removed] == [("page 2", "page without text")]


def test_a_page_that_is_a_picture_is_read_by_nobody(tmp_path: Path) -> None:
    (tmp_path / "old.pdf").write_bytes(scan())
    found = scan_places([str(tmp_path / "old.pdf")], lambda _: [])
    assert [one.source for one in found.unread] == [f"{tmp_path / 'old.pdf'}, page 2"]
    assert not unread_verdict(found).met


def test_pictures_go_or_stay(tmp_path: Path) -> None:
    pdf = pikepdf.new()
    picture = pikepdf.Stream(pdf, b"\x30" * 100)
    picture.stream_dict.update(
        Dictionary(
            Type=Name.XObject, Subtype=Name.Image, Width=10, Height=10, ColorSpace=Name.DeviceGray, BitsPerComponent=8
        )
    )
    within = pdf.make_stream(b"q 40 0 0 40 200 20 cm /Im Do Q")
    image = pdf.make_indirect(picture)
    within.stream_dict.update(
        Dictionary(
            Type=Name.XObject,
            Subtype=Name.Form,
            BBox=[0, 0, 300, 200],
            Resources=Dictionary(XObject=Dictionary(Im=image)),
        )
    )
    inline = "q 40 0 0 40 100 20 cm BI /W 1 /H 1 /CS /G /BPC 8 ID 0 EI Q "
    words = text("Some words", 20, 150)
    add_page(pdf, words + inline + "q 40 0 0 40 20 20 cm /Im Do Q /Fm Do", XObject=Dictionary(Im=image, Fm=within))
    old, new = tmp_path / "old.pdf", tmp_path / "new.pdf"
    old.write_bytes(bytes_of(pdf))
    account = documents.open(old).rewrite(old, new, scrub)
    assert (pixels(new, 0, 1)[130:, :] == 255).all()
    assert [(one.what, one.count) for one in account.removed] == [("picture", 3)]
    documents.format_for(old, DocumentOptions(pictures="keep")).rewrite(old, new, scrub)
    shown = pixels(new, 0, 1)
    assert all(shown[160, x] < 0x40 for x in (40, 120, 220))


def test_a_covered_line_tells_no_width(tmp_path: Path) -> None:
    pdf = pikepdf.new()
    add_page(pdf, text(f"Dear {mark('a')}, hello", 20, 150) + text("below", 20, 100))
    old, new = tmp_path / "old.pdf", tmp_path / "new.pdf"
    old.write_bytes(bytes_of(pdf))
    documents.format_for(old, DocumentOptions(cover="line")).rewrite(old, new, scrub)
    shown = pixels(new, 0, 1)
    assert (shown[46, :] == 0).all()
    assert (shown[90:100, :] < 128).any()


def test_a_divided_word_is_one_word(tmp_path: Path) -> None:
    pdf = pikepdf.new()
    add_page(
        pdf,
        "BT /F1 12 Tf 1 0 0 1 20 150 Tm 14 TL (A line of text that ends in Quilldi-) Tj T* (videdfeather here) Tj ET",
    )
    old, new = tmp_path / "old.pdf", tmp_path / "new.pdf"
    old.write_bytes(bytes_of(pdf))
    account = documents.open(old).rewrite(old, new, scrub)
    assert account.by_type() == {"person": 1}


def test_the_same_file_gives_the_same_bytes(tmp_path: Path) -> None:
    old = tmp_path / "old.pdf"
    old.write_bytes(document())
    for name in ("a.pdf", "b.pdf"):
        documents.open(old).rewrite(old, tmp_path / name, scrub)
    assert (tmp_path / "a.pdf").read_bytes() == (tmp_path / "b.pdf").read_bytes()


def test_encrypted_and_damaged_files_are_refused(tmp_path: Path) -> None:
    path, target = tmp_path / "a.pdf", tmp_path / "b.pdf"
    pdf = pikepdf.new()
    add_page(pdf, text("x", 20, 100))
    pdf.save(path, encryption=pikepdf.Encryption(owner="a", user="b"))
    with pytest.raises(SourceError, match="is encrypted"):
        documents.open(path).rewrite(path, target, scrub)
    for content in (b"", b"%PDF-1.7\nnothing", b"hello"):
        path.write_bytes(content)
        with pytest.raises(SourceError, match="not a whole PDF"):
            documents.open(path).rewrite(path, target, scrub)
    assert [one.name for one in tmp_path.iterdir()] == ["a.pdf"]
