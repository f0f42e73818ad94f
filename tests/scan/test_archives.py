"""What lies in archives and backups is found, and what can't be opened is listed."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import sqlite3
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pyarrow as pa
import pytest
from sqlalchemy import create_engine, make_url
from tests.servers import Server, postgres_programs

from shoal.scan import Scan, ScanGate, scan_places
from shoal.scan.annotators import annotate_by
from shoal.scan.archives import MOST_LAYERS, archive_kind, unpacking_folder
from shoal.scan.gates import unread_verdict

MAILS = "name,mail\n" + "".join(f"Person {n},person{n}@clinic.example\n" for n in range(20))


def scanned(*places: Path) -> Scan:
    return scan_places([str(place) for place in places], annotate_by(0.6))


def mails_in(found: Scan) -> dict[str, int]:
    return {one.source: one.count for one in found.findings if one.type == "email"}


def zipped(**parts: bytes) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name.replace("__", "/").replace("_dot_", "."), content)
    return written.getvalue()


def tarred(name: str, content: bytes) -> bytes:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w") as archive:
        entry = tarfile.TarInfo(name)
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
        link = tarfile.TarInfo("elsewhere")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    return written.getvalue()


PACKED = {
    "people.zip": zipped(folder__people_dot_csv=MAILS.encode()),
    "people.csv.gz": gzip.compress(MAILS.encode()),
    "people.csv.bz2": bz2.compress(MAILS.encode()),
    "people.csv.xz": lzma.compress(MAILS.encode()),
    "people.tar": tarred("a/people.csv", MAILS.encode()),
    "people.tgz": gzip.compress(tarred("people.csv", MAILS.encode())),
    "outer.zip": zipped(inner_dot_zip=zipped(people_dot_csv=MAILS.encode())),
}


@pytest.mark.requirement("D-02")
@pytest.mark.parametrize("name", PACKED)
def test_what_is_packed_is_found(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(PACKED[name])
    found = scanned(tmp_path)
    ((source, count),) = mails_in(found).items()
    assert source.startswith(f"{tmp_path / name}!")
    assert source.endswith("people.csv")
    assert count == 20
    assert not found.unread


def test_zstandard(tmp_path: Path) -> None:
    with pa.OSFile(str(tmp_path / "people.csv.zst"), "wb") as raw, pa.CompressedOutputStream(raw, "zstd") as stream:
        stream.write(MAILS.encode())
    assert mails_in(scanned(tmp_path)) == {f"{tmp_path}/people.csv.zst!people.csv": 20}


def test_a_database_and_a_dump_of_one(tmp_path: Path) -> None:
    place = tmp_path / "clinic.db"
    with sqlite3.connect(place) as database:
        database.execute("CREATE TABLE people (name TEXT, mail TEXT)")
        rows = [(f"Person {n}", f"person{n}@clinic.example") for n in range(20)]
        database.executemany("INSERT INTO people VALUES (?, ?)", rows)
    dumped = "\n".join(database.iterdump())
    database.close()
    (tmp_path / "backup.zip").write_bytes(zipped(clinic_dot_db=place.read_bytes(), dump_dot_sql=dumped.encode()))
    place.unlink()
    found = mails_in(scanned(tmp_path))
    assert found == {f"{tmp_path}/backup.zip!clinic.db#people": 20, f"{tmp_path}/backup.zip!dump.sql": 20}


@pytest.mark.requirement("D-02")
def test_what_cannot_be_opened_is_listed_and_shuts_the_gate(tmp_path: Path) -> None:
    content = zipped(people_dot_csv=MAILS.encode())
    for _ in range(MOST_LAYERS):
        content = zipped(inner_dot_zip=content)
    (tmp_path / "deep.zip").write_bytes(content)
    (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(MAILS.encode())[:-30])
    (tmp_path / "bomb.gz").write_bytes(gzip.compress(bytes(1 << 26)))
    (tmp_path / "dump.backup").write_bytes(b"PGDMP\x01\x0e\x00" + bytes(40))
    found = scanned(tmp_path)
    why = {one.source: one.why for one in found.unread}
    assert any("lies in 4 others already" in told for told in why.values())
    assert "damaged" in why[f"{tmp_path}/cut.csv.gz"]
    assert "more than is read" in why[f"{tmp_path}/bomb.gz"]
    assert f"{tmp_path}/dump.backup" in why
    assert not unread_verdict(found).met
    assert ScanGate.parse("none").judge(found).met


def test_an_encrypted_part_is_unread_and_the_others_are_read(tmp_path: Path) -> None:
    content = bytearray(zipped(people_dot_csv=MAILS.encode(), more_dot_csv=MAILS.encode()))
    for sign, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(sign) + place] |= 1
    (tmp_path / "half.zip").write_bytes(bytes(content))
    found = scanned(tmp_path)
    assert [one.why for one in found.unread] == ["it is encrypted"]
    assert list(mails_in(found)) == [f"{tmp_path}/half.zip!more.csv"]


def test_names_lead_nowhere(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "evil.tar").write_bytes(tarred("../../escaped.csv", MAILS.encode()))
    found = scanned(tmp_path / "in")
    assert list(mails_in(found)) == [f"{tmp_path}/in/evil.tar!escaped.csv"]
    assert found.skipped == (f"{tmp_path}/in/evil.tar!elsewhere",)
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    (tmp_path / "people.zip").write_bytes(PACKED["people.zip"])
    with unpacking_folder() as folder:
        assert folder.stat().st_mode & 0o077 == 0
    before = {path.name for path in folder.parent.glob(".shoal-scan*")}
    scanned(tmp_path)
    assert {path.name for path in folder.parent.glob(".shoal-scan*")} <= before


def test_documents_are_no_archives() -> None:
    assert archive_kind(b"name,mail\n") is None


@pytest.mark.server
@pytest.mark.requirement("D-02")
def test_a_backup_by_pg_dump(tmp_path: Path, postgres: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = postgres_programs()
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    engine = create_engine(make_url(postgres.url()).set(drivername="postgresql+psycopg"))
    rows = "INSERT INTO backed_up SELECT 'p' || n || '@clinic.example' FROM generate_series(1, 9) n"
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE backed_up (mail text)")
        connection.exec_driver_sql(rows)
    path = tmp_path / "clinic.backup"
    given = ["-Fc", "-t", "backed_up", "-f", str(path), postgres.url()]
    dumped = subprocess.run([programs / "pg_dump", *given], capture_output=True, check=False)
    with engine.begin() as connection:
        connection.exec_driver_sql("DROP TABLE backed_up")
    engine.dispose()
    assert dumped.returncode == 0, dumped.stderr
    assert mails_in(scanned(tmp_path)) == {f"{path}!clinic.sql": 9}
