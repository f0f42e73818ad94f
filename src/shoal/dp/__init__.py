"""Differential privacy (ISO/IEC 20889, 10.3): questions in a small algebra, what they cost, answers with noise.

Every figure that leaves is a whole number to which OpenDP has added noise, or is worked out of such numbers. Sums are
taken over whole multiples of a step that is chosen from public bounds, so nothing is ever rounded together with noise.
Budgets and who may ask are not known here: ``shoal.curator`` keeps them.
"""
