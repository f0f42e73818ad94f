"""Sources and targets: files and databases, found out, read in a stream, written whole or not at all (D-01)."""

from shoal.io.atomic.file_replacement import (
    atomic_binary,
    atomic_path,
    atomic_text,
    new_file,
    replacement,
    write_atomic,
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
from shoal.io.sources import FileSource, ReferenceSource, Source, explained, open_source
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
    "ReferenceSource",
    "Source",
    "SourceOptions",
    "Staging",
    "Target",
    "TargetOptions",
    "atomic_binary",
    "atomic_path",
    "atomic_text",
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
    "writing",
]
