"""Risk, counted from the written output: classes, attackers, samples, uniques, joined tables."""
