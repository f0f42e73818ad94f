"""A release folder as others find it: its data file, and what its manifest says of the attributes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shoal.errors import InputError, SourceError
from shoal.io import sha256_of
from shoal.io.formats.partitioned import checksum_of
from shoal.io.json_files import read_json
from shoal.measurement.read_back import ReadBack
from shoal.policy.treatment import Treatment
from shoal.schema import Role

MANIFEST = "release.json"


def data_file(data: str) -> str:
    """The data file of a release folder; anything else as it is."""
    manifest = manifest_of(data)
    if manifest is None:
        return data
    try:
        return str(Path(data) / manifest["data"]["path"])
    except (KeyError, TypeError):
        raise _no_manifest(data) from None


def folder_of(data: str) -> str:
    """The release folder whose data file (or folder of parts) this is; anything else as it is."""
    path = Path(data)
    if "://" in data or not path.exists() or (path / MANIFEST).exists():
        return data
    try:
        told = (manifest_of(str(path.parent)) or {})["data"]["path"]
    except (SourceError, KeyError, TypeError):
        return data
    return str(path.parent) if told == path.name else data


def require_untouched(data: str) -> None:
    """Refuse a release folder whose data file is not the one that was released."""
    path, manifest = Path(data_file(data)), manifest_of(data) or {}
    told = manifest.get("data", {}).get("sha256")
    if not told or not path.exists():
        return
    if (checksum_of if path.is_dir() else sha256_of)(path) != told:
        raise SourceError(f"{path}: is not the file that was released: its checksum is another than the manifest's")


def roles_of(data: str) -> dict[str, Role]:
    """The roles of the attributes, from the manifest; nothing where there is none, or an old one."""
    manifest = manifest_of(data) or {}
    try:
        return {name: Role(role) for name, role in manifest.get("roles", {}).items()}
    except (ValueError, AttributeError):
        raise _no_manifest(data) from None


def treatment_of(data: str) -> dict[str, Treatment]:
    """What became of the attributes, from the manifest; nothing where it doesn't say."""
    told = (manifest_of(data) or {}).get("treatment", {})
    try:
        return {name: Treatment(kind) for name, kind in told.items()}
    except (ValueError, AttributeError):
        raise _no_manifest(data) from None


def person_in(data: str) -> str | None:
    """The attribute by which the release counts people, from the manifest; None where it counts records."""
    told = (manifest_of(data) or {}).get("person")
    name = told.get("attribute") if isinstance(told, dict) else None
    return name if isinstance(name, str) else None


def decoys_in(data: str) -> int | None:
    """How many of the records were invented, from the manifest."""
    told = (manifest_of(data) or {}).get("decoys")
    number = told.get("records") if isinstance(told, dict) else None
    return number if isinstance(number, int) else None


def promised_k(data: str) -> int:
    """The k that the release was written with."""
    try:
        return int((manifest_of(data) or {})["risk"]["k"])
    except (KeyError, TypeError, ValueError):
        raise _no_manifest(data) from None


def read_back_in(data: str) -> ReadBack | None:
    """What other columns tell of the quasi-identifiers, from the manifest; None where it doesn't say."""
    told = (manifest_of(data) or {}).get("read_back")
    try:
        return None if told is None else ReadBack.from_dict(told)
    except (KeyError, TypeError, ValueError):
        raise _no_manifest(data) from None


def manifest_of(data: str) -> dict[str, Any] | None:
    read = _read(data)
    if read is not None and isinstance(read.get("tables"), dict):
        tables = ", ".join(str(Path(data) / name) for name in sorted(read["tables"]))
        raise SourceError(f"{data}: is a release of several tables", advice=f"name one of them: {tables}")
    return read


def manifest_of_tables(data: str) -> dict[str, Any] | None:
    """The manifest of a release of several tables; None where it is not one."""
    if "://" in data or not Path(data).is_dir():
        return None
    read = _read(data)
    return read if read is not None and isinstance(read.get("tables"), dict) else None


def _read(data: str) -> dict[str, Any] | None:
    path = Path(data) / MANIFEST
    if "://" in data or not path.is_file():
        return None
    try:
        read = read_json(path)
    except (ValueError, OSError):
        raise _no_manifest(data) from None
    if not isinstance(read, dict):
        raise _no_manifest(data)
    return read


def names_in(text: str | None) -> tuple[str, ...]:
    """What stands between the commas; a name that stands there twice was probably meant to be another."""
    names = tuple(name.strip() for name in (text or "").split(",") if name.strip())
    if twice := [name for place, name in enumerate(names) if name in names[:place]]:
        raise InputError(f"column '{twice[0]}' is named twice")
    return names


def _no_manifest(data: str) -> SourceError:
    return SourceError(f"{Path(data) / MANIFEST}: is not the manifest of a release")
