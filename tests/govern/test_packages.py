"""Packages for recipients: opened whole by who may, refused whole otherwise, recorded (G-03)."""

from __future__ import annotations

import io
import shutil
import tarfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.govern.conftest import AGREEMENT, FORM, Do, complete_steps, enter_release, open_project
from tests.support.commands import Call, in_process

from shoal.crypto.age_files import AgeIdentity, open_stream, seal_stream
from shoal.errors import InputError, IntegrityError, TargetError
from shoal.govern.packages import pack_release, unpack_release

pytestmark = pytest.mark.requirement("G-03")
WORDS = "a long enough phrase"


@pytest.fixture(scope="module")
def mine() -> AgeIdentity:
    return AgeIdentity.new()


@pytest.fixture(scope="module")
def package(released: Path, mine: AgeIdentity) -> Path:
    return pack_release(released, released.parent / "out.age", recipient=mine.recipient).path


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_what_was_packed_comes_out(released: Path, package: Path, mine: AgeIdentity, tmp_path: Path) -> None:
    assert contents(unpack_release(package, tmp_path / "back", mine)) == contents(released)
    assert not any(content in package.read_bytes() for content in contents(released).values())


def test_a_passphrase_opens_the_key_that_opens_the_package(released: Path, tmp_path: Path) -> None:
    made = pack_release(released, tmp_path / "out.age", passphrase=WORDS)
    assert made.key_file is not None
    identity = AgeIdentity.unsealed(made.key_file.read_bytes(), WORDS)
    assert contents(unpack_release(made.path, tmp_path / "back", identity)) == contents(released)
    with pytest.raises(IntegrityError):
        AgeIdentity.unsealed(made.key_file.read_bytes(), WORDS + "!")
    with pytest.raises(InputError, match="12 characters"):
        pack_release(released, tmp_path / "short.age", passphrase=WORDS[:11])
    assert not (tmp_path / "short.age").exists()


def test_a_foreign_key_opens_nothing(package: Path, tmp_path: Path) -> None:
    with pytest.raises(IntegrityError, match="does not open it"):
        unpack_release(package, tmp_path / "back", AgeIdentity.new())
    assert not (tmp_path / "back").exists()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_one_flipped_bit_is_seen(package: Path, mine: AgeIdentity, tmp_path: Path, place: float, bit: int) -> None:
    raw = bytearray(package.read_bytes())
    raw[int(place * len(raw))] ^= 1 << bit
    changed = tmp_path / "changed.age"
    changed.write_bytes(raw)
    with pytest.raises(IntegrityError):
        unpack_release(changed, tmp_path / "back", mine)
    assert not (tmp_path / "back").exists()


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
def test_one_that_was_cut_off_is_seen(package: Path, mine: AgeIdentity, tmp_path: Path, share: float) -> None:
    raw = package.read_bytes()
    (tmp_path / "cut.age").write_bytes(raw[: int(share * len(raw))])
    with pytest.raises(IntegrityError):
        unpack_release(tmp_path / "cut.age", tmp_path / "back", mine)


@pytest.mark.parametrize("name", ["../outside", "/outside", "a/../../outside"])
def test_nothing_is_written_outside(mine: AgeIdentity, tmp_path: Path, name: str) -> None:
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as archive:
        archive.addfile(tarfile.TarInfo(name), io.BytesIO())
    with (tmp_path / "evil.age").open("wb") as sealed:
        seal_stream(io.BytesIO(plain.getvalue()), sealed, (mine.recipient,))
    with pytest.raises(IntegrityError, match="no file of a release"):
        unpack_release(tmp_path / "evil.age", tmp_path / "back", mine)
    assert {path.name for path in tmp_path.iterdir()} == {"evil.age"}


def test_other_programs_of_the_format_open_it(package: Path, mine: AgeIdentity) -> None:
    """The header is that of the format, and its content a plain archive."""
    assert package.read_bytes().startswith(b"age-encryption.org/v1\n-> X25519 ")
    plain = io.BytesIO()
    with package.open("rb") as sealed:
        open_stream(sealed, plain, mine)
    with tarfile.open(fileobj=io.BytesIO(plain.getvalue())) as archive:
        assert "release.json" in archive.getnames()


def test_a_changed_release_is_not_packed(released: Path, mine: AgeIdentity, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(released, tmp_path / "copy"))
    (copy / "data.csv").write_text("other\n")
    with pytest.raises(IntegrityError, match="not what was released"):
        pack_release(copy, tmp_path / "out.age", recipient=mine.recipient)
    (tmp_path / "there.age").write_text("x")
    with pytest.raises(TargetError, match="exists"):
        pack_release(released, tmp_path / "there.age", recipient=mine.recipient)


FACTS = {
    "request": "R-1", "release": "2026-q1", "sha256": "1" * 64, "data_sha256": "b" * 64, "recipient": "abcd",
    "channel": "sftp",
}  # fmt: skip


def test_it_is_recorded_for_a_request_that_was_agreed_on(do: Do) -> None:
    open_project(do)
    complete_steps(do)
    enter_release(do)
    do("manager", "request.submit", "R-1", project="hospital", **FORM)
    with pytest.raises(InputError, match="nothing is packed for it"):
        do("data-manager", "package.pack", "K-1", **FACTS, sealing="recipient-key")
    do("chief-investigator", "request.review", "R-1")
    do("co-director", "request.approve", "R-1")
    do("manager", "request.agree", "R-1", **AGREEMENT)
    with pytest.raises(InputError, match="not what was entered"):
        do("data-manager", "package.pack", "K-1", **{**FACTS, "data_sha256": "0" * 64}, sealing="recipient-key")
    for apart in ("", "SFTP "):
        with pytest.raises(InputError, match="another way"):
            do("data-manager", "package.pack", "K-1", **FACTS, sealing="passphrase", key_channel=apart)
    do("data-manager", "package.pack", "K-1", **FACTS, sealing="passphrase", key_channel="telephone")


def test_what_may_not_be_delivered_is_not_packed(do: Do) -> None:
    open_project(do)
    complete_steps(do)
    enter_release(do, k=2)
    do("manager", "request.submit", "R-1", project="hospital", **FORM)
    do("chief-investigator", "request.review", "R-1")
    do("co-director", "request.approve", "R-1")
    do("manager", "request.agree", "R-1", **AGREEMENT)
    with pytest.raises(InputError, match="has k 2"):
        do("data-manager", "package.pack", "K-1", **FACTS, sealing="recipient-key")
    do("data-manager", "release.enter", "2026-q2", project="hospital", k=5, data_sha256="c" * 64)
    do("chief-investigator", "project.reopen", "hospital", step=12, reason="new attacks")
    better = {**FACTS, "release": "2026-q2", "data_sha256": "c" * 64, "sealing": "recipient-key"}
    with pytest.raises(InputError, match="step 12"):
        do("data-manager", "package.pack", "K-1", **better)
    for step in range(12, 16):
        do("chief-investigator", "project.complete", "hospital", step=step, note="done again")
    assert do("data-manager", "package.pack", "K-1", **better).status == "packed"


def test_on_the_command_line(
    released: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    shoal: Call = in_process(monkeypatch, capfd)
    assert shoal("unpack", "--new-key", "mine.key").code == 0
    assert shoal("pack", str(released), "-o", "out.age", "--to", "mine.key.pub").code == 0
    assert shoal("unpack", "out.age", "-o", "back", "--key", "mine.key").code == 0
    assert contents(tmp_path / "back") == contents(released)
    shoal("unpack", "--new-key", "other.key")
    wrong = shoal("unpack", "out.age", "-o", "again", "--key", "other.key")
    assert (wrong.code, "does not open it" in wrong.stderr) == (1, True)
    for words in (["--to", "nobody.pub"], [], ["--to", "mine.key.pub", "--request", "R-1"]):
        bad = shoal("pack", str(released), "-o", "bad.age", *words)
        assert (bad.code, bad.stderr.count("\n")) == (2, 1), bad.stderr
    assert not (tmp_path / "bad.age").exists()
