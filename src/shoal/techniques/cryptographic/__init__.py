"""Cryptographic tools (ISO/IEC 20889, 9.2): encryption by scheme, secret sharing."""
