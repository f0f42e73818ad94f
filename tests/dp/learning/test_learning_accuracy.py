"""How near private models come to those without privacy, on public tables; both are printed.

Figures are means over several fits, as in the table of `docs/how-to/learn-privately.md`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from learning_accuracy import EPSILONS, TASKS, accuracy
from shoal.dp import learning

pytestmark = pytest.mark.requirement("C-04")

RNG = np.random.default_rng(17)
SILENT: dict[str, Any] = {"epsilon": 1e10, "delta": 1e-5}
LEAST = {
    ("linear regression", "diabetes"): (-0.2, 0.2, 0.35),
    ("linear regression", "made up"): (0.9, 0.93, 0.94),
    ("logistic regression", "iris"): (0.25, 0.65, 0.8),
    ("logistic regression", "wine"): (0.3, 0.65, 0.85),
    ("logistic regression", "breast cancer"): (0.75, 0.85, 0.87),
    ("logistic regression", "made-up groups"): (0.9, 0.95, 0.97),
    ("naive Bayes", "iris"): (0.4, 0.7, 0.8),
    ("naive Bayes", "wine"): (0.3, 0.7, 0.85),
    ("naive Bayes", "breast cancer"): (0.7, 0.85, 0.87),
    ("naive Bayes", "made-up groups"): (0.97, 0.97, 0.97),
    ("nearest neighbours", "iris"): (0.25, 0.55, 0.75),
    ("nearest neighbours", "wine"): (0.25, 0.65, 0.85),
    ("nearest neighbours", "breast cancer"): (0.7, 0.83, 0.86),
    ("nearest neighbours", "made-up groups"): (0.95, 0.97, 0.97),
    ("PCA", "iris"): (0.65, 0.85, 0.95),
    ("PCA", "breast cancer"): (0.1, 0.3, 0.7),
    ("k-means", "breast cancer"): (0.3, 0.5, 0.85),
    ("k-means", "made-up groups"): (0.9, 0.95, 0.97),
}
"""At ε = 1, 3 and 10: at least six standard errors of a mean of twelve fits below what was measured over thirty.

At ε = 1, iris and wine have too few people for classes to be told apart with any certainty, and so the limits say.
"""


@pytest.mark.parametrize("task", TASKS, ids=[f"{task.model}, {task.table}" for task in TASKS])
def test_accuracy_keeps_its_limits(task) -> None:
    private = [accuracy(task, epsilon, fits=12) for epsilon in EPSILONS]
    print(  # noqa: T201  # both are to be seen
        f"{task.model}, {task.table}: without privacy {task.plain():.2f}, ε 1, 3, 10: {np.round(private, 2)}"
    )
    for found, least in zip(private, LEAST[task.model, task.table], strict=True):
        assert found >= least


def test_regression_becomes_least_squares() -> None:
    rows = RNG.uniform(-1, 3, (400, 4))
    target = rows @ [1.0, -2.0, 0.5, 0.0] + 1 + RNG.normal(0, 0.2, 400)
    plain = LinearRegression().fit(rows, target)
    private = learning.PrivateLinearRegression(**SILENT, bounds=(-1, 3), target_bounds=(-10, 10)).fit(rows, target)
    assert private.ridge_ == 0
    assert private.coef_ == pytest.approx(plain.coef_, abs=1e-3)
    assert private.intercept_ == pytest.approx(plain.intercept_, abs=1e-3)


def test_logistic_regression_becomes_the_penalised_fit() -> None:
    rows = RNG.uniform(-1, 1, (600, 2))
    classes = (rows @ [2.0, -1.0] + RNG.logistic(0, 0.5, 600) > 0).astype(int)
    penalty = 1e-2
    plain = LogisticRegression(C=1 / (penalty / 2 * 600), tol=1e-10).fit(rows, classes)
    private = learning.PrivateLogisticRegression(**SILENT, bounds=(-1, 1), classes=(0, 1), steps=400, penalty=penalty)
    private.fit(rows, classes)
    slope = private.coef_[1] - private.coef_[0]
    assert slope == pytest.approx(plain.coef_[0], rel=0.02)


@pytest.mark.parametrize("kind", ["PCA", "SVD"])
def test_components_become_those_without_privacy(kind: str) -> None:
    rows = RNG.normal(0, 1, (500, 5)) * [3, 2, 1, 0.5, 0.2] + 1
    private = (learning.PrivatePCA if kind == "PCA" else learning.PrivateTruncatedSVD)(
        **SILENT, bounds=(-30, 30), n_components=2
    )
    plain = PCA(2) if kind == "PCA" else TruncatedSVD(2, algorithm="arpack")
    ours, theirs = private.fit(rows).components_, plain.fit(rows).components_
    assert np.abs((ours * theirs).sum(axis=1)) == pytest.approx([1, 1], abs=1e-4)
    back = private.inverse_transform(private.transform(rows))
    assert ((rows - back) ** 2).sum() == pytest.approx(
        ((rows - plain.inverse_transform(plain.transform(rows))) ** 2).sum(), rel=1e-3
    )


def test_clusters_become_those_without_privacy() -> None:
    middles = np.array([[-3.0, -3.0], [3.0, 3.0], [-3.0, 3.0]])
    rows = np.concatenate([RNG.normal(one, 0.5, (100, 2)) for one in middles])
    private = learning.PrivateKMeans(**SILENT, bounds=(-6, 6), n_clusters=3, steps=10).fit(rows)
    plain = KMeans(3, n_init=3, random_state=0).fit(rows)
    apart = np.abs(private.cluster_centers_[:, None] - plain.cluster_centers_[None]).max(axis=2).min(axis=1)
    assert apart.max() < 1e-3


def test_neighbours_on_a_fine_grid_agree_with_those_without_privacy() -> None:
    rows = RNG.uniform(-1, 1, (3000, 2))
    classes = (rows[:, 0] ** 2 + rows[:, 1] ** 2 < 0.5).astype(int)
    private = learning.PrivateNeighboursClassifier(
        **SILENT, bounds=(-1, 1), classes=(0, 1), bins=100, projected=False, n_neighbors=5
    ).fit(rows, classes)
    plain = KNeighborsClassifier(5).fit(rows, classes)
    asked = RNG.uniform(-1, 1, (300, 2))
    assert (private.predict(asked) == plain.predict(asked)).mean() >= 0.95
