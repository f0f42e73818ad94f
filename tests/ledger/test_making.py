"""A new file has its name once it is whole, so that nobody else's content can be in it when its maker fails."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from shoal.errors import TargetError
from shoal.ledger.database import TransactionalDatabase
from shoal.vault.tables import head, metadata

pytestmark = pytest.mark.requirement("C-02", "V-01")


class Shelf(TransactionalDatabase):
    kind = "shelf"


def made(place: Path, *, new_file: bool = False) -> None:
    with Shelf(str(place)).making(metadata, head, new_file=new_file):
        pass


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


@pytest.mark.parametrize("new_file", [True, False])
def test_who_comes_second_takes_nothing_from_the_first(tmp_path: Path, new_file: bool) -> None:
    place = tmp_path / "a.db"
    with pytest.raises(TargetError), Shelf(str(place)).making(metadata, head, new_file=new_file):
        made(place, new_file=new_file)
        before = place.read_bytes()
    assert place.read_bytes() == before
    assert names(tmp_path) == ["a.db"]
    with Shelf(str(place)).reading() as connection:
        assert connection.dialect.has_table(connection, head.name)


def test_nothing_is_there_before_it_is_whole_nor_after_an_error(tmp_path: Path) -> None:
    place = tmp_path / "a.db"
    with pytest.raises(ZeroDivisionError), Shelf(str(place)).making(metadata, head, new_file=True):
        assert not place.exists()
        assert 1 / 0
    assert names(tmp_path) == []
    made(place)
    assert names(tmp_path) == ["a.db"]
    assert stat.S_IMODE(place.stat().st_mode) == 0o600


def test_a_file_that_is_there_is_joined_or_left(tmp_path: Path) -> None:
    place = tmp_path / "a.db"
    place.touch()
    with pytest.raises(TargetError, match="exists already"):
        made(place, new_file=True)
    assert place.read_bytes() == b""
    made(place)
    with pytest.raises(TargetError, match="there is a shelf already"):
        made(place)


def test_no_folder_is_said(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match=r"can't be made \(No such file or directory\)"):
        made(tmp_path / "none" / "a.db")
