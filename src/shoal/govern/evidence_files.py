"""Files that show something: their name and checksum are kept, never what is in them."""

from __future__ import annotations

from pathlib import Path

from shoal.errors import SourceError
from shoal.io import sha256_of


def file_evidence(path: str) -> dict[str, str]:
    """The name without folders, and the checksum."""
    place = Path(path)
    try:
        there = place.is_file()
    except OSError as error:
        raise SourceError(f"the file can't be read ({error.strerror})", field="file") from None
    if not there:
        raise SourceError(f"{path}: there is no such file", field="file")
    return {"file": place.name, "sha256": sha256_of(place)}
