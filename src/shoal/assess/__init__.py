"""Assessing a table or a release: measure, attack, explore, re-assess, and the evidence that a run gathers."""
