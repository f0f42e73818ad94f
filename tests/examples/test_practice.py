"""The folder to practise in: the same files every time, readable by others, and nothing of yours is replaced."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import docx
import openpyxl
import polars as pl
import pytest

from shoal.errors import TargetError
from shoal.examples import practice
from shoal.policy import Policy


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("practice") / "new"
    practice.write(path)
    return path


def test_others_can_read_them(folder: Path) -> None:
    assert docx.Document(str(folder / "letter.docx")).paragraphs[0].text == practice.LETTER[0]
    assert openpyxl.load_workbook(folder / "list.xlsx").active.max_row == 11
    with sqlite3.connect(folder / "clinic.db") as connection:
        assert connection.execute("SELECT count(*) FROM patients").fetchone() == (practice.INPATIENTS,)
    assert pl.read_csv(folder / "visits.csv")["patient_id"].n_unique() == practice.INPATIENTS
    assert Policy.load(folder / "policy.yaml").name == "hospital-admissions"


def test_the_same_every_time(folder: Path) -> None:
    varying = {"list.xlsx"}  # it says when it was made
    again = {name: make() for name, make in practice.practice_files().items() if name not in varying}
    assert [name for name, content in again.items() if (folder / name).read_bytes() != content] == []


def test_nothing_is_replaced_unasked(tmp_path: Path) -> None:
    mine = tmp_path / "patients.csv"
    mine.write_text("my own\n")
    with pytest.raises(TargetError, match=r"patients\.csv is there already"):
        practice.write(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["patients.csv"]
    assert mine.read_text() == "my own\n"
    practice.write(tmp_path, force=True)
    assert mine.read_text() != "my own\n"
