"""The facts about places that come with Shoal are those of the source, and stay small."""

from __future__ import annotations

from pathlib import Path

import pytest

import geonames
from shoal.geonames import countries, towns, us_states

MOST_BYTES = 4_000_000


def test_the_files_are_as_the_script_makes_them() -> None:
    assert geonames.stale() == [], "run `make generate`"


def test_a_stale_file_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(geonames, "FOLDER", tmp_path)
    assert geonames.main(["--check"]) == 1
    assert geonames.main([]) == 0
    assert geonames.main(["--check"]) == 0
    (tmp_path / "countries.tsv").write_text("XX\tXXX\tNowhere\t\n", encoding="utf-8")
    assert geonames.stale() == ["countries.tsv"]


def test_nothing_is_lost_between_the_files_and_their_reader() -> None:
    read = list(towns())
    assert len(read) > 30_000
    assert next(one for one in read if one.name == "Bengaluru")[1:3] == ("IN", "19")
    assert "Bangalore" in next(one for one in read if one.name == "Bengaluru").other_names
    assert {len(one.iso3) for one in countries()} == {3}
    assert us_states()["GA"] == "Georgia"
    lines = geonames.made()["towns.tsv.gz"].decode().rstrip("\n").split("\n")
    assert lines == [
        "\t".join([one.name, one.country, one.area, str(one.population), "|".join(one.other_names)]) for one in read
    ]


def test_they_are_small_and_their_source_is_named() -> None:
    assert sum(path.stat().st_size for path in geonames.FOLDER.glob("*.*")) < MOST_BYTES
    root = Path(__file__).resolve().parents[2]
    for page in ("NOTICE", "docs/reference/hierarchies.md", "src/shoal/geonames/source.txt"):
        assert "CC BY 4.0" in (root / page).read_text(encoding="utf-8"), page
