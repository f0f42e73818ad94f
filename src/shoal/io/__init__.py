"""Sources and targets: files and databases, found out, read in a stream, written whole or not at all (D-01)."""

from shoal.io.commit import Staging, sha256_of
from shoal.io.failures import writing
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
from shoal.io.parts import Part, PartsSource, PartsTarget, parts_target
from shoal.io.sources import Referring, Source, explained, open_source
from shoal.io.targets import FileTarget, Target, database_target, file_target, open_target, write_all
from shoal.io.unquoted import QuotesNeeded, refuse_specials
from shoal.io.whole import new_file, replacement, whole, whole_file, whole_text, write_whole

__all__ = [
    "DatabaseOptions",
    "DatabaseTargetOptions",
    "FileOptions",
    "FileTarget",
    "FileTargetOptions",
    "Part",
    "PartsSource",
    "PartsTarget",
    "QuotesNeeded",
    "Referring",
    "Source",
    "SourceOptions",
    "Staging",
    "Target",
    "TargetOptions",
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
    "whole",
    "whole_file",
    "whole_text",
    "write_all",
    "write_whole",
    "writing",
]
