"""The curator: answers questions about a dataset under a budget that nobody can overspend (C-01, C-02)."""
