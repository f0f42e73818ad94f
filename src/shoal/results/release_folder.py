"""A release folder as others find it: its manifest, read once, and its data file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from pydantic import ValidationError

from shoal.errors import InputError, SourceError
from shoal.io import sha256_of
from shoal.io.formats.partitioned import checksum_of
from shoal.results.manifest import MANIFEST, Manifest, no_manifest, read_manifest
from shoal.results.multi_table_manifest import MultiTableManifest
from shoal.results.record_counts import RecordCounts


@dataclass(frozen=True)
class ReleaseFolder:
    """Somewhere that data lies: a release folder, or any other place, which has no manifest."""

    place: str
    content: Manifest | MultiTableManifest | None = None
    data_named: str | None = None
    """The data file as somebody wrote it who named it instead of the folder."""

    @classmethod
    def at(cls, data: str) -> ReleaseFolder:
        path = Path(data) / MANIFEST
        return cls(data, None if "://" in data or not path.is_file() else _parse(path))

    @classmethod
    def around(cls, data: str) -> ReleaseFolder:
        """The same; of the data file (or folder of parts) of a release, the release that it belongs to."""
        path = Path(data)
        if "://" in data or not path.exists() or (path / MANIFEST).exists():
            return cls.at(data)
        try:
            beside = cls.at(str(path.parent))
            manifest = beside.manifest
        except SourceError:
            return cls(data)
        known = manifest is not None and manifest.data.path == path.name
        return replace(beside, data_named=data) if known else cls(data)

    @property
    def tables(self) -> MultiTableManifest | None:
        """The manifest of a release of several tables; None where it is not one."""
        return self.content if isinstance(self.content, MultiTableManifest) else None

    @property
    def manifest(self) -> Manifest | None:
        """The manifest of one table; None where there is none."""
        if isinstance(self.content, MultiTableManifest):
            tables = ", ".join(str(Path(self.place) / name) for name in sorted(self.content.tables))
            raise SourceError(f"{self.place}: is a release of several tables", advice=f"name one of them: {tables}")
        return self.content

    @property
    def data(self) -> str:
        """The data file; of a place that is no release folder, the place itself."""
        manifest = self.manifest
        if manifest is None or self.data_named is not None:
            return self.data_named or self.place
        return str(Path(self.place) / manifest.data.path)

    @property
    def promised_k(self) -> int:
        """The k that the release was written with."""
        if self.manifest is None or self.manifest.risk is None:
            raise no_manifest(Path(self.place) / MANIFEST)
        return self.manifest.risk.k

    @cached_property
    def _as_released(self) -> bool | None:
        """Whether the data file is the one that was released; None where nobody can tell."""
        manifest, path = self.manifest, Path(self.data)
        if manifest is None or not manifest.data.sha256 or not path.exists():
            return None
        return (checksum_of if path.is_dir() else sha256_of)(path) == manifest.data.sha256

    @property
    def proven(self) -> bool:
        """Whether the checksum in the manifest is that of the data file as it is now."""
        return self._as_released is True

    @property
    def changed(self) -> bool:
        """Whether the data file is another than the one that was released."""
        return self._as_released is False

    def require_untouched(self) -> None:
        """Refuse a release folder whose data file is not the one that was released."""
        if self.changed:
            raise SourceError(
                f"{self.data}: is not the file that was released: its checksum is another than the manifest's"
            )

    @property
    def records(self) -> RecordCounts | None:
        """What became of the source's records, unless the data file is another by now."""
        return None if self.manifest is None or self.changed else self.manifest.records


def _parse(path: Path) -> Manifest | MultiTableManifest:
    read = read_manifest(path)
    kind = MultiTableManifest if isinstance(read.get("tables"), dict) else Manifest
    try:
        return kind.model_validate(read)
    except ValidationError:
        raise no_manifest(path) from None


def names_in(text: str | None) -> tuple[str, ...]:
    """What stands between the commas; a name that stands there twice was probably meant to be another."""
    names = tuple(name.strip() for name in (text or "").split(",") if name.strip())
    if twice := [name for place, name in enumerate(names) if name in names[:place]]:
        raise InputError(f"column '{twice[0]}' is named twice")
    return names
