"""Commands of the studio."""
