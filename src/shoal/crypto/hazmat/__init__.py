"""Ciphers that give something away by design. Only a technique may use them, and it has to say what it gives away.

| file | what anybody sees who has only ciphertexts |
|---|---|
| ``deterministic`` | which values are equal, how often each occurs, how long each is |
| ``ff1`` | which values are equal, how often each occurs, their length and alphabet, what lies outside the alphabet |
| ``order_preserving`` | order and equality, how often each occurs, and about the upper half of each value's digits |

Frequencies are enough to read most values of a column that somebody knows the distribution of: names, towns, ages,
diagnoses (Naveed, Kamara & Wright 2015). Where neither equality nor order is needed, ``shoal.crypto.aead`` gives
nothing away but the length.
"""
