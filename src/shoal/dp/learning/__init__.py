"""Learning under differential privacy (C-04; ISO/IEC 20889, 10.3.2), as estimators of scikit-learn.

Every one is worked out of sums over people: a row is clipped to public bounds, what it adds is rounded to a fixed grid,
the sums are whole numbers, and OpenDP adds noise to them. All that follows, coefficients and predictions alike, uses
the noisy sums and public parameters only, so it costs nothing more. A row is a person: who has several in the data is
protected less (`shoal.dp.accounting.group_privacy`), so bring them together into one row first.
"""

from typing import TYPE_CHECKING

from shoal.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from shoal.dp.learning.k_means import PrivateKMeans
    from shoal.dp.learning.linear_regression import PrivateLinearRegression
    from shoal.dp.learning.logistic_regression import PrivateLogisticRegression
    from shoal.dp.learning.naive_bayes import PrivateGaussianNB
    from shoal.dp.learning.nearest_neighbours import PrivateNeighboursClassifier
    from shoal.dp.learning.principal_components import PrivatePCA, PrivateTruncatedSVD

__all__ = [
    "PrivateGaussianNB",
    "PrivateKMeans",
    "PrivateLinearRegression",
    "PrivateLogisticRegression",
    "PrivateNeighboursClassifier",
    "PrivatePCA",
    "PrivateTruncatedSVD",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "PrivateGaussianNB": "shoal.dp.learning.naive_bayes",
        "PrivateKMeans": "shoal.dp.learning.k_means",
        "PrivateLinearRegression": "shoal.dp.learning.linear_regression",
        "PrivateLogisticRegression": "shoal.dp.learning.logistic_regression",
        "PrivateNeighboursClassifier": "shoal.dp.learning.nearest_neighbours",
        "PrivatePCA": "shoal.dp.learning.principal_components",
        "PrivateTruncatedSVD": "shoal.dp.learning.principal_components",
    },
)
