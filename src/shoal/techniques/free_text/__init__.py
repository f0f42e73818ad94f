"""Free text (ISO/IEC 20889, C.4): what it says of people."""
