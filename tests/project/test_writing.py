"""Files are written by one mechanism, whole or not at all (``shoal.io.atomic``)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src" / "shoal"

INSIDE = {
    "io/atomic/file_replacement.py": "the mechanism itself",
    "io/atomic/unfinished.py": "the mechanism itself",
    "io/targets.py": "under the hidden name that the mechanism gives",
    "io/formats/excel.py": "under the hidden name that the mechanism gives",
    "io/formats/arrow.py": "under the hidden name that the mechanism gives",
    "io/formats/parquet.py": "under the hidden name that the mechanism gives",
    "io/formats/json_lines.py": "under the hidden name that the mechanism gives",
    "io/databases/spool.py": "a file that never has a name",
    "io/database_schemas/row_text.py": "into memory",
    "io/database_schemas/dump_target.py": "under the hidden name that the mechanism gives",
    "scan/archives.py": "into a folder in the making, which is gone afterwards",
    "vault/rollback_guard.py": "under the hidden name that the mechanism gives; and a lock, which stays empty",
    "examples/practice.py": "into memory, which the mechanism writes",
    "examples/hospital.py": "under the hidden name that the mechanism gives",
    "release/destinations.py": "into a folder in the making",
    "streaming/sinks/files.py": "appended to behind a journal, which the mechanism writes; and into memory",
    "release/membership.py": "under the hidden name that the mechanism gives",
    "release/multi_table/run.py": "into a folder in the making",
    "synthetic_release/output.py": "into a folder in the making",
    "synthetic_release/several/output.py": "into a folder in the making",
    "assess/composition/shared_files.py": "into a folder in the making",
    "govern/packages.py": "under the hidden name that the mechanism gives, a pipe, and into a folder in the making",
    "report/pdf.py": "into a folder that is gone afterwards; what stays is written by the mechanism",
    "server/backup.py": "under the hidden name that the mechanism gives, and into a folder in the making",
    "server/studio_acts.py": "an upload, which is a source once it is recorded and is swept otherwise; and into memory",
    "server/text_acts.py": "an upload, which is a document once its job is recorded and is swept otherwise",
    "server/jobs/table_fetching.py": "under another name in the upload; a job that is tried again writes it anew",
    "engine/spark/output_staging.py": "into a folder in the making",
    "engine/spark/source.py": "into a folder in the making",
    "cli/terminal/streams.py": "a stream that goes nowhere",
    "kernels/derived_files.py": "under a hidden name; what is torn is known by its checksum and made anew",
    "documents/isolation.py": "into a file that the mechanism has opened",
}
"""Where a file is written directly, and why that is right."""
MODES = set("wxabt+")
WRITES = {
    "write_text",
    "write_bytes",
    "write_csv",
    "write_parquet",
    "write_ipc",
    "write_ndjson",
    "write_excel",
    "touch",
}


def direct_writes(code: str) -> Iterator[str]:
    """Calls that write a file under its own name."""
    for node in ast.walk(ast.parse(code)):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        given = [*node.args, *(one.value for one in node.keywords)]
        modes = [one.value for one in given if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        opened = name in {"open", "fdopen"} and any(set(mode) <= MODES and set(mode) & set("wxa") for mode in modes)
        if opened or name in WRITES or name.startswith("sink_"):
            yield f"line {node.lineno}: {name}"


def test_files_are_written_by_one_mechanism() -> None:
    found = {
        path.relative_to(SOURCE).as_posix(): list(direct_writes(path.read_text(encoding="utf-8")))
        for path in SOURCE.rglob("*.py")
    }
    assert {name: writes for name, writes in found.items() if writes and name not in INSIDE} == {}
    assert [name for name in INSIDE if not found[name]] == [], "what no longer writes is struck off the list"


@pytest.mark.parametrize(
    "code",
    [
        "path.write_text('x')", "Path(p).open('w')", "open(p, mode='wb')", "path.open('x', encoding='utf-8')",
        "frame.sink_parquet(p)", "frame.write_csv(p)", "os.fdopen(handle, 'w')",
    ],
)  # fmt: skip
def test_a_direct_write_would_be_seen(code: str) -> None:
    assert list(direct_writes(code))


def test_reading_is_no_writing() -> None:
    assert not list(direct_writes("path.open('rb'); open(p); path.read_text('utf-8'); frame.select('a')"))
