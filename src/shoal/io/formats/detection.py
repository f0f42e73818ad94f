"""What every file source checks first: that it is there, is a file, can be read, is what it is said to be."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from shoal.errors import FieldName, FieldText, SourceError
from shoal.io.formats.base import DEFAULT_FORMAT, Signature, all_formats, format_named, format_of_suffix
from shoal.io.options import FileOptions
from shoal.io.reader_options import Format
from shoal.schema.registry import did_you_mean, nearest

_COMPRESSED: Final = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"BZh9", b"\xfd7zXZ")
"""How files of gzip, zstd, bzip2 and xz begin."""
_NO_TABLES: Final = (
    Signature(b"SQLite format 3\0", "a SQLite database (give its address, sqlite:///FILE#TABLE)"),
    *(Signature(opening, "compressed (unpack it first)") for opening in _COMPRESSED),
    Signature(b"%PDF", "a PDF document"),
)
MAX_COLUMNS: Final = 100_000
_SHOWN: Final = 20
_RESERVED: Final = "__shoal_"
_WILD: Final = "a column is named '*' or '^…$', which stands for several columns wherever columns are named"


@dataclass(frozen=True)
class Fingerprint:
    """What tells that a file has been replaced or written to, so that two passes are known to see the same rows."""

    device: int
    inode: int
    size: int
    modified_ns: int

    @classmethod
    def of(cls, path: Path) -> Fingerprint:
        found = path.stat()
        return cls(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)

    def check(self, path: Path, label: str) -> None:
        try:
            same = self == Fingerprint.of(path)
        except OSError:
            same = False
        if not same:
            raise SourceError(f"{label}: was changed while it was being read")


def is_folder_of_parts(path: Path) -> bool:
    """A folder with the name of a table file, or with parts in it: one table in several files."""
    try:
        return path.is_dir() and (format_of_suffix(path.suffix) is not None or any(path.glob("part-*")))
    except (OSError, ValueError):
        return False


def resolve(options: FileOptions, base: Path | None) -> Path:
    """The path of a file that is there and can be read."""
    path = (base or Path()) / Path(options.path).expanduser()
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise SourceError(f"{options.label}: is a folder, not a file")
        if not stat.S_ISREG(mode):
            raise SourceError(f"{options.label}: is not a regular file; data is read more than once")
        with path.open("rb"):
            pass
    except (FileNotFoundError, NotADirectoryError):
        raise SourceError(f"{options.label}: there is no such file{_nearby(path)}") from None
    except PermissionError:
        raise SourceError(f"{options.label}: there is no right to read it") from None
    except (OSError, ValueError) as error:
        reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else "not a path"
        raise SourceError(f"{options.label}: can't be read ({reason})") from None
    return path


def format_of(path: Path, options: FileOptions) -> Format:
    """The declared format, else by the name, else by the content; a content that says otherwise is an error."""
    with path.open("rb") as file:
        opening = file.read(16)
    if not opening:
        raise SourceError(f"{options.label}: is empty")
    found = next(((seen, kind) for seen, kind in _signatures() if opening.startswith(seen.opening)), None)
    by_name = format_of_suffix(path.suffix)
    named = options.format or (None if by_name is None else by_name.key)
    if found is None:
        return named or DEFAULT_FORMAT
    seen, kind = found
    if kind is None or (named is not None and named != kind):
        advice = FieldText("say ", FieldName("format", kind)) if kind else None
        raise SourceError(f"{options.label}: is {seen.description}", advice=advice)
    return kind


def _signatures() -> Iterator[tuple[Signature, Format | None]]:
    for one in all_formats():
        yield from ((seen, one.key) for seen in one.signatures)
    yield from ((seen, None) for seen in _NO_TABLES)


def refuse_foreign_options(options: FileOptions, file_format: Format) -> None:
    """An option that means nothing for the format is a mistake, not a wish to ignore."""
    known = {"path", "format", *format_named(file_format).options}
    foreign = [name for name in FileOptions.model_fields if name in options.model_fields_set and name not in known]
    if foreign:
        named = [part for name in foreign for part in (", ", FieldName(name))][1:]
        raise SourceError(
            FieldText(f"{options.label}: ", *named, f" can't be said of a file in the format {file_format}")
        )


def header_advice(options: FileOptions) -> FieldText | None:
    """For a table whose first row is perhaps a title; nothing where somebody said which row it is."""
    if options.header_row is not None:
        return None
    return FieldText("if the names stand further down, say in which row: ", FieldName("header_row", "3"))


def check_names(names: Sequence[str], label: str, advice: str | None = None) -> None:
    """Every column has a name of its own. Names are counted, not shown: in a file without a header they are values."""
    unnamed = sum(not name.strip() for name in names)
    if unnamed:
        raise SourceError(f"{label}: {unnamed} column(s) have no name", advice=advice)
    if len(names) > MAX_COLUMNS:
        raise SourceError(f"{label}: has {len(names):,} columns; at most {MAX_COLUMNS:,} are read")
    firsts = {name: place for place, name in reversed(list(enumerate(names)))}
    doubled = [str(place + 1) for place, name in enumerate(names) if firsts[name] != place]
    if doubled:
        shown = ", ".join(doubled[:_SHOWN]) + (" …" if len(doubled) > _SHOWN else "")
        raise SourceError(f"{label}: {len(doubled)} column(s) have a name that another has (column {shown})")
    if any(map(is_wildcard_name, names)):
        raise SourceError(f"{label}: {_WILD}; rename that column")
    if any(name.startswith(_RESERVED) for name in names):
        raise SourceError(f"{label}: names that begin with {_RESERVED} are reserved; rename that column")


def is_wildcard_name(name: str) -> bool:
    """Whether a name is taken for several columns where it is used: by policies, and by the library of tables."""
    return name == "*" or (name.startswith("^") and name.endswith("$"))


def _nearby(path: Path) -> str:
    """A file whose name is like it, the ending apart: most files have one of a few endings."""
    try:
        entries = tuple(path.parent.iterdir())
    except OSError:
        return ""
    stem = nearest(path.stem, sorted({entry.stem for entry in entries}))
    return did_you_mean(path.name, tuple(entry.name for entry in entries if entry.stem == stem))
