"""A release folder as somebody holds it, counted: read once, in memory that grows with combinations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import polars as pl

from shoal.assess.composition.person_classes import known_alike
from shoal.assess.composition.request import HeldRelease
from shoal.attack.composition.released_counts import RECORDS, ReleasedCounts
from shoal.errors import DataError, IntegrityError, SourceError
from shoal.hierarchy import FlatHierarchy
from shoal.hierarchy.labels import text_of
from shoal.io import explained
from shoal.io.frames import source_at
from shoal.kernels.group_counts import count_groups
from shoal.policy import Policy
from shoal.policy.treatment import Treatment
from shoal.results.manifest import Manifest
from shoal.results.release_folder import ReleaseFolder
from shoal.schema import Column, Role

HIERARCHIES = "hierarchies"
"""The folder beside the data in which an entered release keeps what its labels stand for."""
_TRUE = (Treatment.KEPT, Treatment.GENERALISED)


@dataclass(frozen=True)
class OpenedRelease:
    """One whose records are people's."""

    held: HeldRelease
    manifest: Manifest
    data: pl.LazyFrame = field(repr=False)
    policies: Sequence[Policy] = field(default=(), repr=False)

    @classmethod
    def of(cls, held: HeldRelease, policies: Sequence[Policy] = ()) -> OpenedRelease | None:
        """None of what has no records of people: answers, tables of counts, made-up people."""
        if held.folder is None:
            return None
        folder = ReleaseFolder.at(str(held.folder))
        manifest = folder.manifest
        if manifest is None:
            raise SourceError(f"release '{held.name}': {held.folder} is no release folder")
        if folder.changed or not Path(folder.data).exists():
            raise IntegrityError(f"release '{held.name}': the data in {held.folder} is not what was released")
        if held.sha256 and manifest.data.sha256 != held.sha256:
            raise IntegrityError(f"release '{held.name}': {held.folder} is another release than the one entered")
        if not manifest.kind.has_traceable_rows:
            return None
        source = source_at(folder.data)
        with explained(source):
            data = source.scan()
        present = data.collect_schema().names()
        for name in manifest.roles:
            if name not in present and manifest.roles[name] is Role.QUASI:
                raise DataError(f"release '{held.name}': its data has no column '{name}'")
        return cls(held, manifest, data, policies)

    def with_role(self, role: Role) -> tuple[str, ...]:
        present = self.data.collect_schema().names()
        return tuple(name for name in present if self.manifest.roles.get(name) is role)

    @property
    def quasi(self) -> tuple[str, ...]:
        """Those that can be compared."""
        return self.manifest.comparable_quasi(self.data.collect_schema().names())

    @property
    def keys(self) -> tuple[str, ...]:
        """Columns that may name the same person in another release."""
        return tuple(name for name in self.with_role(Role.DIRECT) if self._treatment(name) is not Treatment.ALTERED)

    def _treatment(self, name: str) -> Treatment | None:
        return self.manifest.treatment.get(name)

    def shared(self, others: Sequence[OpenedRelease]) -> tuple[str, ...]:
        """Insensitive columns that are as they were, here and in another."""
        known = {name for other in others for name in other.unaltered}
        return tuple(name for name in self.unaltered if name in known)

    @property
    def unaltered(self) -> tuple[str, ...]:
        """Insensitive columns that say of each record what is true of it."""
        return tuple(name for name in self.with_role(Role.INSENSITIVE) if self._treatment(name) in _TRUE)

    def counted(self, others: Sequence[OpenedRelease] = ()) -> ReleasedCounts:
        sensitive = tuple(name for name in self.with_role(Role.SENSITIVE) if self._treatment(name) in _TRUE)
        further = self.shared(others)
        names = (*self.quasi, *sensitive, *further)
        if not names:
            raise DataError(f"release '{self.held.name}': no column of it says anything of people")
        counted = count_groups(self.data, names, RECORDS, at_most=self.manifest.data.rows)
        return ReleasedCounts.of(
            self.held.name,
            counted,
            self.quasi,
            sensitive=sensitive,
            others=further,
            ladders=self.ladders,
            exact=[name for name in self.quasi if self._is_exact(name)],
        )

    def _is_exact(self, name: str) -> bool:
        """Whether its cells are values as they were: not generalised, or on the lowest level throughout."""
        solution = self.manifest.solution
        lowest = solution is not None and solution.levels.get(name) == 0 and self._treatment(name) is not None
        return self._treatment(name) is Treatment.KEPT or (lowest and self._treatment(name) is Treatment.GENERALISED)

    @cached_property
    def ladders(self) -> Mapping[str, pl.DataFrame]:
        """What its labels stand for, by files beside it and by policies that list their values."""
        found = {name: table for name in self.quasi if (table := self._beside(name)) is not None}
        for policy in self.policies:
            for name in self.quasi:
                table = None if name in found else listed_ladder(policy, name)
                if table is not None:
                    found[name] = table
        return found

    def _beside(self, name: str) -> pl.DataFrame | None:
        path = Path(str(self.held.folder)) / HIERARCHIES / f"{name}.csv"
        if not path.is_file():
            return None
        frame = pl.read_csv(path, separator=";", has_header=False, infer_schema=False)
        return frame.rename({frame.columns[0]: "value"})

    def people(self, key: str, classes: pl.DataFrame) -> pl.DataFrame:
        """For each value of a key, hashed, the class that it is in: the smallest, where it is in several."""
        said = [text_of(classes[name]).alias(f"q{place}") for place, name in enumerate(self.quasi)]
        alike = [one.name for one in said]
        numbered = pl.DataFrame([*said, classes[RECORDS]]).with_row_index("class")
        told = (pl.col(name).alias(column) for name, column in zip(self.quasi, alike, strict=True))
        rows = self.data.select(pl.col(key).alias("person"), *told).drop_nulls("person").collect(engine="streaming")
        rows = rows.with_columns(known_alike(rows["person"]), *(text_of(rows[name]).alias(name) for name in alike))
        placed = rows.join(numbered, on=alike, nulls_equal=True).sort(RECORDS)
        return placed.group_by("person").agg(pl.col("class").first().cast(pl.Int64))


def listed_ladder(policy: Policy, name: str) -> pl.DataFrame | None:
    """Of a hierarchy that lists its values: these, and what each level makes of them."""
    attribute = policy.attributes.get(name)
    hierarchy = None if attribute is None else attribute.hierarchy
    if hierarchy is None or isinstance(hierarchy, FlatHierarchy):
        return None
    resolved = hierarchy.resolve(policy.folder)
    known = resolved.listed()
    if known is None:
        return None
    values = pl.Series("value", list(known), dtype=pl.String)
    bound = resolved.bind_uncounted(Column(name), values)
    levels = [text_of(bound.generalise(values, level)).alias(f"{level}") for level in range(1, bound.height + 1)]
    return pl.DataFrame([values, *levels])
