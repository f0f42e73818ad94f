"""Benchmarks: ratios measured in one run, beside a yardstick that everybody has."""
