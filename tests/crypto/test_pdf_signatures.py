"""Signed PDF: any changed byte is seen; other readers check it too; nobody passes for another signer (R-10)."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
from pathlib import Path
from random import Random

import pikepdf
import pytest
from tests.support.event_loops import in_own_loop

from shoal.crypto import Key
from shoal.crypto.pdf_signatures import check_signed_pdf, signed_pdf
from shoal.crypto.signatures import public_key
from shoal.errors import InputError, IntegrityError

pytest.importorskip("pyhanko", reason="the extra `sign` is not installed")
pytestmark = pytest.mark.requirement("R-10", "G-09")
KEY, OTHER = Key(bytes(range(32))), Key(bytes(32))
TRUSTED = (public_key(KEY),)


@pytest.fixture(scope="module")
def page() -> bytes:
    made, written = pikepdf.new(), io.BytesIO()
    made.add_blank_page()
    made.save(written)
    return written.getvalue()


@pytest.fixture(scope="module")
def signed(page: bytes) -> bytes:
    return signed_pdf(page, KEY, "Devi", "as it was released")


def test_it_is_told_who_signed(signed: bytes, page: bytes) -> None:
    found = check_signed_pdf(signed, TRUSTED)
    assert (found.name, found.public, found.trusted) == ("Devi", TRUSTED[0], True)
    assert found.signed_at.endswith("+00:00")
    assert signed.startswith(page), "what was printed is left as it was"
    unknown = check_signed_pdf(signed)
    assert (unknown.public, unknown.trusted) == (TRUSTED[0], False)


def test_in_a_notebook_too(page: bytes) -> None:
    """Where an event loop runs already."""

    async def both() -> bool:
        return check_signed_pdf(signed_pdf(page, KEY, "Devi"), TRUSTED).trusted

    assert in_own_loop(both())


def test_somebody_else_does_not_pass_for_the_signer(page: bytes, signed: bytes) -> None:
    forged = signed_pdf(page, OTHER, "Devi")
    with pytest.raises(IntegrityError, match="not signed by the key that was given"):
        check_signed_pdf(forged, TRUSTED)
    assert check_signed_pdf(signed, (public_key(OTHER), *TRUSTED)).public == TRUSTED[0]


def test_each_changed_byte_is_seen(signed: bytes) -> None:
    """Of the document; in the place of the signature either that, or the same is said of the same signer."""
    found = re.search(rb"/Contents\s*<(?=[0-9A-F]{99})", signed)
    assert found
    begins = found.end()
    ends = signed.index(b">", begins)
    draw, said = Random(20), check_signed_pdf(signed, TRUSTED)
    document = [*range(begins), *range(ends, len(signed))]
    for place in [*draw.sample(document, 120), *draw.sample(range(begins, ends), 60)]:
        changed = bytearray(signed)
        changed[place] ^= 1 << draw.randrange(8)
        try:
            read = check_signed_pdf(bytes(changed), TRUSTED)
        except IntegrityError:
            continue
        assert begins <= place < ends, place
        assert read == said, place


@pytest.mark.parametrize("cut", [0, 1, 100, 1000, 4000])
def test_what_is_cut_off_or_is_something_else_is_seen(signed: bytes, page: bytes, cut: int) -> None:
    for read in (signed[: len(signed) - cut - 1], signed[cut + 1 :], b"%PDF-1.7\n" * cut, bytes(cut)):
        with pytest.raises(IntegrityError):
            check_signed_pdf(read, TRUSTED)
    with pytest.raises(IntegrityError, match="is not signed"):
        check_signed_pdf(page, TRUSTED)


def test_what_is_added_after_the_signature_is_seen(signed: bytes) -> None:
    """As a reader of PDF adds it: a further page of changes, with what was signed left as it was."""
    from pyhanko.pdf_utils.generic import pdf_string
    from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter

    writer = IncrementalPdfFileWriter(io.BytesIO(signed))
    writer.root["/Lang"] = pdf_string("en")
    writer.update_root()
    added = io.BytesIO()
    writer.write(added)
    assert added.getvalue().startswith(signed)
    with pytest.raises(IntegrityError, match="changed after"):
        check_signed_pdf(added.getvalue(), TRUSTED)


def test_a_second_signature_and_what_is_no_pdf_are_refused(signed: bytes, page: bytes) -> None:
    with pytest.raises(InputError, match="signature under it already"):
        signed_pdf(signed, KEY, "Devi")
    for read in (b"", b"no PDF", page[:50]):
        with pytest.raises(InputError, match="no PDF"):
            signed_pdf(read, KEY, "Devi")
    for name in ("", "x" * 65):
        with pytest.raises(InputError, match="1 to 64"):
            signed_pdf(page, KEY, name)


def test_another_program_finds_it_valid(signed: bytes, tmp_path: Path) -> None:
    program = shutil.which("pdfsig")
    if program is None:
        pytest.skip("Poppler's pdfsig is not installed")
    (tmp_path / "signed.pdf").write_bytes(signed)
    told = subprocess.run([program, tmp_path / "signed.pdf"], capture_output=True, text=True, check=False).stdout
    assert "Signature is Valid" in told
    assert "Total document signed" in told
    assert "Common Name: Devi" in told
