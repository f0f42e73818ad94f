"""Streams, signals, options and output of the terminal."""
