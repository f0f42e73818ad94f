"""The import contracts hold, and each of them can fail."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOMS = [path.stem for path in (ROOT / "src" / "shoal").iterdir() if (path / "__init__.py").exists()]

HAZMAT = "shoal.crypto.hazmat"
FORBIDDEN, ALLOWED = "forbidden", "allowed"
EXAMPLES = {
    "rooms": {FORBIDDEN: ("schema", "import shoal.cli"), ALLOWED: ("cli", "import shoal.schema")},
    "counts": {FORBIDDEN: ("solve", "import shoal.io"), ALLOWED: ("solve", "import shoal.schema")},
    "two-engines": {FORBIDDEN: ("engine/polars", "import shoal.engine.spark")},
    "pyspark": {FORBIDDEN: ("engine/polars", "import pyspark"), ALLOWED: ("engine/spark", "import pyspark")},
    "torch": {FORBIDDEN: ("synth/methods", "import torch"), ALLOWED: ("synth/deep_generator", "import torch")},
    "terminal": {FORBIDDEN: ("release", "import rich"), ALLOWED: ("cli", "import rich")},
    "databases": {FORBIDDEN: ("release", "import sqlalchemy"), ALLOWED: ("io", "import sqlalchemy")},
    "randomness": {FORBIDDEN: ("techniques", "import random"), ALLOWED: ("randomness.py", "import secrets")},
    "hazmat": {FORBIDDEN: ("vault", f"import {HAZMAT}"), ALLOWED: ("techniques", f"import {HAZMAT}")},
}
"""For each contract, a room and a line in it that breaks the contract, and one that doesn't."""


def lint(*, contract: str | None, path: Path) -> subprocess.CompletedProcess[str]:
    chosen = ["--contract", contract] if contract else []
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as main; main()"]
    words = [*command, "--no-cache", "--config", str(ROOT / "pyproject.toml"), *chosen]
    environment = {**os.environ, "PYTHONPATH": str(path)}
    return subprocess.run(words, env=environment, cwd=path, capture_output=True, text=True, check=False)


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """An empty package with the rooms of the real one."""
    package = tmp_path / "shoal"
    for room in ("", *ROOMS, "engine/polars", "engine/spark", "crypto/hazmat", "synth/methods", "synth/deep_generator"):
        (package / room).mkdir(parents=True, exist_ok=True)
        (package / room / "__init__.py").touch()
    for module in ("errors.py", "randomness.py", "lazy_exports.py"):
        (package / module).touch()
    return tmp_path


def furnish(house: Path, room: str, line: str) -> None:
    place = house / "shoal" / room
    (place if place.suffix else place / "furniture.py").write_text(f"{line}\n")


def test_contracts_hold() -> None:
    done = lint(contract=None, path=ROOT / "src")
    assert done.returncode == 0, done.stdout


def test_every_contract_has_a_known_bad_example() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = {contract["id"] for contract in settings["tool"]["importlinter"]["contracts"]}
    assert contracts == {name for name, examples in EXAMPLES.items() if FORBIDDEN in examples}


@pytest.mark.parametrize(
    ("contract", "kind", "code"),
    [(contract, kind, int(kind == FORBIDDEN)) for contract, examples in EXAMPLES.items() for kind in examples],
)
def test_contracts_fail_where_they_should_and_nowhere_else(contract: str, kind: str, code: int, house: Path) -> None:
    furnish(house, *EXAMPLES[contract][kind])
    done = lint(contract=contract, path=house)
    assert done.returncode == code, done.stdout + done.stderr
    assert ("BROKEN" in done.stdout) == (kind == FORBIDDEN)
