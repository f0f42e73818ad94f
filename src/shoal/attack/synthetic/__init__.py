"""Attacks on a synthetic table, whose rows stem from no row: each against a control group who were not learned from."""
