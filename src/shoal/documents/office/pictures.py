"""Pictures within documents: a grey dot in their place, or the pixels without what a camera wrote beside them."""

from __future__ import annotations

import io
import struct
import warnings
import zlib
from typing import Final

_READ: Final = ("PNG", "JPEG", "GIF", "BMP", "TIFF")


def blank() -> bytes:
    """A PNG of one grey dot."""
    return b"".join(
        (
            b"\x89PNG\r\n\x1a\n",
            _chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)),
            _chunk(b"IDAT", zlib.compress(b"\x00\xd9")),
            _chunk(b"IEND", b""),
        )
    )


def stripped(content: bytes) -> bytes | None:
    """The first picture of the file, as pixels only; None if it can't be read."""
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with Image.open(io.BytesIO(content), formats=_READ) as picture:
                kind = picture.format
                picture.load()
                bare = Image.new(picture.mode, picture.size)
                bare.paste(picture)
                if picture.mode == "P" and (palette := picture.getpalette()):
                    bare.putpalette(palette)
                out = io.BytesIO()
                bare.save(out, format=kind, **({"quality": 95} if kind == "JPEG" else {}))
    except Exception:  # noqa: BLE001 - decoders raise what they like, and a picture that can't be read doesn't stay
        return None
    return out.getvalue()


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
