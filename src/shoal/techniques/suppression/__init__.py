"""Suppression (ISO/IEC 20889, 9.3): masking, cells, records, whole columns."""
