"""A set of recognisers is handed on: what is not in it is not recognised, what is added is."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from tests.support.harbour import LOCKER_RULES

from shoal.discover.recognisers import RecogniserSet, default_recognisers
from shoal.discover.table_profile import profile
from shoal.scan.findings import Weight, weight_of
from shoal.scan.gates import ScanGate
from shoal.scrub.choices import known_types
from shoal.text.matching.patterns import PatternFinder

MAILS = pl.LazyFrame({"contact": [f"person{number}@example.org" for number in range(20)]})
LOCKERS = pl.LazyFrame({"x": [f"LOCK-{number:03}" for number in range(20)]})


def own(tmp_path: Path) -> RecogniserSet:
    (tmp_path / "pack.yaml").write_text(LOCKER_RULES, encoding="utf-8")
    return RecogniserSet(()).with_files(tmp_path / "pack.yaml")


def test_a_profile_recognises_by_the_set_it_is_given(tmp_path: Path) -> None:
    (mail,) = profile(MAILS).columns
    assert mail.identifier is not None
    assert mail.identifier.recogniser.type == "email"
    assert profile(MAILS, recognisers=own(tmp_path)).columns[0].identifier is None
    (locker,) = profile(LOCKERS, recognisers=own(tmp_path)).columns
    assert locker.identifier is not None
    assert locker.identifier.recogniser.key == "locker"
    assert profile(LOCKERS).columns[0].identifier is None


def test_texts_scans_and_labels_follow_the_set(tmp_path: Path) -> None:
    chosen = own(tmp_path)
    text = "LOCK-042 of someone@example.org"
    assert [span.type for span in PatternFinder(chosen).find(text)] == ["locker"]
    assert "locker" in known_types(chosen)
    assert "locker" not in known_types()
    assert weight_of("locker", chosen) is Weight.IDENTIFYING
    assert weight_of("locker") is Weight.INDIRECT
    assert ScanGate.parse("locker=0", chosen).type == "locker"


def test_the_default_is_one_object() -> None:
    assert default_recognisers() is default_recognisers()
    assert default_recognisers().direct_types <= default_recognisers().types
