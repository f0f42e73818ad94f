"""Free text inside a column."""
