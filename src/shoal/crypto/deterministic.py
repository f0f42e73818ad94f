"""A column of texts encrypted with AES-SIV, and decrypted: equal values, equal ciphertexts."""

from __future__ import annotations

import numpy as np
import polars as pl

from shoal.crypto.keys import Key
from shoal.crypto.siv import Siv
from shoal.crypto.text_encoding import TextEncoding, read, write
from shoal.errors import IntegrityError
from shoal.kernels.text_arrays import by_length, rows_of

FEW_VALUES = 32
"""Of one length. With fewer, the library is quicker, value by value; so it is with long ones."""
LONG_BYTES = 256


def encrypt_column(key: Key, values: pl.Series, written: TextEncoding = TextEncoding.BASE64URL) -> pl.Series:
    """Texts, none missing, to ciphertexts written as text.

    >>> key = Key(bytes(32))
    >>> encrypted = encrypt_column(key, pl.Series(["Asha", "Ravi", "Asha"]))
    >>> encrypted[0] == encrypted[2] != encrypted[1], decrypt_column(key, encrypted).to_list()
    (True, ['Asha', 'Ravi', 'Asha'])
    """
    siv = Siv.of(key)
    return by_length(values, lambda alike: write(_encrypt(siv, alike), written))


def decrypt_column(key: Key, values: pl.Series, written: TextEncoding = TextEncoding.BASE64URL) -> pl.Series:
    """The texts again, missing ones missing. If one is no ciphertext of this key, it is an IntegrityError."""
    siv = Siv.of(key)
    try:
        plain = [
            None if value is None else siv.decrypt_one(read(value, written)).decode() for value in values.to_list()
        ]
    except ValueError:
        raise IntegrityError(f"a value is not what encryption writes in {written}") from None
    return pl.Series(values.name, plain, dtype=pl.String)


def _encrypt(siv: Siv, values: pl.Series) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    if len(values) >= FEW_VALUES and len(values[0].encode()) <= LONG_BYTES:
        return siv.encrypt(rows_of(values))
    sealed = b"".join(siv.encrypt_one(value) for value in values.cast(pl.Binary).to_list())
    return np.frombuffer(sealed, dtype=np.uint8).reshape(len(values), -1)
