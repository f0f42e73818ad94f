"""How the code is laid out stays within its bounds, and whoever measures that can see when it does not."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

import house
import room_pictures
import ways
from one_file import files_to_add


def room(**facts: object) -> house.Room:
    usual = {"name": "kitchen", "purpose": "", "files": 3, "crowded": 3, "lines": 9, "imports": frozenset[str]()}
    return house.Room(**{**usual, **facts})  # type: ignore[arg-type]  # facts of the right types


def test_no_room_is_crowded_or_knows_too_many_others() -> None:
    assert [one.name for one in house.rooms() if one.too_large] == []


def test_a_crowded_room_and_one_that_knows_too_many_are_seen() -> None:
    many = frozenset(str(number) for number in range(house.MOST_ROOMS + 1))
    assert room(crowded=house.MOST_FILES + 1).too_large
    assert room(imports=many).too_large
    assert not room(crowded=house.MOST_FILES, imports=frozenset(sorted(many)[:-1])).too_large
    assert not room(name="cli", imports=many).too_large


def test_every_room_is_in_the_contract_and_on_one_floor() -> None:
    folders = {path.parent.name for path in house.SOURCE.glob("*/__init__.py")}
    assert set(house.layers()) == folders
    placed = [name for names in house.FLOORS.values() for name in names]
    assert sorted(placed) == sorted(folders)


def test_floors_follow_the_contract() -> None:
    """From the top of the contract to its bottom, no room stands on a higher floor than one before it."""
    order = [list(house.FLOORS).index(house.floor_of(name)) for name in house.layers()]
    assert order == sorted(order)


@pytest.mark.parametrize("name", house.HOPS)
def test_a_command_can_be_followed(name: str) -> None:
    way = ways.ways()[name]
    assert 0 < way.hops <= house.HOPS[name], way.modules
    assert way.zigzags == ()


def test_what_a_command_needs_is_parsed_once() -> None:
    found = ways.ways()
    assert found["run"].parsed == {"policy": 1, "manifest": 0}
    assert found["measure"].parsed == {"policy": 0, "manifest": 0}
    assert found["measure a release"].parsed == {"policy": 1, "manifest": 1}


def test_a_chain_that_comes_back_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three modules that call each other: there and back, and once more in the first."""
    first, second = ModuleType("shoal.assess.first"), ModuleType("shoal.assess.second")
    exec("def start(other): return other.go()\ndef again(): return 1", vars(first))  # noqa: S102  # code of this test
    exec("def go(): return first.again()", vars(second))  # noqa: S102
    vars(second)["first"] = first
    tracer = ways.Tracer()
    sys.setprofile(tracer)
    try:
        vars(first)["start"](second)
    finally:
        sys.setprofile(None)
    assert tracer.way().modules == ("shoal.assess.first", "shoal.assess.second")
    assert tracer.way().zigzags == (("shoal.assess.first", "shoal.assess.second", "shoal.assess.first"),)


def test_names_of_classes_are_their_own() -> None:
    assert house.shared_names() <= house.MOST_SHARED


def test_one_file_adds_a_thing() -> None:
    assert set(files_to_add().values()) == {1}


def test_pictures_name_every_room() -> None:
    drawn = room_pictures.floors([("attic", [("a & b", 2)]), ("ground", [("io", 1), ("schema", 3)])])
    assert all(words in drawn for words in ("attic", "ground", "a &amp; b", "io", "schema", "3 files"))
    walked = room_pictures.way(["attic", "ground"], [("cli", "attic"), ("io", "ground")])
    assert walked.count("<path") == 1
    assert walked.count("<circle") == 2


def test_pages_and_pictures_are_as_the_script_makes_them() -> None:
    stale = [path.name for path, text in house.made().items() if path.read_text(encoding="utf-8") != text]
    assert stale == [], "run `make generate`"


def test_a_stale_page_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = tmp_path / "rooms.md"
    old.write_text("# Rooms\n\n<!-- purposes -->\n<!-- /purposes -->\n", encoding="utf-8")
    monkeypatch.setattr(house, "PAGE", old)
    assert house.main(["--check"]) == 1
