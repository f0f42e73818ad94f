"""A single file is replaced whole or not at all, is durable, and has the rights that it should have."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from tests.io.kills import KILLED_AT

from shoal.errors import TargetError
from shoal.io import Staging, atomic_binary, atomic_path, atomic_text, file_target, new_file, write_atomic
from shoal.io.atomic import unfinished

pytestmark = pytest.mark.requirement("D-01")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def by_path(path: Path, text: str) -> None:
    with atomic_path(path) as partial:
        partial.write_text(text)


def by_bytes(path: Path, text: str) -> None:
    with atomic_binary(path) as file:
        file.write(text.encode())


WAYS = {"path": by_path, "bytes": by_bytes, "text": write_atomic}


@pytest.fixture(params=WAYS)
def write(request: pytest.FixtureRequest) -> Callable[[Path, str], None]:
    return WAYS[request.param]


def test_a_file_is_made_and_replaced(tmp_path: Path, write: Callable[[Path, str], None]) -> None:
    write(tmp_path / "a.txt", "old\r\nlines\n")
    assert (tmp_path / "a.txt").read_bytes() == b"old\r\nlines\n"
    write(tmp_path / "a.txt", "new")
    assert (tmp_path / "a.txt").read_text() == "new"
    assert names(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_after_an_error_the_old_file_is_there_and_nothing_else(tmp_path: Path, error: type[BaseException]) -> None:
    (tmp_path / "a.txt").write_text("old")
    for path in (tmp_path / "a.txt", tmp_path / "b.txt"):
        with pytest.raises(error), atomic_text(path) as file:
            file.write("half")
            file.flush()
            raise error
    assert names(tmp_path) == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "old"


def test_the_file_is_durable_before_the_rename_and_its_folder_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Callable[[Path, str], None]
) -> None:
    done: list[str] = []
    fsync, replace = os.fsync, Path.replace

    def flushed(handle: int) -> None:
        done.append(Path(f"/proc/self/fd/{handle}").readlink().name)
        fsync(handle)

    def renamed(self: Path, target: Path) -> Path:
        done.append("RENAME")
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", flushed)
    monkeypatch.setattr(Path, "replace", renamed)
    write(tmp_path / "a.txt", "new")
    assert [name.split("-")[0] for name in done] == [".a.txt.partial", "RENAME", tmp_path.name.split("-")[0]]


def test_inside_a_folder_in_the_making_only_the_folder_is_flushed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed: list[int] = []
    fsync = os.fsync
    with Staging(tmp_path / "out") as staging:
        monkeypatch.setattr(os, "fsync", lambda handle: (flushed.append(handle), fsync(handle)))  # type: ignore[func-returns-value]
        write_atomic(staging.path / "a.txt", "x")
        assert flushed == []
        staging.commit()
    assert len(flushed) == 3
    assert (tmp_path / "out" / "a.txt").read_text() == "x"


def test_rights_are_kept(tmp_path: Path, write: Callable[[Path, str], None]) -> None:
    for given in (0o600, 0o640, 0o755):
        (tmp_path / "a.txt").write_text("old")
        (tmp_path / "a.txt").chmod(given)
        write(tmp_path / "a.txt", "new")
        assert mode(tmp_path / "a.txt") == given


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_the_owner_is_kept(tmp_path: Path, write: Callable[[Path, str], None]) -> None:
    (tmp_path / "a.txt").write_text("old")
    os.chown(tmp_path / "a.txt", 12345, 54321)
    write(tmp_path / "a.txt", "new")
    found = (tmp_path / "a.txt").stat()
    assert (found.st_uid, found.st_gid) == (12345, 54321)


def test_a_new_file_has_the_rights_of_the_day(tmp_path: Path, write: Callable[[Path, str], None]) -> None:
    before = os.umask(0o027)
    try:
        write(tmp_path / "a.txt", "new")
    finally:
        os.umask(before)
    assert mode(tmp_path / "a.txt") == 0o640


def test_a_private_file_is_its_owners_from_its_first_moment(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("old")
    (tmp_path / "a.txt").chmod(0o644)
    with atomic_text(tmp_path / "a.txt", private=True) as file:
        file.write("new")
        (partial,) = (path for path in tmp_path.iterdir() if "partial" in path.name)
        assert mode(partial) == 0o600
    assert mode(tmp_path / "a.txt") == 0o600


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.jsonl", "t.arrow", "t.xlsx"])
def test_private_tables(tmp_path: Path, name: str) -> None:
    frame = pl.LazyFrame({"a": [1, 2]})
    file_target(tmp_path / name, private=True).write(frame)
    assert mode(tmp_path / name) == 0o600
    file_target(tmp_path / f"public-{name}").write(frame)
    assert mode(tmp_path / f"public-{name}") & 0o400
    assert len(names(tmp_path)) == 2


def test_a_link_stays_and_what_it_leads_to_is_replaced(tmp_path: Path, write: Callable[[Path, str], None]) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "real.txt").write_text("old")
    (tmp_path / "link").symlink_to("deep/real.txt")
    write(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "deep" / "real.txt").read_text() == "new"
    assert names(tmp_path / "deep") == ["real.txt"]


def test_a_device_is_written_to_and_never_replaced(write: Callable[[Path, str], None]) -> None:
    write(Path("/dev/null"), "gone")
    assert Path("/dev/null").is_char_device()


def test_a_pipe_is_written_to(tmp_path: Path, write: Callable[[Path, str], None]) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    heard: list[str] = []
    listener = threading.Thread(target=lambda: heard.append(pipe.read_text()))
    listener.start()
    write(pipe, "through")
    listener.join(20)
    assert heard == ["through"]
    assert pipe.is_fifo()


def test_the_output_by_its_name(tmp_path: Path) -> None:
    """Even where the shell has opened a file for it, which has to stay the one that it opened."""
    program = "from pathlib import Path; from shoal.io import write_atomic; write_atomic(Path('/dev/stdout'), 'x')"
    with (tmp_path / "out").open("w") as out:
        subprocess.run([sys.executable, "-c", program], stdout=out, check=True)
        assert os.fstat(out.fileno()).st_ino == (tmp_path / "out").stat().st_ino
    assert (tmp_path / "out").read_text() == "x"


def test_what_is_in_the_way(tmp_path: Path, write: Callable[[Path, str], None]) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(TargetError, match=r"folder: can't be written \(Is a directory\)"):
        write(tmp_path / "folder", "x")
    with pytest.raises(TargetError, match="No such file"):
        write(tmp_path / "nowhere" / "a.txt", "x")
    with pytest.raises(TargetError, match="the name is too long"):
        write(tmp_path / ("x" * 300), "x")
    assert names(tmp_path) == ["folder"]


def test_a_name_as_long_as_names_can_be(tmp_path: Path, write: Callable[[Path, str], None]) -> None:
    for name in ("x" * 255, "é" * 127):
        write(tmp_path / name, "x")
        assert names(tmp_path) == [name]
        (tmp_path / name).unlink()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_disk_without_room_is_named(write: Callable[[Path, str], None]) -> None:
    with pytest.raises(TargetError, match="/dev/full: there is no room left on the disk"):
        write(Path("/dev/full"), "x" * 100_000)


def test_errors_of_others_are_not_taken_for_the_files_own(tmp_path: Path) -> None:
    with pytest.raises(BrokenPipeError), atomic_text(tmp_path / "side.json"):
        raise BrokenPipeError


def test_what_was_left_behind_is_swept_and_what_is_alive_is_not(tmp_path: Path) -> None:
    (tmp_path / ".a.txt.partial-1-1").write_text("a value of somebody's")
    (tmp_path / ".a.txt.partial-99").write_text("of an older version")
    (tmp_path / ".b.txt.partial-1-1").write_text("another's")
    with atomic_text(tmp_path / "a.txt") as first:
        first.write("first")
        write_atomic(tmp_path / "a.txt", "second")
        assert (tmp_path / "a.txt").read_text() == "second"
    assert (tmp_path / "a.txt").read_text() == "first"
    assert names(tmp_path) == [".b.txt.partial-1-1", "a.txt"]


def test_a_process_that_must_end_discards_what_it_has_begun(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("old")
    with Staging(tmp_path / "out") as staging, atomic_text(tmp_path / "a.txt") as file:
        file.write("half")
        (staging.path / "deep").mkdir()
        (staging.path / "deep" / "data.csv").write_text("half")
        unfinished.discard_unfinished()
        assert names(tmp_path) == ["a.txt"]
        (tmp_path / file_name(file)).touch()  # so that leaving finds what it expects
    assert names(tmp_path) == ["a.txt"]


def file_name(file: object) -> str:
    return Path(str(getattr(file, "buffer", file).raw.name)).name  # type: ignore[attr-defined]


def test_a_forked_child_discards_nothing_of_its_parents(tmp_path: Path) -> None:
    program = """
import os, sys
from pathlib import Path
from shoal.io import Staging
from shoal.io.atomic import unfinished as hidden
with Staging(Path(sys.argv[1]) / "out") as staging:
    child = os.fork()
    if child == 0:
        hidden.discard_unfinished()
        os._exit(0)
    os.waitpid(child, 0)
    print(staging.path.is_dir())
"""
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=True, capture_output=True, text=True)
    assert done.stdout == "True\n"


def test_a_new_file_has_its_place_at_once(tmp_path: Path) -> None:
    with new_file(tmp_path / "proof", private=True) as file:
        assert mode(tmp_path / "proof") == 0o600
        file.write("done")
    assert (tmp_path / "proof").read_text() == "done"
    with pytest.raises(FileExistsError), new_file(tmp_path / "proof"):
        pytest.fail("it is there already")
    assert (tmp_path / "proof").read_text() == "done"
    with pytest.raises(ValueError, match="no"), new_file(tmp_path / "other"):
        raise ValueError("no")
    assert names(tmp_path) == ["proof"]


# A process whose children replace a file and are killed before each step in turn.
KILLER = """
import json, os, signal, sys
from pathlib import Path
from shoal.io import write_atomic
path = Path(sys.argv[1])

def killed_before(step):
    number = os.fork()
    if number == 0:
        killed_at(step)
        write_atomic(path, "new")
        os._exit(0)
    return os.waitpid(number, 0)[1] != 0

seen, step = [], 1
path.write_text("old")
while killed_before(step):
    seen.append(path.read_text())
    path.write_text("old")
    step += 1
print(json.dumps([step, seen, path.read_text(), sorted(each.name for each in path.parent.iterdir())]))
"""


def test_a_kill_at_any_moment_leaves_the_old_or_the_new_whole(tmp_path: Path) -> None:
    command = [sys.executable, "-c", KILLED_AT + KILLER, str(tmp_path / "a.txt")]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    steps, seen, last, left = json.loads(done.stdout)
    assert steps > 8
    assert set(seen) == {"old", "new"}
    assert last == "new"
    assert left == ["a.txt"]
