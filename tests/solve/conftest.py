from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.adult import Adult, Fars


@pytest.fixture(scope="session")
def adult(shared: Path) -> Adult:
    return Adult(shared)


@pytest.fixture(scope="session")
def fars(shared: Path) -> Fars:
    return Fars(shared)
