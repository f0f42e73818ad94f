"""A table in several files: a folder of parts, as clusters write and read it.

``data.parquet/part-00000.parquet``, ``part-00001.parquet`` …: the records of the first part come first. Nothing else is
in the folder, so that any reader of Parquet or CSV folders takes it as it is. The folder is written inside another one
that gets its name last (see ``commit``), so it is there whole or not at all.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import Final

import polars as pl
from polars.exceptions import PolarsError

from shoal.errors import FieldName, FieldText, InputError, SourceError
from shoal.io.atomic.folder_commit import sha256_of
from shoal.io.failures import writing
from shoal.io.formats import parquet
from shoal.io.formats.base import format_named
from shoal.io.formats.delimited.reader import DelimitedSource, open_delimited
from shoal.io.formats.detection import Fingerprint, check_names, format_of, refuse_foreign_options
from shoal.io.formats.number_notation import NumberNotation
from shoal.io.options import FileOptions
from shoal.io.reader_options import Format
from shoal.io.targets import FileTarget
from shoal.kernels.batch_streams import streamed

PART_ROWS: Final = 1 << 22
"""Records of a part where one machine writes them all."""
_BATCH_ROWS: Final = 1 << 17


@dataclass(frozen=True)
class PartFile:
    path: str
    """Below the folder of parts."""
    rows: int
    sha256: str


@dataclass
class PartsTarget:
    """A folder of parts that is not there yet. ``parts`` says what was written."""

    whole: FileTarget
    """What it would be if it were one file; the folder has its name."""
    parts: list[PartFile] = field(default_factory=list)

    @property
    def label(self) -> str:
        return self.whole.label

    @property
    def path(self) -> Path:
        return self.whole.path

    def write(self, frame: pl.LazyFrame) -> None:
        """Part after part, in the order of the frame."""
        schema = frame.collect_schema()
        batches = frame.collect_batches(chunk_size=_BATCH_ROWS, maintain_order=True, engine="streaming")
        with closing(_PartSplitter(batches, schema)) as pieces, writing(self.label):
            self.path.mkdir()
            for piece in pieces:
                part = self.part(len(self.parts))
                part.write(piece)
                self.parts.append(PartFile(part.path.name, pieces.rows, sha256_of(part.path)))

    def adopt(self, written: Sequence[tuple[Path, PartFile]]) -> None:
        """Files that others have written beside it, in order, under names of their own."""
        with writing(self.label):
            self.path.mkdir()
            for path, told in written:
                name = self.part(len(self.parts)).path.name
                path.rename(self.path / name)
                self.parts.append(replace(told, path=name))

    def part(self, number: int) -> FileTarget:
        return replace(self.whole, path=self.path / f"part-{number:05}{self.path.suffix}")

    def scan(self) -> pl.LazyFrame:
        """What was written, read anew."""
        targets = [replace(self.whole, path=self.path / part.path) for part in self.parts]
        if not self.whole.delimited:
            return pl.scan_parquet([target.path for target in targets], glob=False)
        return pl.concat([target.scan() for target in targets])

    def discard(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)


class _PartSplitter:
    """Batches as frames of at most so many records; one without records where there is no batch."""

    def __init__(self, batches: Iterator[pl.DataFrame], schema: pl.Schema) -> None:
        self._batches = (batch for batch in batches if batch.height)
        self._schema = schema
        self.rows = 0
        """Of the piece that was read last."""

    def __iter__(self) -> Iterator[pl.LazyFrame]:
        first = next(self._batches, pl.DataFrame(schema=self._schema))
        while first is not None:
            taken = chain((first,), islice(self._batches, PART_ROWS // _BATCH_ROWS - 1))
            yield streamed(lambda taken=taken: self._counted(taken), self._schema)  # type: ignore[misc]
            first = next(self._batches, None)  # type: ignore[assignment]

    def _counted(self, batches: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        self.rows = 0
        for batch in batches:
            self.rows += batch.height
            yield batch

    def close(self) -> None:
        self._batches.close()


def parts_target(whole: FileTarget) -> PartsTarget:
    if not format_named(whole.format).in_parts:
        raise InputError(
            f"parts are written as Parquet or CSV, not as {whole.format}",
            advice=FieldText("leave ", FieldName("parts"), " out"),
        )
    return PartsTarget(whole)


def checksum(parts: Sequence[PartFile]) -> str:
    """Of all parts together: what ``sha256sum part-* | sha256sum`` says in their folder."""
    listed = "".join(f"{part.sha256}  {part.path}\n" for part in parts)
    return hashlib.sha256(listed.encode()).hexdigest()


def checksum_of(folder: Path) -> str:
    return checksum([PartFile(path.name, 0, sha256_of(path)) for path in _paths(folder)])


@dataclass(frozen=True)
class PartsSource:
    label: str
    paths: tuple[Path, ...]
    format: Format
    schema: pl.Schema
    fingerprints: tuple[Fingerprint, ...]
    texts: tuple[DelimitedSource, ...] = ()
    """Of text files, each part as a source of its own."""
    notation: NumberNotation | None = None
    """Columns of numbers that are written as a country writes them."""

    @property
    def files(self) -> tuple[Path, ...]:
        return self.paths

    def scan(self) -> pl.LazyFrame:
        for path, seen in zip(self.paths, self.fingerprints, strict=True):
            seen.check(path, self.label)
        if self.texts:
            frame = pl.concat([text.scan() for text in self.texts])
            return frame if self.notation is None else self.notation.read(frame)
        frame = pl.scan_parquet(list(self.paths), glob=False)
        texts = [name for name, kind in frame.collect_schema().items() if kind != self.schema[name]]
        return frame.with_columns(pl.col(texts).cast(pl.String)) if texts else frame

    def explain(self, error: PolarsError) -> SourceError:
        """An error that arose while a part was read; its text is never shown, it may quote a value."""
        return SourceError(f"{self.label}: its parts can't be read as one table")


def open_parts(folder: Path, options: FileOptions, *, any_date: bool = False) -> PartsSource:
    """With ``any_date`` the caller deals with dates that are none; else they are refused."""
    paths = _paths(folder)
    if not paths:
        raise SourceError(f"{options.label}: there are no parts in it")
    kinds = {format_of(path, options) for path in paths}
    if len(kinds) > 1 or not all(format_named(kind).in_parts for kind in kinds):
        raise SourceError(f"{options.label}: parts have to be Parquet files throughout, or CSV files")
    (kind,) = kinds
    refuse_foreign_options(options, kind)
    seen = tuple(map(Fingerprint.of, paths))
    if not format_named(kind).delimited:
        return PartsSource(options.label, paths, kind, _parquet_schema(paths, options.label, any_date=any_date), seen)
    first = open_delimited(paths[0], options, kind)
    same = options.model_copy(update={"separator": first.dialect.separator, "quote": first.dialect.quote or ""})
    texts = (first, *(open_delimited(path, same, kind) for path in paths[1:]))
    if any(text.columns != first.columns for text in texts):
        raise _unlike(options.label)
    schema = pl.Schema(dict.fromkeys(first.columns, pl.String()))
    return PartsSource(options.label, paths, kind, schema, seen, texts)


def _parquet_schema(paths: Sequence[Path], label: str, *, any_date: bool) -> pl.Schema:
    from shoal.io.formats.columnar import checked, plain_schema, refuse_nested

    try:
        schemas = [checked(path, parquet.KIND, label, any_date=any_date)[0] for path in paths]
    except SourceError as error:
        said = error.message.removeprefix(f"{label}: ")
        raise SourceError(f"{label}: a part {said}", advice=error.advice) from None
    if any(schema != schemas[0] for schema in schemas):
        raise _unlike(label)
    check_names(schemas[0].names(), label)
    refuse_nested(schemas[0], label)
    return plain_schema(schemas[0])


def _unlike(label: str) -> SourceError:
    return SourceError(f"{label}: its parts have not all the same columns")


def _paths(folder: Path) -> tuple[Path, ...]:
    """By their names; names that begin with a dot or an underscore are not data."""
    return tuple(sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith((".", "_"))))
