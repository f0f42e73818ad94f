"""Private estimators are estimators of scikit-learn: its own checks, bad input, and what a model holds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from shoal.dp import learning
from shoal.errors import InputError

pytestmark = pytest.mark.requirement("C-04")

SILENT: dict[str, Any] = {"epsilon": 1e16, "delta": 1e-5, "bounds": (-10, 10)}
"""Noise rounds to nothing, so that two fits are alike, as scikit-learn's checks expect."""
CLASSES: dict[str, Any] = {"classes": (0, 1, 2)}
PUBLIC_CLASSES = "the check brings classes of its own; here they are public, and named before"
NO_LABELS = "labels of the rows are personal, so the model has no labels_"
MODELS: list[tuple[Any, dict[str, str]]] = [
    (learning.PrivateLinearRegression(**SILENT, target_bounds=(-200, 200)), {}),
    (learning.PrivatePCA(**SILENT), {}),
    (learning.PrivateTruncatedSVD(**SILENT), {}),
    (learning.PrivateKMeans(**SILENT), {"check_clustering": NO_LABELS}),
    *(
        (
            kind(**SILENT, **CLASSES),
            dict.fromkeys(("check_classifiers_classes", "check_classifiers_train"), PUBLIC_CLASSES),
        )
        for kind in (
            learning.PrivateGaussianNB,
            learning.PrivateLogisticRegression,
            learning.PrivateNeighboursClassifier,
        )
    ),
]
NAMES = [type(model).__name__ for model, _ in MODELS]
ROWS = np.random.default_rng(5).uniform(-1, 1, (57, 4))
TARGET = (ROWS[:, 0] > 0).astype(int)


@pytest.mark.filterwarnings("ignore")  # scikit-learn tells of checks that it leaves out
@pytest.mark.parametrize(("model", "expected"), MODELS, ids=NAMES)
def test_checks_of_scikit_learn_hold(model: Any, expected: dict[str, str]) -> None:
    found = check_estimator(model, expected_failed_checks=expected, on_fail=None)
    assert [one["check_name"] for one in found if one["status"] == "failed"] == []
    assert {one["check_name"] for one in found if one["status"] == "xfail"} == set(expected)
    assert sum(one["status"] == "passed" for one in found) >= 40


@pytest.mark.parametrize(("model", "expected"), MODELS, ids=NAMES)
def test_a_model_holds_nothing_of_each_row(model: Any, expected: dict[str, str]) -> None:
    """What it holds may be given away: no array of it has as many entries along an axis as there are rows."""
    fitted = clone(model).set_params(epsilon=1.0).fit(ROWS, TARGET)
    arrays = [value for value in vars(fitted).values() if isinstance(value, np.ndarray)]
    assert arrays
    assert not any(len(ROWS) in array.shape for array in arrays)


@pytest.mark.parametrize("model", [model for model, _ in MODELS], ids=NAMES)
@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"bounds": None}, "bounds"),
        ({"bounds": (1, -1)}, "bounds"),
        ({"bounds": (-1, float("inf"))}, "bounds"),
        ({"bounds": ([-1, -1], 1)}, "bounds"),
        ({"bounds": 3}, "bounds"),
        ({"norm": -1.0}, "norm"),
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": -1}, "epsilon"),
        ({"epsilon": "much"}, "epsilon"),
        ({"epsilon": float("nan")}, "epsilon"),
        ({"delta": 1.0}, "delta"),
        ({"delta": -1e-9}, "delta"),
    ],
)
def test_parameters_that_cannot_be_used_are_named(model: Any, given: dict[str, object], field: str) -> None:
    with pytest.raises(InputError) as refused:
        clone(model).set_params(**given).fit(ROWS, TARGET)
    assert refused.value.field is not None
    assert refused.value.field.name == field
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("model", "field"),
    [
        (learning.PrivateLinearRegression(bounds=(-1, 1)), "target_bounds"),
        (learning.PrivateGaussianNB(bounds=(-1, 1)), "classes"),
        (learning.PrivateLogisticRegression(bounds=(-1, 1), classes=(0, 0)), "classes"),
        (learning.PrivateLogisticRegression(bounds=(-1, 1), classes=(0, 1), steps=0), "steps"),
        (learning.PrivateLogisticRegression(bounds=(-1, 1), classes=(0, 1), penalty=0), "penalty"),
        (learning.PrivateKMeans(bounds=(-1, 1), n_clusters=0), "n_clusters"),
        (learning.PrivatePCA(bounds=(-1, 1), n_components=0), "n_components"),
        (learning.PrivateNeighboursClassifier(bounds=(-1, 1), classes=(0, 1), bins=40, projected=False), "bins"),
    ],
)
def test_what_a_model_needs_is_asked_for(model: Any, field: str) -> None:
    with pytest.raises(InputError) as refused:
        model.fit(ROWS, TARGET)
    assert refused.value.field is not None
    assert refused.value.field.name == field


@pytest.mark.parametrize("model", [model for model, _ in MODELS], ids=NAMES)
@pytest.mark.parametrize(
    "rows",
    [
        np.where(np.arange(228).reshape(57, 4) == 9, np.nan, ROWS),
        ROWS[0],
        [["31", "secret"]] * 57,
        np.zeros((57, 0)),
    ],
    ids=["missing value", "one row", "text", "no features"],
)
def test_rows_that_cannot_be_used_are_refused_in_one_line_without_a_value(model: Any, rows: Any) -> None:
    with pytest.raises(InputError) as refused:
        clone(model).fit(rows, TARGET)
    assert isinstance(refused.value, ValueError)
    assert "\n" not in str(refused.value)
    assert "secret" not in str(refused.value)
    assert str(ROWS[0, 0])[:6] not in str(refused.value)


def test_rows_of_other_classes_are_left_out() -> None:
    odd = np.where(np.arange(57) % 2, 7, TARGET)
    model = learning.PrivateGaussianNB(epsilon=1e14, bounds=(-1, 1), classes=(0, 1)).fit(ROWS, odd)
    assert model.class_count_.sum() == pytest.approx((odd < 2).sum())
