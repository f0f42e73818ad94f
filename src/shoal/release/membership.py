"""Who is in a release, as its owner keeps it: keyed digests of people, and the number of the class that each is in.

It stays with the owner, apart from the release, and holds no value of the table. Without the vault's key nobody can try
out whether somebody is in it. With it, a later run knows who is in which class of the release without having to tell
that by values, which can't be told where some of the table were left out.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import polars as pl

from shoal.errors import DataError, InputError, SourceError, TargetError
from shoal.io.atomic.file_replacement import atomic_path
from shoal.plan.hidden_columns.member_tag import MEMBER
from shoal.policy import Policy
from shoal.pseudonyms.person_marks import PersonMarks
from shoal.results.manifest import Manifest

SUFFIX: Final = ".members"
DOMAIN: Final = "membership"
PURPOSE: Final = "membership"
_ABOUT: Final = "shoal-membership"
_VERSION: Final = 1


@dataclass(frozen=True)
class MembershipTarget:
    """Where a run keeps who is in its release."""

    path: Path
    marks: PersonMarks = field(repr=False)
    """With a key."""

    def require(self, policy: Policy, folder: Path, *, force: bool) -> None:
        if policy.person is None:
            raise InputError("who is in a release is told by `person`, which the policy has to name", field="members")
        if not policy.kind.has_traceable_rows:
            raise InputError("nobody has a record in a release of this kind", field="members")
        if self.path.suffix != SUFFIX:
            raise InputError(f"its name has to end with {SUFFIX}", field="members")
        if self.path.resolve().is_relative_to(folder.resolve()):
            raise InputError("it stays with you: it can't lie in the release, which is given away", field="members")
        if self.path.exists() and not force:
            raise TargetError(f"{self.path}: is there already")

    def write(self, manifest: Manifest, output: pl.LazyFrame, aside: Path) -> None:
        """From the records as they are released, and what was put aside of each."""
        quasi = manifest.comparable_quasi(output.collect_schema().names())
        labels = output.select(pl.col(name).cast(pl.String) for name in quasi)
        both = pl.concat([labels, pl.scan_ipc(aside).select(pl.col(MEMBER).alias("person"))], how="horizontal")
        rows = both.filter(pl.col("person").is_not_null()).unique().collect(engine="streaming")
        number = pl.struct(quasi).rank("dense").cast(pl.UInt32) if quasi else pl.lit(1, dtype=pl.UInt32)
        told = {"version": _VERSION, "release": _release(manifest), "key": self.marks.fingerprint}
        with atomic_path(self.path, private=True) as partial:
            members = rows.select("person", number.alias("class")).sort("person", "class")
            members.write_parquet(partial, metadata={_ABOUT: json.dumps(told)})


def _release(manifest: Manifest) -> str:
    """Two releases may have the same data, of other people, and be made in the same second."""
    made = "" if manifest.created is None else manifest.created.isoformat()
    source = "" if manifest.source is None else manifest.source.sha256
    return f"{manifest.data.sha256} {source} {made}"


@dataclass(frozen=True)
class MembershipList:
    """A list as it was kept, read back."""

    path: Path
    release: str
    """Which release it is of."""
    key: str
    """The fingerprint of the key that it was made with."""
    members: pl.DataFrame = field(repr=False)
    """``person`` and ``class``, once for each class that somebody has a record in."""

    @classmethod
    def read(cls, path: Path) -> MembershipList:
        if not path.is_file():
            raise SourceError(f"{path}: there is no such list")
        try:
            told = json.loads(pl.read_parquet_metadata(path)[_ABOUT])
            members = pl.read_parquet(path).select(pl.col("person").cast(pl.String), pl.col("class").cast(pl.Int64))
            version, release, key = int(told["version"]), str(told["release"]), str(told["key"])
        except (pl.exceptions.PolarsError, KeyError, ValueError, TypeError, OSError):
            raise SourceError(f"{path}: is no list of who is in a release") from None
        if version != _VERSION:
            raise SourceError(f"{path}: is of a later version than this one can read")
        return cls(path, release, key, members)

    def of(self, manifest: Manifest, marks: PersonMarks) -> pl.DataFrame:
        """The members, where it is the list of this release and was made with this key."""
        if self.release != _release(manifest):
            raise DataError(f"{self.path}: is of another release")
        if self.key != marks.fingerprint:
            raise InputError(f"{self.path}: was made with the key of another vault", field="vault")
        return self.members
