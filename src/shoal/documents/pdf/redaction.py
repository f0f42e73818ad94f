"""PDF with true redaction: every page becomes a picture of what may be seen of it, and nothing else is in the new file.

The text of a page is read with the place of each character. What the scrubber touches is painted over in the picture,
so there is nothing under the boxes: no text, no fonts, no metadata, no notes, forms, attachments, outlines, scripts,
hidden layers, earlier revisions. What is lost: text can no longer be selected or searched, links don't work.

Nothing reads what is in a picture. So pictures are taken off the page unless they are to be kept, and a page with
something to see but no text (a scan) is refused, or covered as a whole.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO, ClassVar, Final

from shoal.documents import attachments
from shoal.documents.base import DocumentFormat, DocumentText, damaged, encrypted, missing_extra
from shoal.documents.cleaning_account import EditRecorder
from shoal.documents.pdf.page import PdfPage, pages_of
from shoal.errors import ShoalError, SourceError

_LARGEST: Final = 1 << 29
_DEEPEST: Final = 64
_WORDS: Final = ("/Contents", "/V", "/DV", "/TU", "/T", "/Title", "/Author", "/Subject", "/Keywords", "/Creator")
_MORE_WORDS: Final = ("/Producer", "/JS", "/Alt", "/ActualText", "/E", "/RC", "/URI", "/UF", "/F", "/Company", "/Name")


_MARKER: Final = "/Shoal"
_CLEANED: Final = "/Cleaned"
"""In the catalogue of a file that we wrote: its pages are pictures, and what they show was read and cleaned."""


@dataclass(frozen=True)
class PdfFormat(DocumentFormat):
    key: ClassVar[str] = "pdf"
    order: ClassVar[int] = 100
    endings: ClassVar[tuple[str, ...]] = (".pdf",)
    media: ClassVar[tuple[str, ...]] = ("application/pdf",)

    @classmethod
    def begins(cls, head: bytes) -> bool:
        return head.startswith(b"%PDF-")

    def pieces(self, source: BinaryIO, label: str) -> Iterator[DocumentText]:
        content = _content(source, label)
        with _opened(content, label) as document, _undamaged(label):
            cleaned = document.Root.get(_MARKER) == _CLEANED
            yield from _around(document)
            yield from self._attached(document)
        for page in pages_of(content, label):
            if page.text.strip():
                yield DocumentText(f"page {page.number}", page.text)
            elif not page.is_empty and not cleaned:
                yield DocumentText(f"page {page.number}", "", unread=True)

    def clean(self, source: BinaryIO, target: BinaryIO, ledger: EditRecorder, label: str) -> None:
        content = _content(source, label)
        with _opened(content, label) as document, _undamaged(label):
            _account_for(document, content, ledger)
            plain = _without_patterns(document)
        import pikepdf

        new = pikepdf.new()
        new.Root[_MARKER] = pikepdf.Name(_CLEANED)
        for page in pages_of(plain, label):
            _append(new, page, self._shown(page, ledger, label))
        new.save(target, deterministic_id=True, compress_streams=True)

    def _shown(self, page: PdfPage, ledger: EditRecorder, label: str) -> Any:
        """The picture of a page after redaction."""
        place = f"page {page.number}"
        if page.is_unreadable:
            if self.options.unreadable == "refuse":
                raise SourceError(
                    f"{label}: page {page.number} has no text that can be read (a scan?)",
                    advice="recognise its text first (OCR), or let pages without text be covered",
                )
            ledger.removed(place, "page without text")
            return page.covered(self.options.dots)
        if self.options.pictures == "remove" and page.pictures:
            ledger.removed(place, "picture", page.take_pictures())
        if page.unread:
            ledger.removed(place, "text that can't be read", page.unread)
        if page.unknown:
            ledger.removed(place, "character that can't be read", len(page.unknown))
        found = [(one.start, one.end) for one in ledger.edits(place, page.text)]
        shown = page.redacted(found, self.options.dots, self.options.cover)
        if shown is None:
            ledger.removed(place, "page with characters of unknown place")
        return page.covered(self.options.dots) if shown is None else shown

    def _attached(self, document: Any) -> Iterator[DocumentText]:
        for number, (name, file) in enumerate(document.attachments.items(), 1):
            yield DocumentText(f"name of attachment {number}", name)
            carrier = attachments.format_of_attachment(name, "", self.options) if self.options.depth > 0 else None
            if carrier is not None:
                for piece in carrier.pieces(io.BytesIO(file.get_file().read_bytes()), f"attachment {number}"):
                    yield DocumentText(f"attachment {number}, {piece.place}", piece.text, piece.label, piece.unread)


def _content(source: BinaryIO, label: str) -> bytes:
    content = source.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise SourceError(f"{label}: is larger than {_LARGEST >> 20} MB")
    return content


def _opened(content: bytes, label: str) -> Any:
    try:
        import pikepdf
    except ImportError:
        raise missing_extra("a PDF") from None
    try:
        return pikepdf.open(io.BytesIO(content))
    except pikepdf.PasswordError:
        raise encrypted(label) from None
    except (pikepdf.PdfError, ValueError):
        raise damaged(label, "PDF") from None


@contextmanager
def _undamaged(label: str) -> Iterator[None]:
    """Whatever a library stumbles over inside a file, the file is refused; the library's words may hold values."""
    import pikepdf

    try:
        yield
    except ShoalError:
        raise
    except (pikepdf.PdfError, pikepdf.DataDecodingError, LookupError, TypeError, ValueError, AttributeError):
        raise damaged(label, "PDF") from None


def _without_patterns(document: Any) -> bytes:
    """The file without tiling patterns and soft masks: what is drawn in them is seen, but not found as text."""
    import pikepdf

    for each in _dictionaries(document):
        if isinstance(each, pikepdf.Stream) and each.get("/PatternType") == 1:
            each.write(b"")
        elif isinstance(each, pikepdf.Dictionary) and isinstance(each.get("/SMask"), pikepdf.Dictionary):
            each["/SMask"] = pikepdf.Name("/None")
    out = io.BytesIO()
    document.save(out, fix_metadata_version=False)
    return out.getvalue()


def _around(document: Any) -> Iterator[DocumentText]:
    """Texts beside the pages: metadata, notes, fields, outlines, scripts."""
    import pikepdf

    for each in _dictionaries(document):
        if isinstance(each, pikepdf.Stream) and each.get("/Type") == "/Metadata":
            yield DocumentText("metadata", each.read_bytes().decode("utf-8", "replace"))
        for key in (*_WORDS, *_MORE_WORDS):
            value = each.get(key)
            if isinstance(value, pikepdf.String) and str(value).strip():
                yield DocumentText(f"entry {key[1:]}", str(value), "author" if key == "/Author" else "")


def _dictionaries(document: Any) -> Iterator[Any]:
    """Every dictionary and stream of the file, those written within others too."""
    import pikepdf

    waiting = [(each, 0) for each in document.objects]
    while waiting:
        each, depth = waiting.pop()
        if isinstance(each, pikepdf.Dictionary | pikepdf.Stream):
            yield each
            inner = list(dict(each.items()).values())
        elif isinstance(each, pikepdf.Array):
            inner = list(each)
        else:
            continue
        nested = (pikepdf.Dictionary, pikepdf.Array)
        waiting += [
            (one, depth + 1) for one in inner if isinstance(one, nested) and not one.is_indirect and depth < _DEEPEST
        ]


def _account_for(document: Any, content: bytes, ledger: EditRecorder) -> None:
    root = document.Root
    form = root.get("/AcroForm")
    counts = {
        "metadata": int("/Metadata" in root or "/Info" in document.trailer),
        "note, link or other annotation": sum(len(page.get("/Annots", [])) for page in document.pages),
        "form field": len(form.get("/Fields", [])) if form is not None else 0,
        "attachment": len(document.attachments),
        "outline": int("/Outlines" in root),
        "script or action": int("/OpenAction" in root or "/AA" in root or "/JavaScript" in root.get("/Names", {})),
        "layers": int("/OCProperties" in root),
        "earlier revision": max(0, content.count(b"%%EOF") - 1),
    }
    for what, count in counts.items():
        if count:
            ledger.removed("document", what, count)


def _append(document: Any, page: PdfPage, shown: Any) -> None:
    """A page that holds one picture."""
    import zlib

    import pikepdf

    height, width = shown.shape[:2]
    wide, high = page.size
    picture = pikepdf.Stream(document, zlib.compress(shown.tobytes()))
    picture.stream_dict = pikepdf.Dictionary(
        Type=pikepdf.Name.XObject,
        Subtype=pikepdf.Name.Image,
        Width=width,
        Height=height,
        ColorSpace=pikepdf.Name.DeviceGray if shown.ndim == 2 else pikepdf.Name.DeviceRGB,
        BitsPerComponent=8,
        Filter=pikepdf.Name.FlateDecode,
    )
    document.add_blank_page(page_size=(wide, high))
    new = document.pages[-1]
    new.Resources = pikepdf.Dictionary(XObject=pikepdf.Dictionary(Page=document.make_indirect(picture)))
    new.Contents = pikepdf.Stream(document, f"q {wide:.4f} 0 0 {high:.4f} 0 0 cm /Page Do Q".encode())
