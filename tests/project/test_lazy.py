"""What is heavy is imported late: told by what is loaded, not by the clock."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("polars", "numpy", "pyarrow", "pandas", "pydantic", "cryptography", "sqlalchemy", "pyspark", "jinja2")
REPORT = f"import sys; sys.exit(' '.join(name for name in {HEAVY!r} if name in sys.modules) or 0)"


def loaded_by(code: str) -> str:
    """The heavy modules that are there after the code has run."""
    done = subprocess.run([sys.executable, "-c", f"{code}\n{REPORT}"], capture_output=True, text=True, check=False)
    return done.stderr.strip()


def test_import_is_light() -> None:
    assert loaded_by("import shoal") == ""


@pytest.mark.parametrize(
    ("words", "allowed"),
    [
        (["--help"], ""),
        (["--version"], ""),
        (["run", "--help"], "pydantic"),  # Typer's own way to read parameters
    ],
)
def test_help_is_light(words: list[str], allowed: str) -> None:
    code = f"""
import contextlib, io, sys
from shoal.cli import main
sys.argv = ["shoal", *{words!r}]
with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.suppress(SystemExit):
    main()
assert "shoal" in said.getvalue().lower()
"""
    assert loaded_by(code) == allowed


def test_a_heavy_import_is_seen() -> None:
    assert "polars" in loaded_by("import shoal.schema.columns").split()
