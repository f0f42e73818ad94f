"""Datasets that are asked with a budget: who may ask, what is left, what was answered."""
