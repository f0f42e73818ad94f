"""From a path or an address to what can be read: folders, files by their kind, databases table by table."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from polars.exceptions import PolarsError

from shoal import documents
from shoal.discover.recognisers import RecogniserSet, default_recognisers
from shoal.documents.plain_text import LOGS, TEXTS
from shoal.errors import InputError, SourceError
from shoal.io import ReaderOptions, Source, explained, open_source, parse_source
from shoal.io.databases.base import address_of, tables_in
from shoal.io.failures import no_panic
from shoal.io.formats.base import FileFormat, all_formats, format_of_suffix, table_suffixes
from shoal.io.frames import source_at
from shoal.scan.annotators import Annotate
from shoal.scan.archives import MOST_LAYERS, Unpacking, UnpackingLimit, archive_kind, unpacking_folder
from shoal.scan.findings import Scan, ScanFinding, ScannedSource, UnreadSource
from shoal.scan.table_findings import scan_table
from shoal.scan.text_findings import MOST, UTF_8, TextBlock, general_place, scan_pieces, scan_text
from shoal.schema.progress import Monitor

SKIPPED = frozenset({".git", ".hg", ".svn", ".venv", "venv", "node_modules", "__pycache__", ".tox", ".mypy_cache"})
"""Folders that hold copies of what programs made."""
SHOWN = 5
_SQLITE = b"SQLite format 3\0"
_HEAD = 8192
FAILURES = (InputError, OSError, PolarsError, ValueError, RecursionError)
"""What a file can do to its reader; each is that file's, and the scan goes on."""

SourceFindings = tuple[list[ScanFinding], ScannedSource]


@dataclass
class SourceWalk:
    annotate: Annotate
    everything: bool = False
    monitor: Monitor = field(default_factory=Monitor)
    recognisers: RecogniserSet = field(default_factory=default_recognisers)
    reader: ReaderOptions = field(default_factory=ReaderOptions)
    """How tables and texts are to be read, as far as it means something for each."""
    findings: list[ScanFinding] = field(default_factory=list)
    looked: list[ScannedSource] = field(default_factory=list)
    unread: list[UnreadSource] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    layers: int = 0
    """How many archives what is walked lies in."""
    limit: UnpackingLimit | None = None
    _task: str = "scan"

    def over(self, places: Sequence[str]) -> Scan:
        _ = documents.document_formats(), all_formats()  # a plug-in that can't be used is no file's fault
        files = [found for place in places for found in self._expanded(place)]
        for number, (label, scan) in enumerate(files):
            self.monitor.progress("scan")(number, len(files))
            self._task = f"scan, {number + 1} of {len(files)}"
            with self.monitor.listening(self._task, None):
                self._try(label, scan)
        return Scan(tuple(self.findings), tuple(self.looked), tuple(self.unread), tuple(self.skipped))

    def _try(self, label: str, scan: Callable[[], Iterator[SourceFindings]]) -> None:
        try:
            with no_panic(label):
                for findings, looked in scan():
                    self.findings += findings
                    self.looked.append(looked)
        except FAILURES as error:
            if isinstance(error, SourceError) and _is_empty(error):
                self.looked.append(ScannedSource(label, "table", "no records"))
            else:
                self.unread.append(UnreadSource(label, _why(error, label)))

    def _expanded(self, place: str) -> Iterator[tuple[str, Callable[[], Iterator[SourceFindings]]]]:
        """What a place stands for, one by one, nothing read yet."""
        if "://" in place and not place.startswith("file://"):
            yield from self._tables_at(place)
            return
        path = Path(place.removeprefix("file://")).expanduser()
        if not path.exists():
            raise SourceError(f"{place}: there is no such file or folder")
        for each in self._files(path) if path.is_dir() else [path]:
            if _opening(each).startswith(_SQLITE):
                yield from self._tables_at(f"sqlite:///{each}")
            else:
                yield str(each), partial(self._file, each)

    def _files(self, folder: Path) -> Iterator[Path]:
        for here, folders, names in os.walk(folder, onerror=self._unreadable):
            for name in list(folders):
                path = Path(here, name)
                if name in SKIPPED or path.is_symlink():
                    self.skipped.append(str(path))
                    folders.remove(name)
            folders.sort()
            for name in sorted(names):
                path = Path(here, name)
                if path.is_symlink():
                    self.skipped.append(str(path))
                else:
                    yield path

    def _unreadable(self, error: OSError) -> None:
        self.unread.append(UnreadSource(str(error.filename), "the folder can't be read"))

    def _tables_at(self, url: str) -> Iterator[tuple[str, Callable[[], Iterator[SourceFindings]]]]:
        address, _, table = url.partition("#")
        known = address_of(address)
        for name in (table,) if table else tables_in(known):
            yield f"{known.place}#{name}", partial(self._table_of, {"url": address, "table": name})

    def _table_of(self, given: dict[str, str]) -> Iterator[SourceFindings]:
        yield from self._source(open_source(parse_source(given)))

    def _source(self, source: Source) -> Iterator[SourceFindings]:
        with explained(source):
            yield scan_table(source.label, source.scan(), self.annotate, self.recognisers)

    def _file(self, path: Path) -> Iterator[SourceFindings]:
        if not stat.S_ISREG(path.stat().st_mode):
            raise SourceError(f"{path}: is not a regular file")
        opening = _opening(path, strict=True)
        suffix = path.suffix.lower()
        if not opening:
            yield [], ScannedSource(str(path), "empty", "0 bytes")
        elif suffix in table_suffixes():
            yield from self._tables_in(path, format_of_suffix(suffix))
        elif suffix in documents.endings() and suffix not in TEXTS | LOGS:
            yield self._carried(path)
        elif (kind := archive_kind(opening)) is not None:
            yield self._inside(path, kind)
        elif "\0" in opening.decode(self.reader.encoding or UTF_8, errors="ignore"):
            raise SourceError(f"{path}: nothing here reads this kind of file")
        else:
            yield self._text(path)

    def _inside(self, path: Path, kind: str) -> SourceFindings:
        """What an archive or a backup holds, each part named after it."""
        if self.layers >= MOST_LAYERS:
            raise SourceError(f"{path}: lies in {MOST_LAYERS} others already")
        limit = self.limit or UnpackingLimit()
        with unpacking_folder() as folder:
            unpacking = Unpacking(path, str(path), folder, limit)
            unpacking.unpack(kind)
            inner = SourceWalk(
                self.annotate,
                self.everything,
                Monitor(cancel=self.monitor.cancel),
                self.recognisers,
                self.reader,
                layers=self.layers + 1,
                limit=limit,
            )
            found = inner.over([str(folder)])
        found = _renamed(found, str(folder), str(path))
        self.looked += found.looked
        self.unread += [*unpacking.unread, *found.unread]
        self.skipped += [*unpacking.skipped, *found.skipped]
        return list(found.findings), ScannedSource(str(path), kind, f"{unpacking.parts:,} parts")

    def _text(self, path: Path) -> SourceFindings:
        size = path.stat().st_size
        with self.monitor.listening(self._task, size if self.everything else min(size, MOST), "bytes"):
            return scan_text(
                path,
                self.annotate,
                everything=self.everything,
                recognisers=self.recognisers,
                encoding=self.reader.encoding or UTF_8,
            )

    def _tables_in(self, path: Path, file_format: FileFormat | None) -> Iterator[SourceFindings]:
        if file_format is None or file_format.sheets is None:
            yield from self._table(path)
        else:
            yield from self._sheets(path, self._chosen(file_format.sheets(path, str(path))))

    def _chosen(self, sheets: Sequence[str]) -> Sequence[str]:
        """All, unless one is named that the workbook has."""
        wanted = self.reader.sheet
        return [str(wanted)] if wanted is not None and str(wanted) in sheets else sheets

    def _table(self, path: Path) -> Iterator[SourceFindings]:
        """A file that is no table after all is read as text, so that nothing in it is passed over."""
        try:
            found = list(self._source(source_at({"path": str(path)}, self.reader)))
        except (InputError, PolarsError) as error:
            if (isinstance(error, SourceError) and _is_empty(error)) or b"\0" in _opening(path):
                raise
            found = [self._text(path)]
        yield from found

    def _sheets(self, path: Path, names: Sequence[str]) -> Iterator[SourceFindings]:
        whole = True
        for name in names:
            try:
                source = source_at({"path": str(path)}, self.reader.model_copy(update={"sheet": name}))
                findings, looked = scan_table(f"{path}#{name}", source.scan(), self.annotate, self.recognisers)
                yield findings, looked
            except InputError as error:
                whole = whole and isinstance(error, SourceError) and _is_empty(error)
        if path.suffix.lower() in documents.endings():
            yield self._carried(path, cells=not whole)

    def _carried(self, path: Path, *, cells: bool = True) -> SourceFindings:
        document = documents.format_for(path)
        blocks = (
            TextBlock(general_place(piece.place), piece.text, 0, piece.label)
            for piece in self._read(path, document)
            if cells or "!" not in piece.place
        )
        with self.monitor.listening(self._task, None, "bytes"):
            return scan_pieces(
                str(path),
                document.key,
                blocks,
                self.annotate,
                everything=self.everything,
                recognisers=self.recognisers,
            )

    def _read(self, path: Path, document: documents.DocumentFormat) -> Iterator[documents.DocumentText]:
        """The pieces; those of which nobody knows what they say are noted."""
        for piece in document.texts(path):
            if piece.unread:
                self.unread.append(
                    UnreadSource(f"{path}, {piece.place}", "it has no text that could be read (a picture?)")
                )
            else:
                yield piece


def _renamed(found: Scan, folder: str, archive: str) -> Scan:
    """With the places in the archive instead of those where it was unpacked."""

    def named(text: str) -> str:
        return text.replace(f"sqlite:///{folder}/", f"{archive}!").replace(f"{folder}/", f"{archive}!")

    return Scan(
        tuple(replace(one, source=named(one.source)) for one in found.findings),
        tuple(replace(one, source=named(one.source)) for one in found.looked),
        tuple(UnreadSource(named(one.source), named(one.why)) for one in found.unread),
        tuple(named(one) for one in found.skipped),
    )


def title_of(places: Sequence[str]) -> str:
    """What may be shown of the places: names of files and folders, addresses without passwords."""
    return ", ".join(_shown(place) for place in places[:SHOWN]) + (" …" if len(places) > SHOWN else "")


def _shown(place: str) -> str:
    if "://" not in place or place.startswith("file://"):
        path = Path(place.removeprefix("file://"))
        return str(path) if path.name else path.resolve().name or str(path)
    address, _, table = place.partition("#")
    shown = address_of(address).place
    return f"{shown}#{table}" if table else shown


def scan_places(  # noqa: PLR0913  # one argument per option of `shoal scan`
    places: Sequence[str],
    annotate: Annotate,
    *,
    everything: bool = False,
    monitor: Monitor | None = None,
    recognisers: RecogniserSet | None = None,
    reader: ReaderOptions | None = None,
) -> Scan:
    """Everything at the places; what can't be read is listed in the result, a place that isn't there is an error."""
    known = recognisers or default_recognisers()
    return SourceWalk(annotate, everything, monitor or Monitor(), known, reader or ReaderOptions()).over(places)


def _opening(path: Path, *, strict: bool = False) -> bytes:
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return b""
        with path.open("rb") as file:
            return file.read(_HEAD)
    except OSError:
        if strict:
            raise
        return b""


def _is_empty(error: SourceError) -> bool:
    return "no records" in error.message


def _why(error: BaseException, label: str) -> str:
    """In our words where they are ours; what a library says may hold what it read."""
    if isinstance(error, InputError):
        return str(error).removeprefix(f"{label}: ").removeprefix(f"{Path(label).name}: ")
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)
    return "it can't be read as what it seems to be"
