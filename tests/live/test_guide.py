"""The guide to live masking, typed in on a real server: the analyst's world and the owner's, as the page shows them."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import make_url
from tests.live.conftest import LOGIN, PASSPHRASE, House
from tests.servers import postgres_programs

from shoal.vault import Vault

pytestmark = [pytest.mark.requirement("L-01", "L-04"), pytest.mark.server]

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "how-to" / "live-masking.md").read_text(encoding="utf-8")
PATIENTS = """CREATE TABLE patients (id int PRIMARY KEY, name text, phone text, age int, postal varchar(10),
    salary decimal(12, 2), diagnosis text, region text)"""
PEOPLE = """INSERT INTO patients VALUES (1, 'Asha Rao', '+65 6123 4567', 34, '411005', 41234.50, 'flu', 'north'),
    (2, 'Ravi Iyer', '+65 6987 1234', 91, '403001', 99950, 'asthma', 'south'),
    (3, 'Mei Tan', NULL, 28, '411028', 38700, 'flu', 'north'), (4, 'Tom Lim', '6555 0101', 67, '411999', 52010,
    'angina', 'north')"""
FILE = re.compile(r'^```yaml title="([\w.]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)
SESSION = re.compile(r"^```console\n(\$ (?:psql|shoal live plan).*?)^```$", re.MULTILINE | re.DOTALL)
PSEUDONYM = re.compile(r"\b[0-9A-Z]{26}\b")


class Terminal:
    """Where a reader of the page types: ``psql`` and ``shoal``, as whom the page says."""

    def __init__(self, house: House, vault_file: Path) -> None:
        self.place, self.folder = make_url(house.url), house.folder
        self.environment = os.environ | {
            "SHOAL_VAULT": str(vault_file),
            "SHOAL_VAULT_PERSON": "anita",
            "SHOAL_VAULT_PASSPHRASE": PASSPHRASE,
            "PGHOST": "127.0.0.1",
            "PGPORT": str(self.place.port),
            "PSQL_HISTORY": "/dev/null",
        }

    def types(self, session: str) -> None:
        for block in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]:
            command, _, rest = block.partition("\n")
            shown = [line for line in rest.splitlines() if line.strip() and not line.startswith("clinic=> ")]
            asked = "".join(f"{line}\n" for line in re.findall(r"^clinic=> (.*)$", rest, re.MULTILINE))
            self._shows(command, asked, shown)

    def _shows(self, command: str, asked: str, shown: list[str]) -> None:
        words, environment = shlex.split(command), dict(self.environment)
        if words[0] == "psql":
            who = words[words.index("-U") + 1]
            owner = who == "owner"
            environment["PGPASSWORD"] = str(self.place.password) if owner else LOGIN
            name, database = str(self.place.username) if owner else who, str(self.place.database)
            words = [str(postgres_programs() / "psql"), "-X", "-U", name, database, *words[words.index("clinic") + 1 :]]
        else:
            words = [sys.executable, "-m", "shoal", *words[1:]]
        done = subprocess.run(
            words, input=asked, capture_output=True, text=True, env=environment, cwd=self.folder, check=False
        )
        came = iter([PSEUDONYM.sub("…", line).rstrip() for line in (done.stdout + done.stderr).splitlines()])
        wanted = [PSEUDONYM.sub("…", line).rstrip() for line in shown]
        missing = [line for line in wanted if line not in came and not line.startswith("ERROR:")]
        assert missing == [], (command, done.stdout, done.stderr)
        assert [line for line in wanted if line.startswith("ERROR:")] == re.findall(
            r"^ERROR:.*$", done.stderr, re.MULTILINE
        )


def test_the_page_shows_what_comes_out(postgres_url: str, live_vault: Vault, vault_file: Path, tmp_path: Path) -> None:
    assert live_vault
    with House(postgres_url, tmp_path, live_vault) as house:
        house.own("DROP TABLE patients", PATIENTS, PEOPLE)
        for name, text in FILE.findall(PAGE):
            address = re.sub(r"postgresql://\S+", postgres_url, text)
            (tmp_path / name).write_text(address, encoding="utf-8")
        sessions = SESSION.findall(PAGE)
        assert len(sessions) == 4
        terminal = Terminal(house, vault_file)
        for session in sessions:
            terminal.types(session)
        assert house.ask("SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'shoal_%'") == [(0,)]
