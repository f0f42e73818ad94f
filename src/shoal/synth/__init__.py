"""Synthetic data (ISO/IEC 20889, 9.8): models of a table that hold no record of it, and tables drawn from them."""
