"""A copy that is killed goes on where it was, and comes to the same end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.database_copy.conftest import Empty
from tests.database_copy.hospital import POLICY
from tests.database_copy.runs import copied, execute, rows

from shoal.errors import InputError

KILLED = """
import os, signal, sys
from pathlib import Path
from shoal.database_copy import CopyRequest, DatabaseCopy
from shoal.io.database_schemas import schema_target, dump_target
from shoal.policy.multi_table import any_from_text

source, target, output, at = sys.argv[1:5]
seen = 0

def dying(call):
    def at_a_moment(*given, **named):
        global seen
        seen += 1
        if seen == int(at):
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*given, **named)
    return at_a_moment

schema_target.run = dying(schema_target.run)
schema_target.copy_text = dying(schema_target.copy_text)
dump_target.write_atomic = dying(dump_target.write_atomic)
dump_target.atomic_path = dying(dump_target.atomic_path)
policy = any_from_text(Path(sys.argv[5]).read_text())
DatabaseCopy(CopyRequest(policy=policy, source=source, target=target, output=Path(output))).execute()
"""
TABLES = ("patients", "visits", "dispensings", "referrals", "doctors")


def killed(source: str, target: str, folder: Path, at: int) -> bool:
    """Whether the copy died at its n-th statement; else it came to its end before."""
    (folder / "policy.yaml").write_text(POLICY)
    given = [source, target, str(folder / "account.json"), str(at), str(folder / "policy.yaml")]
    ran = subprocess.run([sys.executable, "-c", KILLED, *given], capture_output=True, check=False, env={**os.environ})
    assert ran.returncode in {0, -signal.SIGKILL}, ran.stderr.decode()
    return ran.returncode != 0


def finished(source: str, target: str, folder: Path) -> None:
    account = copied(source, target, folder, seed=None)
    assert account.resumed
    assert {path.name for path in folder.iterdir()} == {"account.json", "policy.yaml"}


@pytest.mark.requirement("D-01")
@pytest.mark.parametrize("moments", [(3, 9, 16)])
def test_after_a_kill_it_goes_on(
    kind: str, hospital: str, empty: Empty, tmp_path: Path, moments: tuple[int, ...]
) -> None:
    """Killed again and again, further each time."""
    target = empty(kind)
    assert [killed(hospital, target, tmp_path, at) for at in moments] == [True] * len(moments)
    assert not (tmp_path / "account.json").exists()
    state = tmp_path / ".account.json.unfinished"
    assert state.stat().st_mode & 0o077 == 0
    assert not any(secret in state.read_text() for secret in ("Surname", "INS-", "pa%2Fss"))
    finished(hospital, target, tmp_path)
    for table in TABLES:
        query = f"SELECT count(*) FROM {table}"  # noqa: S608  # our own names
        assert rows(target, query) == rows(hospital, query)
    joined = "SELECT count(*) FROM visits v JOIN patients p ON p.id = v.patient JOIN doctors d ON d.id = v.doctor"
    assert rows(target, joined) == rows(hospital, joined)


@pytest.mark.slow
@pytest.mark.parametrize("at", range(2, 60, 3))
def test_after_a_kill_at_any_statement_it_goes_on(
    kind: str, hospital: str, empty: Empty, tmp_path: Path, at: int
) -> None:
    target = empty(kind)
    if killed(hospital, target, tmp_path, at):
        finished(hospital, target, tmp_path)
    query = "SELECT count(*) FROM dispensings d JOIN prescriptions p ON p.visit = d.visit AND p.line = d.line"
    assert rows(target, query) == rows(hospital, query)


def test_a_file_goes_on_too(small: str, tmp_path: Path) -> None:
    target = tmp_path / "copy.sql"
    assert killed(small, str(target), tmp_path, 12)
    assert not target.exists()
    account = copied(small, str(target), tmp_path, seed=None)
    assert account.resumed
    assert target.read_text().count("CREATE TABLE") == 12
    assert {path.name for path in tmp_path.iterdir()} == {"account.json", "policy.yaml", "copy.sql"}


def test_what_it_was_begun_with_must_be_the_same(small: str, empty: Empty, tmp_path: Path) -> None:
    target = empty("sqlite")
    assert killed(small, target, tmp_path, 8)
    with pytest.raises(InputError, match="begun with another policy"):
        copied(small, target, tmp_path, POLICY.replace("days: 30", "days: 10"), seed=None)
    with pytest.raises(InputError, match="begun with another sample"):
        copied(small, target, tmp_path, seed=None, sample=0.5)
    changed = POLICY.replace("town: {role: quasi, technique: permute}", "town: suppress\n      area: {role: quasi}")
    execute(small, "ALTER TABLE patients ADD COLUMN area TEXT")
    with pytest.raises(InputError, match="doesn't name column"):
        copied(small, target, tmp_path, seed=None)
    account = copied(small, target, tmp_path, changed, seed=None, restart=True)
    assert not account.resumed
    assert rows(target, "SELECT count(*) FROM patients") == [(60,)]
