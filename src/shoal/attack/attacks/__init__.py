"""One file per attack (or a family of them); each declares itself to the battery."""
