"""A release beside its original: whether they belong together, who is counted, what labels mean."""
