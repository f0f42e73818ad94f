"""The pages of a PDF as PDFium sees them: text with the place of each character, and the picture of the page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ctypes import addressof
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import numpy as np

from shoal.documents.base import damaged, encrypted, missing_extra
from shoal.errors import SourceError

_MOST_PIXELS: Final = 40_000_000
_UNKNOWN_SHARE: Final = 0.2
"""A page with a larger share of characters of unknown meaning counts as one without text."""
_HYPHENS: Final = frozenset({0x02, 0xAD, 0xFFFE})
_SAME_PLACE: Final = 0.1
"""Letters nearer to each other than this share of their height are one letter drawn twice."""
_RECENT: Final = 2000
_SHADE: Final = 0x80
_MARGIN: Final = 0.08
"""Boxes reach beyond the characters by this share of their height."""
Rectangle = tuple[int, int, int, int]


def pages_of(content: bytes, label: str) -> Iterator[PdfPage]:
    """The pages one after the other; each is closed when the next one is asked for. Notes and fields that are shown are
    drawn into the page first, so that they are read and painted like the rest."""
    try:
        import pypdfium2 as pdfium
    except ImportError:
        raise missing_extra("a PDF") from None
    try:
        document = pdfium.PdfDocument(content)
    except pdfium.PdfiumError as error:
        raise (encrypted(label) if "password" in str(error).lower() else damaged(label, "PDF")) from None
    try:
        document.init_forms()
        for number in range(len(document)):
            try:
                _flatten(document, number)
                read = PdfPage.read(document[number], number + 1)
            except pdfium.PdfiumError:
                raise SourceError(f"{label}: page {number + 1} can't be read") from None
            yield read
            read.close()
    finally:
        document.close()


def _flatten(document: Any, number: int) -> None:
    import pypdfium2 as pdfium
    from pypdfium2 import raw

    page = document[number]
    done = raw.FPDFPage_Flatten(page, raw.FLAT_NORMALDISPLAY)
    page.close()
    if done == raw.FLATTEN_FAIL:
        raise pdfium.PdfiumError("can't be flattened")


@dataclass
class PdfPage:
    number: int
    size: tuple[float, float]
    """Width and height in points, as shown."""
    text: str
    indexes: list[int]
    """For each character of the text, its number on the page."""
    unknown: list[int]
    """Numbers of characters of which nothing tells what they mean."""
    pictures: list[Any]
    others: int
    """How many objects besides text and pictures there are."""
    unread: int
    """How many texts were taken off the page, because nothing tells what they say."""
    _page: Any = field(repr=False)
    _characters: Any = field(repr=False)

    @classmethod
    def read(cls, page: Any, number: int) -> PdfPage:
        from pypdfium2 import raw

        unread = _take_unread(page)
        characters = page.get_textpage()
        text, indexes, unknown = _text(characters)
        kinds = [one.type for one in page.get_objects()]
        pictures = [one for one in page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE])]  # noqa: C416
        others = sum(kind in {raw.FPDF_PAGEOBJ_PATH, raw.FPDF_PAGEOBJ_SHADING} for kind in kinds)
        return cls(number, page.get_size(), text, indexes, unknown, pictures, others, unread, page, characters)

    @property
    def is_empty(self) -> bool:
        return not (self.text.strip() or self.unknown or self.pictures or self.others or self.unread)

    @property
    def is_unreadable(self) -> bool:
        """There is something to see, and no text tells what."""
        known = sum(not one.isspace() for one in self.text)
        return not self.is_empty and len(self.unknown) >= _UNKNOWN_SHARE * (known + len(self.unknown))

    def take_pictures(self) -> int:
        """Take the pictures off the page; how many."""
        for one in self.pictures:
            self._page.remove_obj(one)
            one.close()
        return len(self.pictures)

    def covered(self, dots: int) -> Any:
        """Nothing but grey."""
        wide, high = (max(1, round(one * self._scale(dots))) for one in self.size)
        return np.full((high, wide), _SHADE, dtype=np.uint8)

    def redacted(self, ranges: Sequence[tuple[int, int]], dots: int, cover: Literal["word", "line"]) -> Any | None:
        """The page as pixels, with these ranges of the text painted over; None if it can't be said where they are."""
        bitmap = self._page.render(scale=self._scale(dots), draw_annots=False, may_draw_forms=False, rev_byteorder=True)
        place = bitmap.get_posconv(self._page)
        pixels = bitmap.to_numpy().copy()
        wanted = [self.indexes[start:end] for start, end in ranges] + [[one] for one in self.unknown]
        for characters in wanted:
            boxes = [self._box(one, place) for one in characters if not self._is_blank(one)]
            if any(box is None for box in boxes):
                return None
            for left, top, right, bottom in _joined([box for box in boxes if box is not None]):
                whole = cover == "line"
                pixels[max(0, top) : bottom, 0 if whole else max(0, left) : None if whole else right] = 0
        grey = (pixels == pixels[:, :, :1]).all()
        return np.ascontiguousarray(pixels[:, :, 0] if grey else pixels)

    def close(self) -> None:
        self._characters.close()
        self._page.close()

    def _scale(self, dots: int) -> float:
        wide, high = self.size
        return float(min(dots / 72, (_MOST_PIXELS / max(1.0, wide * high)) ** 0.5))

    def _is_blank(self, index: int) -> bool:
        from pypdfium2 import raw

        generated = raw.FPDFText_IsGenerated(self._characters, index) == 1
        return generated or chr(raw.FPDFText_GetUnicode(self._characters, index)).isspace()

    def _box(self, index: int, place: Any) -> Rectangle | None:
        """Where a character is in the picture, with a margin; None if that can't be said."""
        corners = [*_corners(self._characters, index, loose=True), *_corners(self._characters, index, loose=False)]
        points = [place.to_bitmap(x, y) for x, y in corners]
        if not points:
            return None
        left, right = min(x for x, _ in points), max(x for x, _ in points)
        top, bottom = min(y for _, y in points), max(y for _, y in points)
        if right <= left or bottom <= top:
            return None
        margin = 1 + round(_MARGIN * (bottom - top))
        return left - margin, top - margin, right + margin, bottom + margin


def _text(characters: Any) -> tuple[str, list[int], list[int]]:
    """The text, the number of each of its characters, and the numbers of those that can't be read.

    A word that is divided at the end of a line is put together again, and a letter that is drawn twice in one place
    (for a rim, or to look bold) is read once, so that words are recognised.
    """
    from pypdfium2 import raw

    text: list[str] = []
    indexes: list[int] = []
    unknown: list[int] = []
    divided = False
    seen = _DrawnLetters(characters)
    for index in range(characters.count_chars()):
        code = raw.FPDFText_GetUnicode(characters, index)
        if raw.FPDFText_IsHyphen(characters, index) == 1 or code in _HYPHENS:
            divided = True
        elif (divided and chr(code) in "\r\n") or seen.repeats(code, index):
            continue
        elif _is_private(code) or raw.FPDFText_HasUnicodeMapError(characters, index) == 1:
            unknown.append(index)
        else:
            divided = False
            text.append(chr(code))
            indexes.append(index)
    return "".join(text), indexes, unknown


def _take_unread(page: Any) -> int:
    """Take texts off the page that are drawn, but of which no character is found; how many.

    One that lies on characters that are found (drawn twice) stays: where they are covered, it is covered.
    """
    from pypdfium2 import raw

    characters = page.get_textpage()
    found, boxes = set(), []
    for index in range(characters.count_chars()):
        drawn = raw.FPDFText_GetTextObject(characters, index)
        if drawn:
            found.add(addressof(drawn.contents))
            boxes.append(_bounds(characters, index))
    known = np.array([box for box in boxes if box], dtype=float).reshape(-1, 4)
    characters.close()
    taken = 0
    for one in list(page.get_objects(filter=[raw.FPDF_PAGEOBJ_TEXT])):
        if addressof(one.raw.contents) in found:
            continue
        left, bottom, right, top = one.get_bounds()
        x, y = (left + right) / 2, (bottom + top) / 2
        on_known = (known[:, 0] <= x) & (x <= known[:, 2]) & (known[:, 1] <= y) & (y <= known[:, 3])
        if right > left and top > bottom and (one.level > 0 or not on_known.any()):
            page.remove_obj(one)
            one.close()
            taken += 1
    return taken


def _bounds(characters: Any, index: int) -> tuple[float, float, float, float] | None:
    corners = _corners(characters, index, loose=True) or _corners(characters, index, loose=False)
    return (*corners[0], *corners[3]) if corners else None


class _DrawnLetters:
    """Where each letter was drawn already."""

    def __init__(self, characters: Any) -> None:
        self._characters = characters
        self._places: dict[int, list[tuple[float, float]]] = {}

    def repeats(self, code: int, index: int) -> bool:
        corners = _corners(self._characters, index, loose=False)
        if not corners or chr(code).isspace():
            return False
        (left, bottom), (right, top) = corners[0], corners[3]
        near = _SAME_PLACE * max(right - left, top - bottom)
        x, y = (left + right) / 2, (bottom + top) / 2  # a rim makes a letter larger, its middle stays
        places = self._places.setdefault(code, [])
        if any(abs(x - one) <= near and abs(y - other) <= near for one, other in places[-_RECENT:]):
            return True
        places.append((x, y))
        return False


def _is_private(code: int) -> bool:
    """Codes to which Unicode gives no meaning, so that a font may show anything for them."""
    return code in {0, 0xFFFD} or 0xE000 <= code <= 0xF8FF


def _corners(characters: Any, index: int, *, loose: bool) -> list[tuple[float, float]]:
    import pypdfium2 as pdfium

    try:
        left, bottom, right, top = characters.get_charbox(index, loose=loose)
    except pdfium.PdfiumError:
        return []
    return [(left, bottom), (left, top), (right, bottom), (right, top)] if right > left and top > bottom else []


def _joined(boxes: Sequence[Rectangle]) -> list[Rectangle]:
    """Boxes of neighbours on a line, level or upright, as one, so that no gap tells where a word ends."""
    lines: list[Rectangle] = []
    for box in boxes:
        if lines:
            last = lines[-1]
            both = (min(last[0], box[0]), min(last[1], box[1]), max(last[2], box[2]), max(last[3], box[3]))
            if _in_line(last, box, both, 1) or _in_line(last, box, both, 0):
                lines[-1] = both
                continue
        lines.append(box)
    return lines


def _in_line(last: Rectangle, box: Rectangle, both: Rectangle, axis: int) -> bool:
    """Whether two boxes lie side by side, and one around both is not much thicker than they are."""
    shared = min(last[axis + 2], box[axis + 2]) - max(last[axis], box[axis])
    thick = max(last[axis + 2] - last[axis], box[axis + 2] - box[axis])
    return shared > thick / 2 and both[axis + 2] - both[axis] < 1.3 * thick
