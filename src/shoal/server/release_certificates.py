"""Certificates of the studio's releases: signed by a key of its own, checked against the files that are there now."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from shoal.crypto import Key
from shoal.crypto.signatures import public_key
from shoal.crypto.signing_keys import public_key_pem, signing_key_in, signing_key_pem
from shoal.errors import InputError, IntegrityError
from shoal.govern.certificates import CERTIFICATE, certify, fingerprint, verify_release
from shoal.io.atomic.file_replacement import new_file
from shoal.randomness import random_bytes
from shoal.results.release_folder import ReleaseFolder
from shoal.server.access.sessions import Principal
from shoal.server.store.tables import RELEASES
from shoal.server.web.parts import StudioParts


@dataclass(frozen=True)
class CertificateCheck:
    """Whether the release is as it was certified, and if not, what was changed."""

    intact: bool
    problem: str = ""
    issued: str = ""
    files: int = 0


def signing_key(place: Path) -> Key:
    """The studio's own, made when it is first needed; of two processes that make one, the first is right."""
    if not place.exists():
        beside = place.with_name(f"{place.name}.{random_bytes(8).hex()}")
        with new_file(beside, private=True) as file:
            file.write(signing_key_pem(Key.new()).decode())
        try:
            place.hardlink_to(beside)
        except FileExistsError:
            pass
        finally:
            beside.unlink()
    return signing_key_in(place.read_bytes())


def public_pem(place: Path) -> bytes:
    """With what `shoal verify RELEASE --key` checks."""
    return public_key_pem(public_key(signing_key(place)))


def key_fingerprint(place: Path) -> str:
    return fingerprint(public_key(signing_key(place)))


def is_certified(folder: Path) -> bool:
    return (folder / CERTIFICATE).is_file()


def certify_release(parts: StudioParts, who: Principal, release: str) -> None:
    """``certificate.json`` into the folder of a release of theirs, over all its files as they are now."""
    folder = parts.home.release(parts.own(RELEASES, who, release)["id"])
    manifest = ReleaseFolder.at(str(folder)).manifest
    certify(folder, signing_key(parts.home.signing_key), name="" if manifest is None else manifest.name)


def check_certificate(parts: StudioParts, who: Principal, release: str) -> CertificateCheck:
    folder = parts.home.release(parts.own(RELEASES, who, release)["id"])
    if not is_certified(folder):
        raise InputError("the release is not certified yet")
    try:
        found = verify_release(folder, (public_key(signing_key(parts.home.signing_key)),))
    except IntegrityError as error:
        return CertificateCheck(intact=False, problem=str(error))
    return CertificateCheck(intact=True, issued=found.issued, files=found.files)
