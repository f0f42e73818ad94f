"""Names of organisations."""
