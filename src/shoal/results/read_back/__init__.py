"""What other released columns tell of the quasi-identifiers: as it was found, and as it is told."""
