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

FORBIDDEN = {
    "rooms": ("schema", "import shoal.cli"),
    "counts": ("solve", "import shoal.io"),
    "two-engines": ("engine/polars", "import shoal.engine.spark"),
    "pyspark": ("engine/polars", "import pyspark"),
    "terminal": ("release", "import rich"),
    "databases": ("release", "import sqlalchemy"),
    "randomness": ("techniques", "import random"),
    "hazmat": ("vault", "import shoal.crypto.hazmat"),
}
ALLOWED = {
    "rooms": ("cli", "import shoal.schema"),
    "counts": ("solve", "import shoal.schema"),
    "pyspark": ("engine/spark", "import pyspark"),
    "terminal": ("cli", "import rich"),
    "databases": ("io", "import sqlalchemy"),
    "randomness": ("randomness.py", "import secrets"),
    "hazmat": ("techniques", "import shoal.crypto.hazmat"),
}


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
    for room in ("", *ROOMS, "engine/polars", "engine/spark", "crypto/hazmat"):
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
    assert {contract["id"] for contract in settings["tool"]["importlinter"]["contracts"]} == set(FORBIDDEN)


@pytest.mark.parametrize("contract", FORBIDDEN)
def test_contract_can_fail(contract: str, house: Path) -> None:
    furnish(house, *FORBIDDEN[contract])
    done = lint(contract=contract, path=house)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "BROKEN" in done.stdout


@pytest.mark.parametrize("contract", ALLOWED)
def test_contract_allows_what_it_should(contract: str, house: Path) -> None:
    furnish(house, *ALLOWED[contract])
    done = lint(contract=contract, path=house)
    assert done.returncode == 0, done.stdout + done.stderr
