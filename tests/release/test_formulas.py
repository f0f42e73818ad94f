"""Cells that a spreadsheet would run: a release warns of them, or escapes them, and its figures stay the same."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from tests.support.policies import policy_text

from shoal.policy import Policy
from shoal.release.run import release_folder

pytestmark = pytest.mark.requirement("T-02")

POLICY = policy_text("wards.csv", "privacy: [{k_anonymity: {k: 2}}]\n", quasi="age ward", insensitive="note change")
NOTES = ["=cmd|' /C calc'!A0", "@SUM(A1:A9)", "fine", "-x", "'=1"]


def released(folder: Path, more: str = "") -> tuple[dict[str, Any], list[dict[str, str]], str]:
    (folder / "policy.yaml").write_text(POLICY + more)
    with (folder / "wards.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("age", "ward", "note", "change"))
        writer.writerows(
            (30 + place % 4, "=north" if place % 2 else "south", NOTES[place % 5], -place) for place in range(40)
        )
    out = folder / "out"
    release_folder(Policy.load(folder / "policy.yaml"), out, data=str(folder / "wards.csv"), seed=1, force=True)
    with (out / "data.csv").open(newline="") as file:
        return (
            json.loads((out / "release.json").read_text()),
            list(csv.DictReader(file)),
            (out / "report.html").read_text(),
        )


def risky(rows: list[dict[str, str]]) -> int:
    return sum(cell[:1] in {"=", "@"} or cell == "-x" for row in rows for cell in row.values())


def test_cells_that_a_spreadsheet_would_run_are_counted(tmp_path: Path) -> None:
    manifest, rows, report = released(tmp_path)
    (warning,) = (text for text in manifest["warnings"] if "spreadsheet" in text)
    assert risky(rows) == 24 + sum(row["ward"] == "=north" for row in rows) > 24
    assert warning.startswith(f"data.csv: {risky(rows)} cells begin as a formula does")
    assert "escape_formulas: true" in warning
    assert f"{risky(rows)} cells begin as a formula does" in report


def test_they_are_escaped_where_the_policy_says_so(tmp_path: Path) -> None:
    before, raw, _ = released(tmp_path)
    manifest, rows, report = released(tmp_path, "output: {escape_formulas: true}\n")
    assert risky(rows) == 0
    assert [row["note"] for row in rows[:5]] == ["'=cmd|' /C calc'!A0", "'@SUM(A1:A9)", "fine", "'-x", "''=1"]
    assert [row["change"] for row in rows] == [row["change"] for row in raw]
    (warning,) = (text for text in manifest["warnings"] if "spreadsheet" in text)
    assert warning.startswith(f"data.csv: {risky(raw)} cells begin as a formula does")
    assert "with an apostrophe in front" in report
    for name in ("risk", "models", "utility", "solution", "suppressed"):
        assert manifest[name] == before[name]


def test_nothing_is_said_where_there_are_none(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text("shoal: 1\nname: n\nattributes: {change: {role: insensitive}}\n")
    (tmp_path / "n.csv").write_text("change\n-1\n+2.5\n-\n")
    done = release_folder(Policy.load(tmp_path / "policy.yaml"), tmp_path / "out", data=str(tmp_path / "n.csv"))
    assert not [text for text in done.manifest.warnings if "formula" in text]
