"""Files sealed for a recipient in the age format (X25519, ChaCha20-Poly1305 in authenticated pieces), in a stream.

Anybody can open them with other programs of that format. A passphrase never seals data itself: it seals a key that was
made for this one file, so that data is streamed in both cases, and the key is a file that can go another way.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import BinaryIO, Self

import pyrage

from shoal.errors import InputError, IntegrityError

_COMMENT = "#"
LEAST_PASSPHRASE = 12


@dataclass(frozen=True)
class AgeIdentity:
    """What opens files that were sealed for its recipient."""

    secret: str = field(repr=False)

    @classmethod
    def new(cls) -> Self:
        return cls(str(pyrage.x25519.Identity.generate()))

    @classmethod
    def read(cls, text: str) -> Self:
        lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith(_COMMENT)]
        try:
            return cls(str(pyrage.x25519.Identity.from_str(lines[0])))
        except (IndexError, pyrage.IdentityError):
            raise InputError("is no key of a recipient", field="key") from None

    @property
    def recipient(self) -> str:
        return str(pyrage.x25519.Identity.from_str(self.secret).to_public())

    def sealed(self, passphrase: str) -> bytes:
        """A small file of the same format that a passphrase opens."""
        if len(passphrase) < LEAST_PASSPHRASE:
            raise InputError(f"a passphrase has {LEAST_PASSPHRASE} characters at least")
        return bytes(pyrage.passphrase.encrypt(self.secret.encode(), passphrase))

    @classmethod
    def unsealed(cls, sealed: bytes, passphrase: str) -> Self:
        try:
            return cls.read(pyrage.passphrase.decrypt(sealed, passphrase).decode())
        except (pyrage.DecryptError, UnicodeDecodeError):
            raise IntegrityError("the passphrase does not open it, or it was changed") from None


def seal_stream(plain: BinaryIO, sealed: BinaryIO, recipients: tuple[str, ...]) -> None:
    try:
        known = [pyrage.x25519.Recipient.from_str(one) for one in recipients]
    except pyrage.RecipientError:
        raise InputError("is no public key of a recipient: it begins with age1", field="to") from None
    pyrage.encrypt_io(plain, sealed, known)


def open_stream(sealed: BinaryIO, plain: BinaryIO, identity: AgeIdentity) -> None:
    """What comes out before an error is authentic, but not all of it: the caller throws it away."""
    try:
        pyrage.decrypt_io(sealed, plain, [pyrage.x25519.Identity.from_str(identity.secret)])
    except (pyrage.DecryptError, OSError, ValueError):
        raise IntegrityError("the key does not open it, or it was changed") from None
