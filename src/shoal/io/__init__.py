"""Sources and targets: files and databases, found out, read in a stream, written whole or not at all (D-01)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from shoal.io.atomic.file_replacement import (
        atomic_binary,
        atomic_path,
        atomic_text,
        new_file,
        replacement,
        write_atomic,
        write_atomic_bytes,
    )
    from shoal.io.atomic.folder_commit import Staging, sha256_of
    from shoal.io.failures import writing
    from shoal.io.formats.delimited.quote_free import QuotesNeeded, refuse_specials
    from shoal.io.formats.partitioned import PartFile, PartsSource, PartsTarget, parts_target
    from shoal.io.options import (
        DatabaseOptions,
        DatabaseTargetOptions,
        FileOptions,
        FileTargetOptions,
        SourceOptions,
        TargetOptions,
        parse_source,
        parse_target,
    )
    from shoal.io.reader_options import ReaderOptions
    from shoal.io.sources import (
        FileSource,
        RecordPicker,
        ReferenceSource,
        ScannedTable,
        Source,
        beginning,
        explained,
        open_source,
    )
    from shoal.io.targets import FileTarget, Target, database_target, file_target, open_target, write_all

__all__ = [
    "DatabaseOptions",
    "DatabaseTargetOptions",
    "FileOptions",
    "FileSource",
    "FileTarget",
    "FileTargetOptions",
    "PartFile",
    "PartsSource",
    "PartsTarget",
    "QuotesNeeded",
    "ReaderOptions",
    "RecordPicker",
    "ReferenceSource",
    "ScannedTable",
    "Source",
    "SourceOptions",
    "Staging",
    "Target",
    "TargetOptions",
    "atomic_binary",
    "atomic_path",
    "atomic_text",
    "beginning",
    "database_target",
    "explained",
    "file_target",
    "new_file",
    "open_source",
    "open_target",
    "parse_source",
    "parse_target",
    "parts_target",
    "refuse_specials",
    "replacement",
    "sha256_of",
    "write_all",
    "write_atomic",
    "write_atomic_bytes",
    "writing",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "DatabaseOptions": "shoal.io.options",
        "DatabaseTargetOptions": "shoal.io.options",
        "FileOptions": "shoal.io.options",
        "FileSource": "shoal.io.sources",
        "FileTarget": "shoal.io.targets",
        "FileTargetOptions": "shoal.io.options",
        "PartFile": "shoal.io.formats.partitioned",
        "PartsSource": "shoal.io.formats.partitioned",
        "PartsTarget": "shoal.io.formats.partitioned",
        "QuotesNeeded": "shoal.io.formats.delimited.quote_free",
        "ReaderOptions": "shoal.io.reader_options",
        "RecordPicker": "shoal.io.sources",
        "ReferenceSource": "shoal.io.sources",
        "ScannedTable": "shoal.io.sources",
        "Source": "shoal.io.sources",
        "SourceOptions": "shoal.io.options",
        "Staging": "shoal.io.atomic.folder_commit",
        "Target": "shoal.io.targets",
        "TargetOptions": "shoal.io.options",
        "atomic_binary": "shoal.io.atomic.file_replacement",
        "atomic_path": "shoal.io.atomic.file_replacement",
        "atomic_text": "shoal.io.atomic.file_replacement",
        "beginning": "shoal.io.sources",
        "database_target": "shoal.io.targets",
        "explained": "shoal.io.sources",
        "file_target": "shoal.io.targets",
        "new_file": "shoal.io.atomic.file_replacement",
        "open_source": "shoal.io.sources",
        "open_target": "shoal.io.targets",
        "parse_source": "shoal.io.options",
        "parse_target": "shoal.io.options",
        "parts_target": "shoal.io.formats.partitioned",
        "refuse_specials": "shoal.io.formats.delimited.quote_free",
        "replacement": "shoal.io.atomic.file_replacement",
        "sha256_of": "shoal.io.atomic.folder_commit",
        "write_all": "shoal.io.targets",
        "write_atomic": "shoal.io.atomic.file_replacement",
        "write_atomic_bytes": "shoal.io.atomic.file_replacement",
        "writing": "shoal.io.failures",
    },
)
