"""The evidence that a release comes with."""
