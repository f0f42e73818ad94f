"""Pseudonymisation (ISO/IEC 20889, 9.4)."""
