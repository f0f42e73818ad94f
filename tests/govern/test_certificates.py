"""Certificates: a recipient sees any change offline, and by whom it was signed; other tools can check it too (G-09)."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pikepdf
import pytest
import yaml
from tests.support.commands import Call

from shoal.crypto import Key
from shoal.crypto.signatures import public_key
from shoal.crypto.signing_keys import public_key_in, public_key_pem, signing_key_in, signing_key_pem
from shoal.errors import AccessError, InputError, IntegrityError, SourceError
from shoal.govern.certificates import CERTIFICATE, certify, verify_pdf_file, verify_release
from shoal.govern.release_entry import release_figures
from shoal.report.pdf import BROWSERS

pytestmark = pytest.mark.requirement("G-09", "G-04")
KEY = Key(bytes(range(32)))
TRUSTED = (public_key(KEY),)


@pytest.fixture
def release(released: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "release"
    shutil.copytree(released, copy)
    certify(copy, KEY)
    return copy


def test_what_was_certified_is_intact(release: Path) -> None:
    found = verify_release(release, TRUSTED)
    assert found.trusted and found.figures["k"] == 10 and found.figures["rows"] == 40
    assert found.files == len([path for path in release.rglob("*") if path.is_file()]) - 1
    assert not verify_release(release).trusted


def _append(release: Path) -> None:
    with (release / "release.json").open("a") as file:
        file.write(" ")


def _remove(release: Path) -> None:
    (release / "report.html").unlink()


def _add(release: Path) -> None:
    (release / "more.csv").write_text("a\n1\n")


def _swap(release: Path) -> None:
    data = next(release.glob("*.csv"))
    lines = data.read_text().splitlines()
    data.write_text("\n".join([lines[0], *reversed(lines[1:])]) + "\n")


def _forge(release: Path) -> None:
    """The statement changed, the signature left."""
    path = release / CERTIFICATE
    envelope = json.loads(path.read_text())
    statement = json.loads(base64.b64decode(envelope["payload"]))
    statement["predicate"]["figures"]["k"] = 50
    envelope["payload"] = base64.b64encode(json.dumps(statement).encode()).decode()
    path.write_text(json.dumps(envelope))


def _sign_anew(release: Path) -> None:
    """Everything consistent, by another key."""
    _add(release)
    certify(release, Key(bytes(32)))


def _break(release: Path) -> None:
    (release / CERTIFICATE).write_text("{")


def _other_statement(release: Path) -> None:
    path = release / CERTIFICATE
    envelope = json.loads(path.read_text())
    path.write_text(json.dumps({**envelope, "payload": "e30=", "signatures": []}))


def _link_a_folder(release: Path) -> None:
    aside = release.parent / "aside"
    aside.mkdir()
    (aside / "more.csv").write_text("a\n1\n")
    (release / "further").symlink_to(aside, target_is_directory=True)


def _link_the_data(release: Path) -> None:
    """The same bytes, which somebody can exchange later."""
    data = next(release.glob("*.csv"))
    data.symlink_to(data.rename(release.parent / "elsewhere.csv"))


def _pipe(release: Path) -> None:
    os.mkfifo(release / "pipe")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_link_a_folder, "'further' is a link or no file"),
        (_link_the_data, "is a link or no file"),
        (_pipe, "'pipe' is a link or no file"),
        (_append, "'release.json' was changed"),
        (_remove, "'report.html' is missing"),
        (_add, "'more.csv' was added"),
        (_swap, "was changed"),
        (_forge, "signature"),
        (_sign_anew, "not signed by the key that was given"),
        (_break, "is no certificate"),
        (_other_statement, "not signed by the key that was given"),
    ],
)
def test_any_change_is_seen(release: Path, change: Callable[[Path], None], said: str) -> None:
    change(release)
    with pytest.raises(IntegrityError, match=said):
        verify_release(release, TRUSTED)


def test_every_flipped_byte_of_the_certificate_is_seen_or_harmless(release: Path) -> None:
    path = release / CERTIFICATE
    whole = path.read_bytes()
    honest = verify_release(release, TRUSTED)
    for place in range(0, len(whole), 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        try:
            found = verify_release(release, TRUSTED)
        except IntegrityError:
            continue
        assert found == honest  # white space, or a key that nobody reads
    path.write_bytes(whole)


def test_the_policy_that_it_was_made_by(tmp_path: Path, shoal: Call) -> None:
    """Line ends aside, any change of it is seen."""
    policy = {
        "shoal": 1,
        "name": "people",
        "person": "id",
        "attributes": {"id": "suppress", "age": {"role": "quasi"}, "ward": "suppress"},
        "privacy": [{"k_anonymity": {"k": 5}}],
    }
    path = tmp_path / "policy.yaml"
    path.write_text(yaml.safe_dump(policy))
    for line in (
        "run policy.yaml -i patients.csv -o release --project hospital --by chan",
        "register keys -o devi.pem",
        "register certify release --key devi.pem",
    ):
        assert shoal(*line.split()).code == 0, line
    check = ["verify", "release", "--key", "devi.pem.pub", "--policy", "policy.yaml"]
    assert shoal(*check).code == 0
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert shoal(*check).code == 0
    path.write_bytes(path.read_bytes().replace(b"k: 5", b"k: 4"))
    told = shoal(*check)
    assert (told.code, "not the policy that the release was made by" in told.stdout) == (1, True)
    assert shoal("verify", "registry.db", "--policy", "policy.yaml").code == 2
    assert shoal("verify", "release", "--policy", "none.yaml").code == 2


def test_openssl_agrees(release: Path, tmp_path: Path) -> None:
    """The signature is over what DSSE says, checked by other hands."""
    if shutil.which("openssl") is None:
        pytest.skip("OPENSSL ABSENT: the signature is checked by our own hands only (apt-get install openssl)")
    envelope = json.loads((release / CERTIFICATE).read_text())
    payload = base64.b64decode(envelope["payload"])
    kind = envelope["payloadType"].encode()
    (tmp_path / "message").write_bytes(b" ".join([b"DSSEv1", b"%d" % len(kind), kind, b"%d" % len(payload), payload]))
    (tmp_path / "signature").write_bytes(base64.b64decode(envelope["signatures"][0]["sig"]))
    (tmp_path / "key.pub").write_bytes(public_key_pem(TRUSTED[0]))
    command = ["openssl", "pkeyutl", "-verify", "-pubin", "-rawin"]
    files = ["-inkey", "key.pub", "-in", "message", "-sigfile", "signature"]
    done = subprocess.run([*command, *files], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_no_value_and_no_place_stands_in_a_certificate(release: Path) -> None:
    statement = base64.b64decode(json.loads((release / CERTIFICATE).read_text())["payload"]).decode()
    assert "n1" not in json.loads(statement)["predicate"]["figures"]
    assert str(release.parent) not in statement


def test_a_release_that_was_changed_is_not_certified(release: Path) -> None:
    _swap(release)
    with pytest.raises(IntegrityError, match="not what was released"):
        certify(release, KEY)
    with pytest.raises(SourceError, match="is no release folder"):
        release_figures(release.parent)


def test_keys_as_files() -> None:
    assert signing_key_in(signing_key_pem(KEY)).material == KEY.material
    sealed = signing_key_pem(KEY, "a long sentence")
    assert signing_key_in(sealed, "a long sentence").material == KEY.material
    for passphrase in (None, "another sentence"):
        with pytest.raises(AccessError):
            signing_key_in(sealed, passphrase)
    assert public_key_in(public_key_pem(TRUSTED[0])) == TRUSTED[0]
    for pem in (b"", b"hello", signing_key_pem(KEY)):
        with pytest.raises(InputError):
            public_key_in(pem)


@pytest.fixture
def with_report(released: Path, tmp_path: Path) -> Path:
    """A release whose report was printed already, by whatever program."""
    pytest.importorskip("pyhanko", reason="the extra `sign` is not installed")
    copy = tmp_path / "signed"
    shutil.copytree(released, copy)
    made = pikepdf.new()
    made.add_blank_page()
    made.save(copy / "report.pdf")
    return copy


@pytest.mark.requirement("R-10")
def test_the_report_is_signed_and_the_certificate_covers_it(with_report: Path) -> None:
    certify(with_report, KEY, signer="Devi")
    assert verify_pdf_file(with_report / "report.pdf", TRUSTED).name == "Devi"
    assert verify_release(with_report, TRUSTED).trusted
    with pytest.raises(InputError, match="signature under it already"):
        certify(with_report, KEY, signer="Devi")


@pytest.mark.requirement("R-10")
def test_a_report_that_nobody_printed_is_printed_first(released: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyhanko", reason="the extra `sign` is not installed")
    if not any(map(shutil.which, BROWSERS)):
        pytest.skip("no browser is installed")
    shutil.copytree(released, tmp_path / "release")
    certify(tmp_path / "release", KEY, signer="Devi")
    assert verify_pdf_file(tmp_path / "release" / "report.pdf", TRUSTED).trusted
    (tmp_path / "release" / "report.html").unlink()
    (tmp_path / "release" / "report.pdf").unlink()
    with pytest.raises(SourceError, match="no report"):
        certify(tmp_path / "release", KEY, signer="Devi")


@pytest.mark.requirement("R-10")
def test_signed_pdf_by_command_line(shoal: Call, with_report: Path, tmp_path: Path) -> None:
    report = str(with_report / "report.pdf")
    assert shoal("register", "keys", "-o", "devi.pem").code == 0
    assert shoal("register", "keys", "-o", "eve.pem").code == 0
    assert shoal("verify", report, "--key", "devi.pem.pub").code == 1
    assert shoal("register", "sign", report, "--key", "devi.pem", "--name", "Devi").code == 0
    told = shoal("verify", report, "--key", "devi.pem.pub")
    assert (told.code, "signed by Devi" in told.stdout) == (0, True)
    assert shoal("verify", report, "--key", "eve.pem.pub").code == 1
    again = shoal("register", "sign", report, "--key", "eve.pem", "--name", "Eve")
    assert (again.code, "signature under it already" in again.stderr) == (2, True)
    assert shoal("verify", "missing.pdf").code == 2
    with Path(report).open("ab") as file:
        file.write(b"% more\n")
    told = shoal("verify", report, "--key", "devi.pem.pub", "--json")
    assert (told.code, json.loads(told.stdout)["intact"]) == (1, False)
