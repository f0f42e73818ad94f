"""Statistical tools (ISO/IEC 20889, 9.1): sampling and aggregation."""
