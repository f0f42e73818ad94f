"""Several synthetic tables that belong together, in one release folder."""
