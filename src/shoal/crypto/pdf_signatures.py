"""Signed PDF: a reader of PDF shows whether it is as it was signed; who has the public key can tell by whom.

Readers of PDF know no Ed25519 as yet. So each document is signed by a key of its own (ECDSA, P-256) that is made for
it, certified by the signer's Ed25519 key, and forgotten. Any reader checks the signature; that the signer certified the
document's key is checked here, with the same public key as for certificates and checkpoints.
"""

from __future__ import annotations

import datetime
import io
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from shoal.crypto.keys import Key
from shoal.crypto.signatures import check_signature, public_key
from shoal.errors import InputError, IntegrityError, install_advice
from shoal.randomness import random_bytes

if TYPE_CHECKING:
    from asn1crypto.x509 import Certificate
    from pyhanko.sign.validation import EmbeddedPdfSignature

Result = TypeVar("Result")
FIELD: Final = "Shoal"
_ORDER: Final = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
"""How many points the curve P-256 has."""
_FROM: Final = datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC)
_WITHOUT_END: Final = datetime.datetime(9999, 12, 31, 23, 59, 59, tzinfo=datetime.UTC)
"""Who trusts a key trusts it until told otherwise: no date in a certificate says more (RFC 5280, 4.1.2.5)."""


@dataclass(frozen=True)
class PdfSigner:
    """What the signature of a PDF has shown; it raises where it can't."""

    public: bytes
    name: str
    """What the signer said they are called."""
    signed_at: str
    """What the signer's clock said."""
    trusted: bool
    """Whether a key that was given certified it; otherwise only that nothing was changed since is shown."""


def signed_pdf(pdf: bytes, key: Key, name: str, reason: str = "") -> bytes:
    """The PDF with a signature over all of it. One that has a signature already is refused: print it again."""
    _require_library()
    from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
    from pyhanko.pdf_utils.misc import PdfError
    from pyhanko.sign import signers
    from pyhanko_certvalidator.registry import SimpleCertificateStore

    made, leaf, root = _one_time_key(key, name)
    certificates = SimpleCertificateStore.from_certs([leaf, root])  # type: ignore[no-untyped-call]  # no stubs
    signer = signers.SimpleSigner(signing_cert=leaf, signing_key=made, cert_registry=certificates)
    told = signers.PdfSignatureMetadata(field_name=FIELD, name=name, reason=reason or None, md_algorithm="sha256")
    try:
        writer = IncrementalPdfFileWriter(io.BytesIO(pdf))
        if writer.prev.embedded_signatures:
            raise InputError("there is a signature under it already: print it again, and sign that")
        signed = _apart(partial(signers.PdfSigner(told, signer=signer).sign_pdf, writer))
        return bytes(signed.getbuffer())
    except (PdfError, ValueError, KeyError, TypeError):
        raise InputError("this is no PDF that can be signed") from None


def check_signed_pdf(pdf: bytes, trusted: Collection[bytes] = ()) -> PdfSigner:
    """Who signed a PDF that has one signature, over all of it; an IntegrityError says what does not hold."""
    _require_library()
    try:
        signature, fits = _signature_in(pdf)
        leaf, issuers = signature.signer_cert, signature.other_embedded_certs
        signed_at = signature.self_reported_timestamp
    except IntegrityError:
        raise
    except Exception:  # noqa: BLE001  # whatever a reader of damaged files runs into
        raise IntegrityError("the PDF is damaged, or its signature is") from None
    if not fits:
        raise IntegrityError("the PDF was changed after it was signed")
    public = _certified_by(leaf, issuers, trusted)
    name = str(leaf.subject.native.get("common_name", ""))
    told = "" if signed_at is None else signed_at.astimezone(datetime.UTC).isoformat(timespec="seconds")
    return PdfSigner(public, name, told, bool(trusted))


def _apart(work: Callable[[], Result]) -> Result:
    """In a thread of its own: the library starts an event loop, where a notebook or a server has one already."""
    with ThreadPoolExecutor(1) as apart:
        return apart.submit(work).result()


def _signature_in(pdf: bytes) -> tuple[EmbeddedPdfSignature, bool]:
    """The only signature, and whether it fits every byte of the file."""
    from pyhanko.pdf_utils.reader import PdfFileReader
    from pyhanko.sign.diff_analysis import ModificationLevel
    from pyhanko.sign.validation import SignatureCoverageLevel, validate_pdf_signature
    from pyhanko_certvalidator import ValidationContext

    found = PdfFileReader(io.BytesIO(pdf)).embedded_signatures
    if not found:
        raise IntegrityError("the PDF is not signed")
    if len(found) > 1:
        raise IntegrityError("the PDF has more than one signature")
    context = ValidationContext(trust_roots=[found[0].signer_cert], allow_fetching=False)
    status = _apart(partial(validate_pdf_signature, found[0], context))
    whole = status.coverage is SignatureCoverageLevel.ENTIRE_FILE
    untouched = status.modification_level is ModificationLevel.NONE
    return found[0], bool(status.intact and status.valid and whole and untouched)


def _certified_by(leaf: Certificate, issuers: list[Certificate], trusted: Collection[bytes]) -> bytes:
    """The Ed25519 key that certified the document's own key: one of the trusted, where any are given."""
    if not trusted:
        trusted = [known for one in issuers if (known := _ed25519_in(one)) is not None]
    certificate = x509.load_der_x509_certificate(leaf.dump())
    for public in trusted:
        try:
            check_signature(public, certificate.signature, certificate.tbs_certificate_bytes)
        except IntegrityError:
            continue
        return public
    raise IntegrityError("the PDF is not signed by the key that was given")


def _ed25519_in(certificate: Certificate) -> bytes | None:
    try:
        key = x509.load_der_x509_certificate(certificate.dump()).public_key()
    except ValueError:
        return None
    return key.public_bytes_raw() if isinstance(key, Ed25519PublicKey) else None


def _one_time_key(key: Key, name: str) -> tuple[Any, Certificate, Certificate]:
    """A key for one document, its certificate by the signer's key, and the certificate of that, by itself."""
    from asn1crypto.keys import PrivateKeyInfo
    from asn1crypto.x509 import Certificate

    once = ec.derive_private_key(int.from_bytes(random_bytes(48)) % (_ORDER - 1) + 1, ec.SECP256R1())
    signer = Ed25519PrivateKey.from_private_bytes(key.material)
    issuer = _named(f"Shoal signing key {public_key(key).hex()[:16]}")
    leaf = _certificate(_named(name), issuer, once.public_key(), signer, authority=False)
    root = _certificate(issuer, issuer, signer.public_key(), signer, authority=True)
    made = PrivateKeyInfo.load(once.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption()))
    return made, Certificate.load(leaf), Certificate.load(root)


def _named(name: str) -> x509.Name:
    if not 1 <= len(name) <= 64:
        raise InputError("the name of who signs has 1 to 64 characters", field="name")
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])


def _certificate(
    subject: x509.Name,
    issuer: x509.Name,
    public: ec.EllipticCurvePublicKey | Ed25519PublicKey,
    signer: Ed25519PrivateKey,
    *,
    authority: bool,
) -> bytes:
    usage = dict.fromkeys(
        ("key_encipherment", "data_encipherment", "key_agreement", "crl_sign", "encipher_only", "decipher_only"), False
    )
    builder = (
        x509.CertificateBuilder(issuer, subject, public)
        .serial_number(int.from_bytes(random_bytes(16)) >> 1 or 1)
        .not_valid_before(_FROM)
        .not_valid_after(_WITHOUT_END)
        .add_extension(x509.BasicConstraints(authority, None), critical=True)
        .add_extension(
            x509.KeyUsage(
                digital_signature=not authority, content_commitment=not authority, key_cert_sign=authority, **usage
            ),
            critical=True,
        )
    )
    return builder.sign(signer, None).public_bytes(Encoding.DER)


def _require_library() -> None:
    try:
        import pyhanko  # noqa: F401
    except ModuleNotFoundError:
        raise InputError("to sign a PDF or to check one needs pyHanko", advice=install_advice("sign")) from None
