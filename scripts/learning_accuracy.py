"""The table of docs/how-to/learn-privately.md: private models beside those without privacy, on public tables.

``python scripts/learning_accuracy.py [--fits 40] [--write]`` prints it, or puts it into the page. Fits have noise, so
two runs differ in the second decimal.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from math import sqrt
from pathlib import Path
from typing import Any, Final

import numpy as np
from sklearn import datasets
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from shoal.dp.learning import (
    PrivateGaussianNB,
    PrivateKMeans,
    PrivateLinearRegression,
    PrivateLogisticRegression,
    PrivateNeighboursClassifier,
    PrivatePCA,
)

PAGE: Final = Path(__file__).resolve().parent.parent / "docs" / "how-to" / "learn-privately.md"
EPSILONS: Final = (1.0, 3.0, 10.0)
DELTA: Final = 1e-5


@dataclass(frozen=True)
class PublicTable:
    """Rows brought to 0…1 by their least and greatest values, which are public here; half of them to learn from."""

    rows: Any
    target: Any

    @property
    def learnt(self) -> tuple[Any, Any]:
        return self.rows[::2], self.target[::2]

    @property
    def asked(self) -> tuple[Any, Any]:
        return self.rows[1::2], self.target[1::2]


@cache
def table(name: str) -> PublicTable:
    """In an order that is mixed once, always the same."""
    rng = np.random.default_rng(20889)
    if name in ("made up", "made-up groups"):
        places = rng.integers(0, 3, 4000)
        rows = np.clip(np.array([[0.2, 0.2], [0.8, 0.3], [0.4, 0.8]])[places] + rng.normal(0, 0.13, (4000, 2)), 0, 1)
        if name == "made-up groups":
            return PublicTable(rows, places)
        return PublicTable(rows, rows @ [2.0, -1.0] + rng.normal(0, 0.1, 4000))
    loaded = {
        "iris": datasets.load_iris,
        "wine": datasets.load_wine,
        "breast cancer": datasets.load_breast_cancer,
        "diabetes": datasets.load_diabetes,
    }[name]()
    low, high = loaded.data.min(axis=0), loaded.data.max(axis=0)
    order = rng.permutation(len(loaded.data))
    return PublicTable(((loaded.data - low) / (high - low))[order], loaded.target[order])


@dataclass(frozen=True)
class Task:
    model: str
    table: str
    private: Any
    without: Any
    judged: Callable[[Any, PublicTable], float]
    measure: str

    def plain(self) -> float:
        return self.judged(clone(self.without).fit(*table(self.table).learnt), table(self.table))


def accuracy(task: Task, epsilon: float, fits: int) -> float:
    """The mean over several fits."""
    data = table(task.table)
    model = clone(task.private).set_params(epsilon=epsilon)
    return float(np.mean([task.judged(model.fit(*data.learnt), data) for _ in range(fits)]))


def _score(model: Any, data: PublicTable) -> float:
    return float(model.score(*data.asked))


def _variance_kept(model: Any, data: PublicTable) -> float:
    """By two components, as a share of what the best two keep."""
    rows = data.asked[0]
    best = PCA(2).fit(data.learnt[0]).transform(rows).var(axis=0).sum()
    return float(model.transform(rows).var(axis=0).sum() / best)


def _inertia(model: Any, data: PublicTable) -> float:
    """Squared distances to the nearest centre: those of plain k-means as a share of the model's."""
    rows = data.asked[0]
    plain = _plain_clusters(len(model.cluster_centers_)).fit(data.learnt[0])
    ours, theirs = (
        ((rows[:, None] - centres[None]) ** 2).sum(axis=2).min(axis=1).sum()
        for centres in (model.cluster_centers_, plain.cluster_centers_)
    )
    return float(theirs / ours)


def _tasks() -> Iterator[Task]:
    common: dict[str, Any] = {"delta": DELTA, "bounds": (0, 1)}
    for name, bounds, norm in (("diabetes", (0, 350), sqrt(10) / 2), ("made up", (-1, 2), None)):
        regression = PrivateLinearRegression(**common, target_bounds=bounds, norm=norm)
        yield Task("linear regression", name, regression, LinearRegression(), _score, "R²")
    kinds: tuple[tuple[str, Any, Any], ...] = (
        ("logistic regression", PrivateLogisticRegression, LogisticRegression(max_iter=1000)),
        ("naive Bayes", PrivateGaussianNB, GaussianNB()),
        ("nearest neighbours", PrivateNeighboursClassifier, KNeighborsClassifier()),
    )
    for model, kind, without in kinds:
        for name, number in (("iris", 3), ("wine", 3), ("breast cancer", 2), ("made-up groups", 3)):
            yield Task(model, name, kind(**common, classes=range(number)), without, _score, "right answers")
    for name in ("iris", "breast cancer"):
        components = PrivatePCA(**common, n_components=2)
        yield Task("PCA", name, components, PCA(2), _variance_kept, "variance kept, of the best")
    for name, number in (("breast cancer", 2), ("made-up groups", 3)):
        clusters = PrivateKMeans(**common, n_clusters=number)
        yield Task("k-means", name, clusters, _plain_clusters(number), _inertia, "nearness, of the best")


def _plain_clusters(number: int) -> Any:
    return KMeans(number, n_init=5, random_state=0)


TASKS: Final = tuple(_tasks())


def rendered(fits: int) -> str:
    heads = ("model", "table (people)", "measure", "without privacy", *(f"ε = {one:g}" for one in EPSILONS))
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for task in TASKS:
        people = len(table(task.table).learnt[0])
        private = " | ".join(f"{accuracy(task, epsilon, fits):.2f}" for epsilon in EPSILONS)
        lines.append(f"| {task.model} | {task.table} ({people:,}) | {task.measure} | {task.plain():.2f} | {private} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fits", type=int, default=40)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    made = rendered(given.fits)
    if not given.write:
        print(made)  # noqa: T201  # what it is for
        return
    page = PAGE.read_text(encoding="utf-8")
    marked = re.compile(r"(?<=<!-- accuracy -->\n).*?(?=<!-- /accuracy -->)", re.DOTALL)
    PAGE.write_text(marked.sub(lambda _: f"{made}\n", page), encoding="utf-8")


if __name__ == "__main__":
    main()
