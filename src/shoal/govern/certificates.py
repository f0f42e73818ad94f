"""Certificates of releases: what was released and with which figures, signed, so that who has it can check it offline.

An envelope as DSSE has it around a statement as in-toto has it, so that other tools can check it: the signature is one
over ``DSSEv1``, the type and the statement, each after its length. The subjects are the files of the folder with their
checksums; the predicate has figures and checksums from ``release.json``, and no value.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from shoal.crypto import Key
from shoal.crypto.signatures import check_signature, public_key, sign
from shoal.errors import IntegrityError, SourceError
from shoal.govern.release_entry import release_figures
from shoal.io import sha256_of, write_atomic
from shoal.ledger.entry import canonical_json
from shoal.policy.load import read_policy
from shoal.randomness import now

if TYPE_CHECKING:
    from shoal.crypto.pdf_signatures import PdfSigner

CERTIFICATE: Final = "certificate.json"
REPORT: Final = "report"
_PAYLOAD_TYPE: Final = "application/vnd.in-toto+json"
_STATEMENT: Final = "https://in-toto.io/Statement/v1"
_PREDICATE: Final = "urn:shoal:release-certificate:1"


@dataclass(frozen=True)
class CertifiedRelease:
    """What a certificate has shown; it raises where it can't."""

    name: str
    issued: str
    signer: str
    """The fingerprint of the key."""
    trusted: bool
    """Whether a key that was given has signed it; otherwise it only fits the key that stands in it."""
    files: int
    figures: Mapping[str, Any]


def fingerprint(public: bytes) -> str:
    """How people compare keys on the telephone.

    >>> fingerprint(bytes(32))
    '6668:7aad:f862:bd77'
    """
    digest = hashlib.sha256(public).hexdigest()[:16]
    return ":".join(digest[place : place + 4] for place in range(0, 16, 4))


def certify(folder: Path, key: Key, *, name: str = "", project: str = "", signer: str | None = None) -> Path:
    """Write ``certificate.json`` into a release folder. Whatever else is in the folder is covered by it.

    With the name of a ``signer`` the report is there as a signed PDF first.
    """
    figures = release_figures(folder)
    if signer is not None:
        signed_report(folder, key, signer)
    statement = {
        "_type": _STATEMENT,
        "subject": [{"name": file, "digest": {"sha256": sha256}} for file, sha256 in _files(folder).items()],
        "predicateType": _PREDICATE,
        "predicate": {
            "name": name or folder.resolve().name,
            "project": project,
            "issued": now().isoformat(timespec="seconds"),
            "figures": {each: value for each, value in figures.items() if each != "place"},
        },
    }
    payload = canonical_json(statement)
    public = public_key(key)
    envelope = {
        "payloadType": _PAYLOAD_TYPE,
        "payload": base64.b64encode(payload).decode(),
        "signatures": [{"keyid": public.hex(), "sig": base64.b64encode(sign(key, _signed(payload))).decode()}],
    }
    path = folder / CERTIFICATE
    write_atomic(path, json.dumps(envelope, indent=2) + "\n")
    return path


def signed_report(folder: Path, key: Key, signer: str) -> Path:
    """``report.pdf`` of a release folder, signed: the one that is there, else ``report.html`` printed."""
    from shoal.report.pdf import write_pdf

    pdf, html = folder / f"{REPORT}.pdf", folder / f"{REPORT}.html"
    if not pdf.is_file():
        if not html.is_file():
            raise SourceError(f"{folder}: has no report that could be signed")
        write_pdf(html, pdf)
    sign_pdf_file(pdf, key, signer)
    return pdf


def sign_pdf_file(pdf: Path, key: Key, signer: str, reason: str = "") -> None:
    """The signed PDF takes the place of the other, in one step."""
    from shoal.crypto.pdf_signatures import signed_pdf
    from shoal.io import write_atomic_bytes

    write_atomic_bytes(pdf, signed_pdf(_pdf_bytes(pdf), key, signer, reason))


def verify_pdf_file(pdf: Path, trusted: Collection[bytes] = ()) -> PdfSigner:
    from shoal.crypto.pdf_signatures import check_signed_pdf

    return check_signed_pdf(_pdf_bytes(pdf), trusted)


def _pdf_bytes(pdf: Path) -> bytes:
    try:
        return pdf.read_bytes()
    except OSError as error:
        raise SourceError(f"{pdf}: can't be read ({error.strerror})") from None


def verify_release(folder: Path, trusted: Collection[bytes] = (), *, policy: Path | None = None) -> CertifiedRelease:
    """The certificate of a folder against its files; an IntegrityError says what does not hold.

    Without a trusted key only changes are seen, not who made the certificate. A ``policy`` has to be the one that the
    release was made by.
    """
    envelope = _envelope(folder)
    payload, signer = _checked(envelope, trusted)
    statement = _statement(payload)
    certified = {one["name"]: one["digest"]["sha256"] for one in statement["subject"]}
    _compare(certified, _files(folder))
    told = statement["predicate"]
    if policy is not None and told["figures"].get("policy_sha256") != _policy_sha256(policy):
        raise IntegrityError(f"{policy}: is not the policy that the release was made by, or was changed since")
    return CertifiedRelease(
        str(told["name"]), str(told["issued"]), fingerprint(signer), bool(trusted), len(certified), told["figures"]
    )


def _signed(payload: bytes) -> bytes:
    kind = _PAYLOAD_TYPE.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def _policy_sha256(path: Path) -> str:
    """As a run takes it."""
    return hashlib.sha256(read_policy(path).encode()).hexdigest()


def _files(folder: Path) -> dict[str, str]:
    """All files below the folder but the certificate, by path. A link, or what is no file, can't be vouched for."""
    if not folder.is_dir():
        raise SourceError(f"{folder}: is no folder")
    found = sorted(path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())
    if odd := [path for path in found if path.is_symlink() or not path.is_file()]:
        name = odd[0].relative_to(folder).as_posix()
        raise IntegrityError(f"'{name}' is a link or no file: nobody can vouch for what it will lead to")
    names = {path.relative_to(folder).as_posix(): path for path in found}
    return {name: sha256_of(path) for name, path in names.items() if name != CERTIFICATE}


def _envelope(folder: Path) -> Mapping[str, Any]:
    path = folder / CERTIFICATE
    if not path.is_file():
        raise SourceError(f"{folder}: has no certificate")
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError):
        raise IntegrityError(f"{path}: is no certificate, or is damaged") from None
    if not isinstance(read, dict) or read.get("payloadType") != _PAYLOAD_TYPE:
        raise IntegrityError(f"{path}: is no certificate, or is damaged")
    return read


def _checked(envelope: Mapping[str, Any], trusted: Collection[bytes]) -> tuple[bytes, bytes]:
    """What was signed, and by which key: one that is trusted, where any is."""
    try:
        payload = base64.b64decode(envelope["payload"], validate=True)
        signatures = [
            (bytes.fromhex(one["keyid"]), base64.b64decode(one["sig"], validate=True)) for one in envelope["signatures"]
        ]
    except (KeyError, TypeError, ValueError, AttributeError, binascii.Error):
        raise IntegrityError("the certificate is damaged") from None
    for signer, signature in signatures:
        if not trusted or signer in trusted:
            check_signature(signer, signature, _signed(payload))
            return payload, signer
    raise IntegrityError("the certificate is not signed by the key that was given")


def _statement(payload: bytes) -> Mapping[str, Any]:
    try:
        read: dict[str, Any] = json.loads(payload)
        if read["predicateType"] != _PREDICATE or not isinstance(read["predicate"]["figures"], dict):
            raise IntegrityError("the certificate is about something else than a release")
        for one in read["subject"]:
            _ = one["name"], one["digest"]["sha256"]
        _ = read["predicate"]["name"], read["predicate"]["issued"]
    except (KeyError, TypeError, ValueError):
        raise IntegrityError("the certificate is damaged") from None
    return read


def _compare(certified: Mapping[str, str], found: Mapping[str, str]) -> None:
    if missing := sorted(set(certified) - set(found)):
        raise IntegrityError(f"'{missing[0]}' is missing: it was certified")
    if further := sorted(set(found) - set(certified)):
        raise IntegrityError(f"'{further[0]}' was added after the release was certified")
    if changed := sorted(name for name in certified if certified[name] != found[name]):
        raise IntegrityError(f"'{changed[0]}' was changed after the release was certified")
