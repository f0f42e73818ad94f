"""What an archive would unpack to, by its own word; the limits of memory hold for one that lies."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from typing import Final

from shoal.errors import SourceError

MAX_PARTS: Final = 10_000
MAX_RATIO: Final = 200
_SMALL: Final = 1 << 24
"""Below this size a high ratio does no harm."""


def refuse_archive_bomb(parts: Sequence[zipfile.ZipInfo], label: str, most_bytes: int) -> None:
    unpacked, packed = sum(part.file_size for part in parts), sum(part.compress_size for part in parts)
    if len(parts) > MAX_PARTS or unpacked > most_bytes or unpacked > max(_SMALL, packed * MAX_RATIO):
        raise SourceError(
            f"{label}: would unpack to {unpacked >> 20} MB in {len(parts)} parts, which is more than is read",
        )
