"""Randomisation (ISO/IEC 20889, 9.7): noise, permutation, microaggregation, PRAM."""
