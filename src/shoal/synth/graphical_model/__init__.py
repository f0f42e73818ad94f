"""Distributions over many attributes, made of tables over few: fitted to noisy counts, calibrated, drawn from."""
