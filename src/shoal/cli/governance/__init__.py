"""``shoal register``: the registry on the command line."""
