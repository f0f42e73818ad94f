"""Several tables released in one folder: all of them, or none."""
