"""One file for each method of synthesis."""
