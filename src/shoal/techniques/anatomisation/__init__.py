"""Anatomisation (ISO/IEC 20889, 9.5): what is sensitive stands in a file of its own."""
