"""Argon2id as RFC 9106 prints it, and the keys that are made with it."""

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

from shoal.crypto import Key
from shoal.crypto.passphrase import Effort, new_salt, stretch

pytestmark = pytest.mark.requirement("V-01")

QUICK = Effort(iterations=1, lanes=1, memory_kib=64)


def test_the_vector_of_rfc_9106() -> None:
    """RFC 9106, 5.3."""
    argon = Argon2id(
        salt=b"\x02" * 16, length=32, iterations=3, lanes=4, memory_cost=32, ad=b"\x04" * 12, secret=b"\x03" * 8
    )
    tag = argon.derive(b"\x01" * 32)
    assert tag.hex() == "0d640df58d78766c08c037a34a8b53c9d01ef0452d75b65eb52520e96b01e659"


def test_a_passphrase_gives_what_the_library_gives() -> None:
    salt = bytes(range(16))
    theirs = Argon2id(salt=salt, length=32, iterations=1, lanes=1, memory_cost=64).derive("grün".encode())
    assert stretch("grün", salt, QUICK) == Key(theirs)
    assert stretch("gru\u0308n", salt, QUICK) == Key(theirs), "typed on another keyboard"
    assert stretch("grun", salt, QUICK) != Key(theirs)
    assert new_salt() != new_salt()
