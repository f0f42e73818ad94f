"""What was worked out once is kept for its owner, and never believed where somebody else could have written it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from shoal.kernels import derived_files
from shoal.kernels.derived_files import MOST_KEPT, cache_folder, derived_key, kept_or_made, ship

KEY = derived_key([b"lists"])


class Maker:
    """Counts how often it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self) -> dict[str, bytes]:
        self.asked += 1
        return {"words": "Zoë\nAsha".encode(), "empty": b""}


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    place = tmp_path / "cache" / "shoal"
    monkeypatch.setenv("SHOAL_CACHE", str(place))
    return place


def kept(folder: Path) -> Path:
    (file,) = folder.glob("*.bin")
    return file


def test_what_is_kept_comes_back_as_it_was(folder):
    make = Maker()
    first = kept_or_made("words", KEY, make)
    assert kept_or_made("words", KEY, make) == first == make()
    assert make.asked == 2, "once when it was missing, once here"


def test_it_is_for_the_owner_alone_and_nothing_unfinished_is_left(folder):
    kept_or_made("words", KEY, Maker())
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(kept(folder).stat().st_mode) == 0o600
    assert [file.name for file in folder.iterdir()] == [kept(folder).name]


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:0],
        lambda data: data[:-3],
        lambda data: data[:-1] + bytes([data[-1] ^ 1]),
        lambda data: data.replace(b"shoal derived", b"shoal pickled"),
        lambda data: os.urandom(len(data)),
    ],
)
def test_what_is_damaged_is_made_anew(folder, damage):
    make = Maker()
    right = kept_or_made("words", KEY, make)
    file = kept(folder)
    file.write_bytes(damage(file.read_bytes()))
    assert kept_or_made("words", KEY, make) == right
    assert kept_or_made("words", KEY, make) == right
    assert make.asked == 2


def test_a_file_under_the_name_of_another_key_is_not_believed(folder):
    kept_or_made("words", KEY, lambda: {"words": b"other"})
    other = KEY._replace(installed=KEY.installed[:32] + "0" * 32)
    assert kept_or_made("words", other, Maker())["words"] != b"other"


@pytest.mark.parametrize("mode", [0o620, 0o602])
def test_a_file_that_others_may_write_is_not_believed(folder, mode):
    make = Maker()
    kept_or_made("words", KEY, make)
    kept(folder).chmod(mode)
    kept_or_made("words", KEY, make)
    assert make.asked == 2


def test_a_folder_that_others_may_write_is_neither_read_nor_written(folder):
    make = Maker()
    kept_or_made("words", KEY, make)
    folder.chmod(0o770)
    kept_or_made("words", KEY, make)
    kept_or_made("names", KEY, make)
    assert make.asked == 3
    assert len(list(folder.iterdir())) == 1


def test_what_belongs_to_somebody_else_is_not_believed(folder, monkeypatch):
    make = Maker()
    kept_or_made("words", KEY, make)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    kept_or_made("words", KEY, make)
    assert make.asked == 2


def test_a_link_is_not_followed(folder, tmp_path):
    make = Maker()
    kept_or_made("words", KEY, make)
    file = kept(folder)
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    kept_or_made("words", KEY, make)
    assert make.asked == 2


def test_where_nothing_can_be_written_it_works_all_the_same(tmp_path, monkeypatch):
    (tmp_path / "a file").touch()
    monkeypatch.setenv("SHOAL_CACHE", str(tmp_path / "a file" / "shoal"))
    make = Maker()
    assert kept_or_made("words", KEY, make) == kept_or_made("words", KEY, make)
    assert make.asked == 2


def test_it_can_be_turned_off(monkeypatch, tmp_path):
    monkeypatch.setenv("SHOAL_CACHE", "off")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() is None
    make = Maker()
    kept_or_made("words", KEY, make)
    kept_or_made("words", KEY, make)
    assert make.asked == 2
    assert not list(tmp_path.iterdir())


def test_the_folder_follows_xdg(monkeypatch, tmp_path):
    monkeypatch.delenv("SHOAL_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "shoal"
    monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "shoal"


def test_the_oldest_go(folder):
    for number in range(MOST_KEPT + 3):
        kept_or_made("words", derived_key([bytes([number])]), Maker())
    assert len(list(folder.glob("words-*.bin"))) == MOST_KEPT


def test_the_key_tells_parts_apart():
    assert derived_key([b"ab", b"c"]) != derived_key([b"a", b"bc"])


@pytest.fixture
def shipped(folder, tmp_path, monkeypatch) -> Path:
    """What a wheel has brought with it; nothing is kept besides."""
    place = tmp_path / "tables"
    place.mkdir()
    kept_or_made("words", KEY, lambda: {"words": b"shipped"})
    ship("words", KEY, place)
    kept(folder).unlink()
    monkeypatch.setattr(derived_files, "_SHIPPED", place)
    return place


@pytest.mark.parametrize("versions", [(), ("a library of another version",)])
def test_what_came_with_shoal_is_neither_made_nor_kept(shipped, folder, monkeypatch, versions):
    monkeypatch.setenv("SHOAL_CACHE", "off" if versions else str(folder))
    make = Maker()
    assert kept_or_made("words", derived_key([b"lists"], versions), make) == {"words": b"shipped"}
    assert make.asked == 0
    assert not list(folder.iterdir())


def test_what_came_with_shoal_is_not_believed_of_other_lists_nor_where_it_is_damaged(shipped):
    make = Maker()
    assert kept_or_made("words", derived_key([b"other lists"]), make) == make()
    file = shipped / "words.bin"
    file.write_bytes(file.read_bytes()[:-1])
    assert kept_or_made("words", KEY, make) == make()


def test_what_was_not_kept_is_not_shipped(folder, tmp_path):
    with pytest.raises(ValueError, match="words"):
        ship("words", KEY, tmp_path)
