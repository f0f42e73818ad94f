"""The registry of a studio: the same acts, rights and chain as `shoal register`, for those who were admitted to it."""
