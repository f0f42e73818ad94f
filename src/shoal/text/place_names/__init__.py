"""Names of places."""
