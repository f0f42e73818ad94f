"""What is heavy is imported late: told by what is loaded, not by the clock."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("polars", "numpy", "pyarrow", "pandas", "pydantic", "cryptography", "sqlalchemy", "pyspark", "jinja2")
FOREIGN_TO_A_RUN = ("shoal.attack", "shoal.measurement.fidelity", "shoal.discover.recognisers.base", "shoal.io.merging")
"""What other commands need."""
POLICY = """
shoal: 1
name: light
attributes:
  age: {role: quasi, hierarchy: {intervals: {widths: [10]}}}
  note: {role: insensitive}
privacy: [k_anonymity: {k: 2}]
"""


def loaded_by(code: str, names: tuple[str, ...] = HEAVY) -> str:
    """Those of the modules that are there after the code has run."""
    report = f"import sys; sys.exit(' '.join(name for name in {names!r} if name in sys.modules) or 0)"
    done = subprocess.run([sys.executable, "-c", f"{code}\n{report}"], capture_output=True, text=True, check=False)
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


def test_a_run_imports_what_it_uses(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("age,note\n31,a\n31,b\n", encoding="utf-8")
    (tmp_path / "policy.yaml").write_text(POLICY, encoding="utf-8")
    words = [f"{tmp_path / 'policy.yaml'}", "--input", f"{tmp_path / 'data.csv'}", "--output", f"{tmp_path / 'out'}"]
    code = f"""
import contextlib, io, sys
from shoal.cli import main
sys.argv = ["shoal", "run", *{words!r}]
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    with contextlib.suppress(SystemExit):
        main()
"""
    assert loaded_by(code, FOREIGN_TO_A_RUN) == ""
    assert (tmp_path / "out" / "release.json").exists()


def test_a_heavy_import_is_seen() -> None:
    assert loaded_by("import shoal.attack", FOREIGN_TO_A_RUN) == "shoal.attack"
    assert "polars" in loaded_by("import shoal.schema.columns").split()
