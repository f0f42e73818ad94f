"""Synthetic records (ISO/IEC 20889, 9.8)."""
