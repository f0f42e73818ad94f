"""The file that a release was made from, where nobody says which it is: by the name and checksum in its manifest."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from shoal.errors import InputError
from shoal.io import sha256_of
from shoal.results.manifest import SourceIdentity
from shoal.results.release_folder import ReleaseFolder


def find_original(folder: ReleaseFolder) -> str:
    """Beside the release or in the working folder: the file; of several tables, the folder that has all of theirs."""
    tables = folder.tables
    if tables is None:
        sources = [] if folder.manifest is None else [folder.manifest.source]
    else:
        manifests = (ReleaseFolder.at(str(Path(folder.place) / name)).manifest for name in tables.tables)
        sources = [None if manifest is None else manifest.source for manifest in manifests]
    for place in _places(folder):
        if sources and all(source is not None and _is_there(source, place) for source in sources):
            return str(place if tables is not None or sources[0] is None else place / sources[0].name)
    raise InputError(
        "is not known: no file with the name and checksum of the release's source lies beside it",
        field="original",
        advice="say which table the release was made from",
    )


def _places(folder: ReleaseFolder) -> Iterator[Path]:
    if "://" not in folder.place:
        yield Path(folder.place).parent
    yield Path()


def _is_there(source: SourceIdentity, place: Path) -> bool:
    path = place / source.name
    return path.is_file() and sha256_of(path) == source.sha256
