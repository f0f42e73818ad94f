"""Word and Excel files."""
