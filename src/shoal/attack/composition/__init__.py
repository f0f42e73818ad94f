"""What several releases of the same people say together (ISO/IEC 20889, 10.2.3): counts in, figures out."""
