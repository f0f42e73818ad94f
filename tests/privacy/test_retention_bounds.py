"""What models say can be kept of a class at most, against every way to divide it."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.privacy import Histograms, SensitiveModel
from shoal.privacy.models.alpha_k import AlphaK
from shoal.privacy.models.beta_likeness import BetaLikeness
from shoal.privacy.models.delta_disclosure import DeltaDisclosure
from shoal.privacy.models.t_closeness import ClosenessDistance, TCloseness
from shoal.privacy.retention_bounds import within_distance

pytestmark = pytest.mark.requirement("S-03", "S-04")

TREE = (np.array([0, 0, 1]), np.array([0, 0, 0]))
MODELS: list[SensitiveModel] = [
    *(TCloseness(attribute="s", t=t, distance=kind) for t in (0.0, 0.1, 0.3) for kind in ClosenessDistance),
    *(DeltaDisclosure(attribute="s", delta=delta) for delta in (0.3, 1.0, 3.0)),
    BetaLikeness(attribute="s", beta=0.5, kind="basic"),
    BetaLikeness(attribute="s", beta=1.0, kind="enhanced"),
    AlphaK(attribute="s", alpha=0.5, k=1),
]


@pytest.mark.parametrize("model", MODELS, ids=str)
@given(
    whole=st.tuples(*[st.integers(1, 9)] * 3),
    row=st.tuples(*[st.integers(0, 5)] * 3).filter(any),
)
@settings(max_examples=40)
def test_no_part_that_holds_is_larger(model: SensitiveModel, whole: tuple[int, ...], row: tuple[int, ...]) -> None:
    """The largest part that holds is what a division can keep, since what holds for parts holds for their union."""
    histograms = Histograms.of(np.array(whole), np.array([row]), TREE)
    parts = np.array([part for part in product(*(range(count + 1) for count in row)) if any(part)])
    held = model.accepts(model.spread(parts, histograms))
    largest = int(parts[held].sum(axis=1).max(initial=0))
    bound = int(model.retention_bounds(np.array([row]), histograms)[0])
    assert largest <= bound <= sum(row)
    if model.accepts(model.spread(np.array([row]), histograms)).all():
        assert bound == sum(row)
        assert sum(row) >= model.minimum_class_in({"s": histograms}).records


@given(
    rows=st.lists(st.tuples(*[st.integers(0, 50)] * 4).filter(any), min_size=1, max_size=6),
    weights=st.tuples(*[st.integers(1, 9)] * 4),
    most=st.sampled_from([0.0, 0.05, 0.2, 0.6]),
)
def test_one_level_in_closed_form_is_what_the_steps_lead_to(
    rows: list[tuple[int, ...]], weights: tuple[int, ...], most: float
) -> None:
    block, shares = np.array(rows), np.array(weights) / sum(weights)
    at_once = within_distance(block.sum(axis=1), [block], [shares], most)
    by_steps = within_distance(block.sum(axis=1), [block, block], [shares, shares], most)
    assert (at_once <= by_steps).all()
    for row, kept in zip(block, at_once.tolist(), strict=True):
        more = kept + 1
        if more <= row.sum():
            assert np.maximum(shares - row / more, 0).sum() > most - 1e-9
