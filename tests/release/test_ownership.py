"""Every release can be replaced: whatever a run puts into its folder, it knows for its own."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from shoal.errors import TargetError
from shoal.io.atomic.release_ownership import foreign_files
from shoal.policy import Policy
from shoal.policy.multi_table import MultiTablePolicy, load_any
from shoal.release.history import HISTORY, keep_history
from shoal.release.multi_table.run import release_tables
from shoal.release.run import release_folder

pytestmark = pytest.mark.requirement("T-02")

POLICY = """\
shoal: 1
name: own
attributes:
  id: {role: direct, technique: {pseudonymise: {domain: people, method: random, table: true}}}
  age: {role: quasi, hierarchy: {intervals: {widths: [5, 10]}}}
  pay: {role: insensitive, technique: {share: {parties: 3, threshold: 2}}}
privacy: [{k_anonymity: {k: 2}}]
"""
TABLES = """\
shoal: 1
name: own
tables:
  people: {source: people.csv, attributes: {id: {role: direct}, age: {role: quasi}, pay: {role: insensitive}}}
  others: {source: people.csv, attributes: {id: {role: direct}, age: {role: quasi}, pay: {role: insensitive}}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text("id,age,pay\n" + "".join(f"{n},{30 + n % 3},{n * 10}\n" for n in range(30)))
    return tmp_path


def names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("parts", [False, True])
def test_a_release_with_files_beside_its_data(folder: Path, parts: bool) -> None:
    (folder / "policy.yaml").write_text(POLICY.replace(", table: true", ""))
    policy, out = Policy.load(folder / "policy.yaml"), folder / "out"
    pdf = shutil.which("chromium") is not None and not parts
    release_folder(policy, out, data=str(folder / "people.csv"), parts=parts, pdf=pdf)
    keep_history(str(out), [])
    assert {HISTORY, "report.html", "shares/party-1/pay.parquet"} <= names(out)
    assert ("report.pdf" in names(out)) == pdf
    assert foreign_files(out) == []
    before = names(out)
    release_folder(policy, out, data=str(folder / "people.csv"), parts=parts, force=True)
    assert before - names(out) == {HISTORY} | ({"report.pdf", "recipient.pdf"} if pdf else set())


def test_a_release_of_several_tables(folder: Path) -> None:
    (folder / "policy.yaml").write_text(TABLES)
    policy, out = load_any(folder / "policy.yaml"), folder / "out"
    assert isinstance(policy, MultiTablePolicy)
    release_tables(policy, out)
    assert foreign_files(out) == []
    release_tables(policy, out, force=True)
    for name in ("mine.txt", "people/mine.txt", "elsewhere/release.json"):
        (out / name).parent.mkdir(exist_ok=True)
        (out / name).write_text("{}")
        with pytest.raises(TargetError, match=f"holds what is not the release's: {name}"):
            release_tables(policy, out, force=True)
        (out / name).unlink()
    (out / "people" / "release.json").write_text("{}")
    with pytest.raises(TargetError, match="holds what is not the release's: people/"):
        release_tables(policy, out, force=True)
