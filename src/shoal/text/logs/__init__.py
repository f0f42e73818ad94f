"""Lines that programs write: how they are told from prose, and what in them is about somebody."""
