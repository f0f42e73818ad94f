"""A folder to practise in: tables, a database, logs, mails and documents of the made-up hospital, nobody real.

The guides name these files, so that each of their commands can be typed as it stands.

>>> sorted(path for path in practice_files() if "/" not in path)[:4]
['app.log', 'clinic.db', 'inbox.mbox', 'letter.docx']
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from xml.sax.saxutils import escape

import polars as pl

from shoal.errors import FieldName, FieldText, TargetError
from shoal.examples import documents, hospital
from shoal.io import atomic_binary, open_target, parse_target

INPATIENTS = 300
"""People who have visits; of the others the hospital knows one admission."""
WARDS = ("Medicine", "Surgery", "Eyes", "Children", "Births")
LETTER = (
    "Dear Ms. Meera Iyer,",
    "",
    "Dr. Asha Rao saw Ravi Lim, 34 years old, on 5 March 2024 and again on 19 March 2024.",
    "Rao asked him to write to ravi.lim@example.org or to call +91 98765 43210.",
)
DOCX = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
PARTS = "http://schemas.openxmlformats.org/package/2006"
MAIN = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
EARLY = (1980, 1, 1, 0, 0, 0)
"""The first date that an archive can hold: the same bytes every time."""


def write(folder: str | Path, *, force: bool = False) -> list[str]:
    """Write the files into a folder, which is made if need be, and tell their names. None that is there is replaced
    without ``force``.
    """
    top = Path(folder)
    files = practice_files()
    there = [name for name in files if (top / name).exists()]
    if there and not force:
        advice = FieldText("choose another folder, or replace it with ", FieldName("force"))
        raise TargetError(f"{top / there[0]} is there already", advice=advice)
    for name, content in files.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        with atomic_binary(top / name) as file:
            file.write(content())
    return list(files)


def practice_files() -> dict[str, Callable[[], bytes]]:
    """What is in the folder: path → what makes its content."""
    papers = documents.papers()
    mail, log, pdf = papers["question.eml"], papers["frontdesk.log"], papers["discharge.pdf"]
    return {
        "patients.csv": lambda: _csv(hospital.table()),
        "policy.yaml": lambda: hospital.policy().replace("hospital.csv", "patients.csv").encode(),
        "visits.csv": lambda: _csv(visits()),
        "clinic/patients.csv": lambda: _csv(hospital.table(INPATIENTS)),
        "clinic/visits.csv": lambda: _csv(visits()),
        "clinic.db": _database,
        "app.log": lambda: log,
        "letter.txt": lambda: "\n".join([*LETTER, ""]).encode(),
        "letter.docx": lambda: _word(LETTER),
        "list.xlsx": _workbook,
        "note.eml": lambda: mail,
        "inbox.mbox": lambda: b"From hospital Mon Dec 22 09:41:07 2025\n" + mail,
        "report.pdf": lambda: pdf,
        "shared-drive/discharge.pdf": lambda: pdf,
        "shared-drive/mails/question.eml": lambda: mail,
        "shared-drive/patients.csv": lambda: _csv(hospital.table(INPATIENTS)),
        "exports/admissions.csv": lambda: _csv(_totals()),
    }


def visits() -> pl.DataFrame:
    """One to four visits of each inpatient, by the patient's number."""
    rows: list[dict[str, Any]] = []
    for number, person in enumerate(hospital.table(INPATIENTS).iter_rows(named=True)):
        rows += [
            {
                "visit": f"V{number:04}{again}",
                "patient_id": person["patient_id"],
                "day": person["admitted"] + timedelta(days=30 * again),
                "ward": WARDS[(number + again) % len(WARDS)],
                "diagnosis": person["diagnosis"],
            }
            for again in range(1 + number % 4)
        ]
    return pl.DataFrame(rows)


def _totals() -> pl.DataFrame:
    """Admissions by the quarter: what an export without people looks like."""
    quarter = pl.format("Q{}", pl.col("admitted").dt.quarter()).alias("quarter")
    return hospital.table().group_by(quarter).agg(pl.len().alias("admissions")).sort("quarter")


def _csv(table: pl.DataFrame) -> bytes:
    return table.write_csv().encode()


def _database() -> bytes:
    """Both tables in SQLite, as the bytes of its file."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "clinic.db")
        for name, table in {"patients": hospital.table(INPATIENTS), "visits": visits()}.items():
            open_target(parse_target(f"sqlite:///{path}#{name}")).write(table.lazy())
        return path.read_bytes()


def _workbook() -> bytes:
    """Ten patients in a spreadsheet."""
    buffer = io.BytesIO()
    hospital.table(10).select("name", "age", "phone", "diagnosis").write_excel(buffer, worksheet="Patients")
    return buffer.getvalue()


def _word(lines: tuple[str, ...]) -> bytes:
    """The smallest document that Word takes: one paragraph a line."""
    paragraphs = "".join(f"<w:p><w:r><w:t>{escape(line)}</w:t></w:r></w:p>" for line in lines)
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{PARTS}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.'
        'wordprocessingml.document.main+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{PARTS}/relationships">'
        f'<Relationship Id="rId1" Type="{MAIN}" Target="word/document.xml"/></Relationships>',
        "word/document.xml": f'<w:document xmlns:w="{DOCX}"><w:body>{paragraphs}</w:body></w:document>',
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in parts.items():
            archive.writestr(zipfile.ZipInfo(name, EARLY), f'<?xml version="1.0" encoding="UTF-8"?>{text}')
    return buffer.getvalue()
