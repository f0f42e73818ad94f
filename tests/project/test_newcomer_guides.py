"""A newcomer follows the guides."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.project.test_newcomer import GUIDES, follow, played_here


@pytest.mark.parametrize("page", played_here(GUIDES))
def test_a_newcomer_can_follow_the_guide(page: Path, tmp_path: Path) -> None:
    follow(page, tmp_path)
