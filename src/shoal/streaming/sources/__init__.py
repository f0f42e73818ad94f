"""Where streams come from: one file for each kind."""
