"""Global recoding: the search of the lattice of levels."""
