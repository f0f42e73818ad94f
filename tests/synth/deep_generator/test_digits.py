"""Small pictures: one code changes the class of a digit, another its slant (MeitY 2.8.1)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="training a network needs PyTorch (extra deep)")

from PIL import Image

import digits as script

pytestmark = pytest.mark.requirement("T-25")


def test_the_slant_is_seen() -> None:
    upright = np.zeros((8, 8), dtype=np.int64)
    upright[:, 3] = 4
    leaning = np.fliplr(np.eye(8, dtype=np.int64)) * 4
    drawn = np.stack([np.concatenate([[1], one.ravel()]) for one in (upright, leaning, np.fliplr(leaning))])
    assert script.slant(drawn) == pytest.approx([0.0, 1.0, -1.0], abs=1e-6)


def test_codes_steer_class_and_slant_from_the_first_rounds_on(tmp_path: Path) -> None:
    learnt, _ = script.digits()
    made = script.network(learnt, 3.0, rounds=3, rate=0.05)
    assert made.multiplier > 0
    figures = script.steering(made, 250)
    assert figures["group_tells_class"] > 0.5
    assert figures["slide_moves_slant"] > 0.3
    script.picture(made, tmp_path / "digits.png")
    with Image.open(tmp_path / "digits.png") as image:
        assert image.size == (500, 250)


@pytest.mark.slow
def test_a_classifier_learns_real_digits_from_made_up_ones() -> None:
    learnt, tested = script.digits()
    made = script.network(learnt, None, rounds=300, rate=0.1)
    assert script.accuracy(made.drawn(3000), tested) > 0.85
    assert script.steering(made)["group_tells_class"] > 0.5
