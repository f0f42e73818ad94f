"""One file per kind of generalisation hierarchy."""
