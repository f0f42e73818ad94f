"""Homomorphic encryption of columns of whole numbers: who has only the public key can encrypt and add up.

The scheme is BFV (Brakerski 2012; Fan & Vercauteren 2012) from the library TenSEAL, over Microsoft SEAL. It computes
with whole numbers modulo a prime and is **exact**; numbers with decimals are scaled. Its parameters: polynomials of
degree 8192 and SEAL's own coefficient modulus of 218 bits, which the Homomorphic Encryption Standard (2018) gives 128
bits of security, and a plain modulus of 58 bits. A ciphertext holds 8192 numbers, its *slots*; adding two ciphertexts
adds them slot by slot, multiplying with zeros and ones picks slots. So a sum is a ciphertext too, and who opens it adds
up the slots.

The approximate scheme CKKS was tried beside it: sums of picked amounts were off by some 10⁻¹⁰ of the amounts, and what
its decryption shows of the error can give the key away (Li & Micciancio 2021). An exact scheme has neither trouble.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from shoal.crypto.aead import seal, unseal
from shoal.crypto.keys import Key
from shoal.errors import DataError, InputError, IntegrityError, install_advice
from shoal.kernels.arrays import Integers, Mask

SLOTS = 8192
PLAIN_MODULUS = 288_230_376_150_876_161
"""A prime of 58 bits that leaves 1 when divided by 2 · 8192."""
LARGEST = PLAIN_MODULUS // 2
"""What one slot can hold, and the sum of one slot over all ciphertexts."""


def library() -> Any:
    """TenSEAL, or a line that says how to get it."""
    try:
        import tenseal  # type: ignore[import-untyped]
    except ImportError:
        raise InputError("homomorphic encryption needs the library TenSEAL", advice=install_advice("crypto")) from None
    return tenseal


@dataclass(frozen=True)
class PublicKey:
    """Encrypts and adds; can't decrypt. What travels is ``material``."""

    material: bytes = field(repr=False)

    @cached_property
    def _context(self) -> Any:
        return _context(self.material)

    def encrypt(self, numbers: Integers) -> bytes:
        """Up to ``SLOTS`` numbers, the rest of the slots zero."""
        slots = np.zeros(SLOTS, dtype=np.int64)
        slots[: len(numbers)] = numbers
        if np.abs(slots).max() > LARGEST:
            raise DataError("a number is too large for one slot of a ciphertext")
        return bytes(library().bfv_vector(self._context, slots.tolist()).serialize())

    def total(self) -> Total:
        return Total(self._context)

    def __getstate__(self) -> dict[str, object]:
        return {"material": self.material}


class Total:
    """A sum under way: ciphertexts are added to it, whole or only some of their slots."""

    def __init__(self, context: Any) -> None:
        self._context = context
        self._sum: Any = None

    def add(self, ciphertext: bytes, picked: Mask | None = None) -> None:
        if picked is not None and not picked.any():
            return
        term = _vector(self._context, ciphertext)
        if picked is not None:
            slots = np.zeros(SLOTS, dtype=np.int64)
            slots[: len(picked)] = picked
            term = term * slots.tolist()
        self._sum = term if self._sum is None else self._sum + term

    def ciphertext(self) -> bytes | None:
        """The encrypted sum, slot by slot; None where nothing was added."""
        return None if self._sum is None else bytes(self._sum.serialize())


@dataclass(frozen=True)
class SecretKey:
    """Decrypts. It leaves this machine only sealed."""

    material: bytes = field(repr=False)

    @classmethod
    def new(cls) -> tuple[SecretKey, PublicKey]:
        """A pair, from the operating system's randomness."""
        tenseal = library()
        context = tenseal.context(
            tenseal.SCHEME_TYPE.BFV, poly_modulus_degree=SLOTS, plain_modulus=PLAIN_MODULUS
        )  # without sizes of the coefficient modulus SEAL takes its own for 128 bits
        kept = {"save_galois_keys": False, "save_relin_keys": False}
        secret = context.serialize(save_public_key=False, save_secret_key=True, **kept)
        public = context.serialize(save_public_key=True, save_secret_key=False, **kept)
        return cls(bytes(secret)), PublicKey(bytes(public))

    def decrypt(self, ciphertext: bytes) -> Integers:
        return np.array(_vector(_context(self.material), ciphertext).decrypt(), dtype=np.int64)

    def sealed(self, key: Key, bound_to: str) -> bytes:
        return seal(key, self.material, bound_to.encode())

    @classmethod
    def unsealed(cls, key: Key, sealed: bytes, bound_to: str) -> SecretKey:
        return cls(unseal(key, sealed, bound_to.encode()))


def _context(material: bytes) -> Any:
    try:
        return library().context_from(material)
    except (ValueError, RuntimeError):
        raise IntegrityError("this is no key of a homomorphic encryption, or it was altered") from None


def _vector(context: Any, ciphertext: bytes) -> Any:
    try:
        vector = library().bfv_vector_from(context, ciphertext)
    except (ValueError, RuntimeError):
        vector = None
    if vector is None or vector.size() != SLOTS:
        raise IntegrityError("this is no ciphertext of the key, or it was altered")
    return vector
