"""What other released columns tell of the quasi-identifiers."""
