"""Clustering in two levels, as the paper does it, with its measure of information loss."""

from shoal.solve.clusters.solver import Clusters, information_loss, solution_of, solve_clusters

__all__ = ["Clusters", "information_loss", "solution_of", "solve_clusters"]
