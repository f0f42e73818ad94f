"""Secrets that are marked in the input are in no output but where they belong: the released data.

Every command runs as users run it, on a table whose every value can be recognised. What they print, write and leave
behind is searched for the marks.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path

import polars as pl
import pytest

pytestmark = pytest.mark.requirement("V-05", "R-10")

MARK = "ZEBRA"
"""In every text of the input, and in no text of the product."""
SEED = 918_273_645_546_371
PASSWORD = "OKAPI7731secret"  # noqa: S105  # it opens nothing
ROWS = 240

POLICY = """\
shoal: 1
name: clinic
source: clinic.csv
person: patient
attributes:
  patient: {role: direct}
  name: {role: direct}
  phone: {role: direct, technique: {mask: {keep_last: 2}}}
  income: {role: quasi, hierarchy: {intervals: {widths: [200000, 800000]}}}
  town: {role: quasi, hierarchy: {csv: towns.csv}}
  pin: {role: quasi, hierarchy: {redact: {side: right, char: "x"}}}
  diagnosis: {role: sensitive}
  bill: {role: sensitive}
  visited: {role: insensitive}
  ward: {role: insensitive, technique: {permute: {}}}
  note: {role: insensitive}
privacy:
  - k_anonymity: {k: 3}
  - l_diversity: {attribute: diagnosis, kind: distinct, l: 2}
solve:
  suppression_limit: 0.2
  levels: {income: [1, 3], town: [1, 2], pin: [1, 8]}
assess: {harm: high, motive: low, controls: high, purpose: research, target: diagnosis}
"""


def clinic(first: int, rows: int) -> pl.DataFrame:
    places = range(first, first + rows)
    return pl.DataFrame(
        {
            "patient": [f"{MARK}-PERSON-{place}" for place in places],
            "name": [f"{MARK}-NAME <{place}> & Söhne" for place in places],
            "phone": [f"{918_240_600_000 + 7_919 * place}" for place in places],
            "income": [773_100_000_003 + 7_919 * (place * 37 % 401) for place in places],
            "town": [f"{MARK}-TOWN-{place % 8}" for place in places],
            "pin": [f"QX77{place * place % 7:02}{place % 13:02}" for place in places],
            "diagnosis": [f"{MARK}-DIAGNOSIS-{place * place % 5}" for place in places],
            "bill": [f"{884_200_000_017 + 104_729 * place}.25" for place in places],
            "visited": [f"{date(1871, 1, 2) + timedelta(days=31 * place)}" for place in places],
            "ward": [f"{MARK}-WARD-{place % 6}" for place in places],
            "note": [f"{MARK}-NOTE-{place}" if place % 3 else f"{MARK}-USUAL" for place in places],
        }
    )


TOWNS = "".join(f"{MARK}-TOWN-{place};{'north' if place < 4 else 'south'};*\n" for place in range(8))
AS_THEY_ARE = ("diagnosis", "bill", "visited", "ward", "note")
"""In the released data by intention, and nowhere else."""
GONE = ("patient", "name", "phone", "income", "town", "pin")


def marks(table: pl.DataFrame, columns: Iterable[str]) -> set[str]:
    """What to look for: the values, and numbers as a page would write them."""
    values = {str(value) for name in columns for value in table[name].unique()}
    numbers = {value for value in values if value.replace(".", "").isdigit()}
    spoken = {f"{int(number.partition('.')[0]):,}" for number in numbers}
    return values | spoken | {number.partition(".")[0] for number in numbers}


SECRETS = {MARK, PASSWORD, str(SEED), f"{SEED:,}", f"{SEED:x}"}


def leaks(text: str, secrets: Iterable[str]) -> set[str]:
    lowered = text.lower()
    return {secret for secret in secrets if secret.lower() in lowered}


def read(path: Path) -> str:
    return path.read_bytes().decode("utf-8", errors="replace")


DRIVER = """
import json, os, sys
from shoal.cli import main

for folder, arguments in json.loads(sys.argv[1]):
    os.chdir(folder)
    sys.argv = ["shoal", *arguments]
    try:
        main()
    except SystemExit as ended:
        print(f"\\n== {ended.code or 0}", flush=True)
"""
"""Several commands in one process, since starting one takes a second."""


def shoal(temporary: Path, calls: Sequence[tuple[Path, Sequence[str]]]) -> list[tuple[int, str]]:
    """The exit code of each command, and all that it printed."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("SHOAL_")}
    whole = subprocess.run(
        [sys.executable, "-c", DRIVER, json.dumps([(str(folder), list(arguments)) for folder, arguments in calls])],
        env={**environment, "TMPDIR": str(temporary), "CLINIC_PASSWORD": PASSWORD, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=True,
        timeout=300,
    ).stdout.decode()
    texts = re.split(r"\n== (\d+)\n", whole)
    assert texts.pop() == ""
    return [(int(code), text) for text, code in zip(texts[::2], texts[1::2], strict=True)]


@dataclass(frozen=True)
class Clinic:
    """A folder to work in, a folder for temporary files, and what the commands have printed."""

    home: Path
    temporary: Path
    said: dict[str, str] = field(default_factory=dict)


INPUTS = {"clinic.csv", "others.csv", "towns.csv", "twice.csv", "policy.yaml", "local.yaml"}


def written(home: Path) -> list[Path]:
    """All files but the inputs."""
    files = sorted(path for path in home.rglob("*") if path.is_file())
    return [path for path in files if path.relative_to(home).as_posix() not in INPUTS]


EVERYTHING = {mark for mark in marks(clinic(0, 2 * ROWS), GONE + AS_THEY_ARE) if MARK not in mark} | SECRETS
WITH_SEED = ("--seed", str(SEED))
ATTACK = ("--original", "clinic.csv", "--control", "others.csv", "--trials", "100", "--junit", "junit.xml", *WITH_SEED)
COMMANDS = (
    ("run", "policy.yaml", "-o", "out", "--control", "others.csv", *WITH_SEED),
    ("run", "policy.yaml", "-o", "quick", "--json", *WITH_SEED),
    ("run", "local.yaml", "-o", "local", "--json", *WITH_SEED),
    ("check", "policy.yaml", "--input", "clinic.csv"),
    ("profile", "clinic.csv"),
    ("profile", "clinic.csv", "--json"),
    ("measure", "out", "--policy", "policy.yaml", "--original", "clinic.csv", "--json"),
    ("measure", "clinic.csv", "--qi", "income,town,pin", "--suda", "--json"),
    ("measure", "clinic.csv", "--qi", "income,town,pin", "--original", "clinic.csv", "--suda"),
    ("measure", "out", "--auxiliary", "clinic.csv", "--policy", "policy.yaml", "--require", "k=0"),
    ("attack", "out", *ATTACK),
    ("attack", "clinic.csv", "--policy", "policy.yaml", "--json", *ATTACK),
    ("explore", "policy.yaml", "--k", "2,5", "--limit", "0.1", "--html", "chart.html", *WITH_SEED),
    ("explore", "policy.yaml", "--k", "2", "--limit", "0.1", "--recoding", "local", "--json", *WITH_SEED),
)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Clinic:
    """Every command that reads the table, run once."""
    home, temporary = tmp_path_factory.mktemp("clinic"), tmp_path_factory.mktemp("temporary")
    clinic(0, ROWS).write_csv(home / "clinic.csv")
    clinic(ROWS, ROWS).write_csv(home / "others.csv")
    (home / "towns.csv").write_text(TOWNS)
    (home / "policy.yaml").write_text(POLICY)
    (home / "local.yaml").write_text(POLICY.replace("solve:", "solve:\n  recoding: local"))
    results = shoal(temporary, [(home, command) for command in COMMANDS])
    said = {}
    for command, (code, text) in zip(COMMANDS, results, strict=True):
        said[" ".join(command).replace(str(SEED), "")] = text
        assert code == 0, text
        assert "Traceback" not in text
    return Clinic(home, temporary, said)


def test_the_search_finds_what_is_there(done: Clinic) -> None:
    """Each mark stands in the input, so that not to find it anywhere else says something."""
    table, text = clinic(0, ROWS), read(done.home / "clinic.csv")
    for name in (*GONE, *AS_THEY_ARE):
        values = {str(value) for value in table[name].unique()}
        assert leaks(text, values) == values
    report = read(done.home / "out" / "report.html")
    for planted in (f"<td>{MARK}-NOTE-1</td>", "773,100,000,003", f"seed {SEED}", PASSWORD.upper()):
        assert leaks(report.replace("</body>", f"{planted}</body>"), EVERYTHING)


def test_the_run_has_released_what_was_to_be_released(done: Clinic) -> None:
    released = read(done.home / "out" / "data.csv")
    for name in AS_THEY_ARE:
        assert leaks(released, {str(value) for value in clinic(0, ROWS)[name].unique()})


@pytest.mark.parametrize("folder", ["out", "quick", "local"])
def test_the_data_hold_no_identifier_and_no_value_that_was_generalised(done: Clinic, folder: str) -> None:
    released = read(done.home / folder / "data.csv")
    assert not leaks(released, marks(clinic(0, 2 * ROWS), GONE) | {f"{MARK}-NAME", f"{MARK}-PERSON", f"{MARK}-TOWN"})
    assert not leaks(released, SECRETS - {MARK})


def test_nothing_that_is_written_beside_the_data_shows_a_value_or_the_seed(done: Clinic) -> None:
    beside = [path for path in written(done.home) if path.name != "data.csv"]
    names = {path.name for path in beside}
    assert names == {"release.json", "report.html", "recipient.html", "history.json", "junit.xml", "chart.html"}
    assert {
        path.relative_to(done.home).as_posix(): found for path in beside if (found := leaks(read(path), EVERYTHING))
    } == {}


def test_nothing_that_is_printed_shows_a_value_or_the_seed(done: Clinic) -> None:
    assert all(done.said.values())
    assert {said: found for said, text in done.said.items() if (found := leaks(text, EVERYTHING))} == {}


def test_no_temporary_file_is_left_behind(done: Clinic) -> None:
    assert [path.name for path in done.temporary.rglob("*")] == []
    assert [path.name for path in done.home.iterdir() if path.name.startswith(".")] == []


def test_the_evidence_was_there_to_be_searched(done: Clinic) -> None:
    report = read(done.home / "out" / "report.html")
    for section in ("distributions", "attacks", "usefulness", "assessment"):
        assert f'aria-labelledby="{section}"' in report
    assert '"attacks"' in read(done.home / "out" / "release.json")


DATA = clinic(0, ROWS).write_csv()
NOWHERE = "postgresql://me:{}@127.0.0.1:1/x"
FAILURES = {
    "a number that is none": (POLICY, DATA.replace("773100000003", f"{MARK}-BAD"), "income"),
    "a row that is too long": (POLICY, DATA + f"{MARK}-LONG" + ",1" * 20 + "\n", "clinic.csv"),
    "a value that the hierarchy lacks": (POLICY, DATA.replace(f"{MARK}-TOWN-3", f"{MARK}-TOWN-X"), "town"),
    "a hierarchy that contradicts itself": (POLICY.replace("towns.csv", "twice.csv"), DATA, "twice.csv"),
    "nothing fits": (POLICY.replace("k: 3", "k: 500").replace("0.2", "0"), DATA, "k"),
    "a database that is not there": (
        POLICY.replace("clinic.csv", f"{{url: '{NOWHERE.format(PASSWORD)}', table: t}}"), DATA, "127.0.0.1",
    ),
    "its password in the environment": (
        POLICY.replace("clinic.csv", f"{{url: '{NOWHERE.format('${CLINIC_PASSWORD}')}', table: t}}"), DATA, "127.0.0.1",
    ),
}  # fmt: skip


def test_a_run_that_fails_shows_nothing_and_leaves_nothing(tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    calls = []
    for name, (policy, table, _) in FAILURES.items():
        home = tmp_path / name
        home.mkdir()
        (home / "policy.yaml").write_text(policy)
        (home / "clinic.csv").write_text(table)
        (home / "towns.csv").write_text(TOWNS)
        (home / "twice.csv").write_text(TOWNS + TOWNS.replace("north", "south"))
        calls += [(home, ("run", "policy.yaml", "-o", "out", *WITH_SEED, *more)) for more in ((), ("--json",))]
    results = shoal(temporary, calls)
    for (home, _), (code, text) in zip(calls, results, strict=True):
        assert code in (1, 2), (home.name, text)
        assert FAILURES[home.name][2] in text, home.name
        assert leaks(text, EVERYTHING) == set(), home.name
        assert written(home) == [], home.name
    assert list(temporary.rglob("*")) == []
