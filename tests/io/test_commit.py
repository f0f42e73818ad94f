"""A release folder appears whole or not at all: errors, kills, full disks, races."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest
from tests.io.kills import KILLED_AT

from shoal.errors import TargetError
from shoal.io import Staging, file_target, sha256_of
from shoal.io.atomic import folder_commit, unfinished

pytestmark = pytest.mark.requirement("D-01")


def manifest(version: str = "1", *files: str) -> str:
    """As little as makes a folder a release: whose it is, and its files."""
    return json.dumps(
        {
            "shoal": "0",
            "version": version,
            "data": {"path": "data.csv"},
            "files": [{"path": path} for path in ("parts/more", *files)],
        }
    )


def release(folder: Path, version: str = "1", *, force: bool = False) -> None:
    with Staging(folder, force=force) as staging:
        (staging.path / "data.csv").write_text(version)
        (staging.path / "release.json").write_text(manifest(version))
        (staging.path / "parts").mkdir()
        (staging.path / "parts" / "more").write_text(version)
        staging.commit()


def contents(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def whole(version: str = "1") -> dict[str, str]:
    return {"data.csv": version, "release.json": manifest(version), "parts/more": version}


@pytest.fixture(params=["exchange", "two renames"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways of replacing: with the kernel's exchange, and as on a file system that has none."""
    if request.param == "two renames":
        monkeypatch.setattr(folder_commit, "_renameat2", lambda *_: errno.EINVAL)
    return str(request.param)


def test_nothing_is_there_before_the_commit(tmp_path: Path, way: str) -> None:
    with Staging(tmp_path / "out") as staging:
        (staging.path / "data.csv").write_text("1")
        assert not (tmp_path / "out").exists()
        assert staging.path.parent == tmp_path
        staging.commit()
        assert (tmp_path / "out" / "data.csv").read_text() == "1"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_replacing_needs_force(tmp_path: Path, way: str) -> None:
    release(tmp_path / "out")
    with pytest.raises(TargetError, match=r"out: exists already \(force replaces it\)"), Staging(tmp_path / "out"):
        pytest.fail("work began")
    assert contents(tmp_path / "out") == whole("1")
    release(tmp_path / "out", "2", force=True)
    assert contents(tmp_path / "out") == whole("2")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_force_replaces_releases_only(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "letter.txt").write_text("dear")
    with pytest.raises(TargetError, match=r"is not a release \(it holds no release\.json\)"):
        release(tmp_path / "home", force=True)
    assert contents(tmp_path / "home") == {"letter.txt": "dear"}
    (tmp_path / "empty").mkdir()
    release(tmp_path / "empty", force=True)
    assert contents(tmp_path / "empty") == whole()


@pytest.mark.parametrize("told", ["{}", "[]", "", '{"name": "mine"}', "nothing of ours", "[" * 100_000])
def test_a_manifest_that_is_not_ours_is_no_licence(tmp_path: Path, told: str) -> None:
    release(tmp_path / "home")
    (tmp_path / "home" / "release.json").write_text(told)
    before = contents(tmp_path / "home")
    with pytest.raises(TargetError, match=r"is not a release \(its release\.json is not Shoal's\)"):
        release(tmp_path / "home", "2", force=True)
    assert contents(tmp_path / "home") == before


@pytest.mark.parametrize("name", ["letter.txt", "parts/letter.txt", "data.csv.bak", ".git/config"])
def test_force_never_removes_what_others_put_there(tmp_path: Path, name: str) -> None:
    release(tmp_path / "out")
    theirs = tmp_path / "out" / name
    theirs.parent.mkdir(exist_ok=True)
    theirs.write_text("dear")
    with pytest.raises(TargetError, match=f"out: holds what is not the release's: {name} ") as refused:
        release(tmp_path / "out", "2", force=True)
    assert "move it elsewhere first" in str(refused.value)
    assert contents(tmp_path / "out") == {**whole(), name: "dear"}
    theirs.unlink()
    release(tmp_path / "out", "2", force=True)
    assert contents(tmp_path / "out") == whole("2")


def test_many_files_that_are_not_ours_are_counted(tmp_path: Path) -> None:
    release(tmp_path / "out")
    for place in range(5):
        (tmp_path / "out" / f"{place}.txt").write_text("x")
    with pytest.raises(TargetError, match=r"release's: 0\.txt, 1\.txt, 2\.txt and 2 more"):
        release(tmp_path / "out", "2", force=True)


def test_what_turns_into_something_else_meanwhile_is_put_back(tmp_path: Path, way: str) -> None:
    release(tmp_path / "out")
    with (
        pytest.raises(TargetError, match="has become something else"),
        Staging(tmp_path / "out", force=True) as staging,
    ):
        (staging.path / "release.json").write_text("{}")
        (tmp_path / "out" / "release.json").unlink()
        staging.commit()
    assert contents(tmp_path / "out") == {"data.csv": "1", "parts/more": "1"}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_folder_that_appears_meanwhile_is_not_touched(tmp_path: Path, way: str) -> None:
    with (
        pytest.raises(TargetError, match="has appeared while this run was at work"),
        Staging(tmp_path / "out") as staging,
    ):
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "theirs").write_text("x")
        staging.commit()
    assert contents(tmp_path / "out") == {"theirs": "x"}


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_leaving_without_a_commit_leaves_nothing(tmp_path: Path, error: type[BaseException]) -> None:
    release(tmp_path / "out")
    for target in (tmp_path / "out", tmp_path / "new" / "deep" / "out"):
        with pytest.raises(error), Staging(target, force=True) as staging:
            (staging.path / "data.csv").write_text("2")
            raise error
    with Staging(tmp_path / "other"):
        pass
    assert contents(tmp_path) == {f"out/{name}": text for name, text in whole().items()}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_parents_are_made(tmp_path: Path) -> None:
    release(tmp_path / "a" / "b" / "out")
    assert contents(tmp_path / "a" / "b" / "out") == whole()


def test_a_file_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("x")
    with pytest.raises(TargetError, match="is a file, not a folder"):
        release(tmp_path / "out", force=True)
    with pytest.raises(TargetError, match="a part of the path is a file"):
        release(tmp_path / "out" / "deep" / "er")
    with pytest.raises(TargetError, match="a part of the path is a file"):
        release(tmp_path / "out" / "deep")
    assert (tmp_path / "out").read_text() == "x"


def test_names_that_can_not_be(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="the name is too long"):
        release(tmp_path / ("x" * 300))
    with pytest.raises(TargetError, match="is not a folder that could be written"):
        release(Path("/"))


def test_links_are_followed_and_stay(tmp_path: Path) -> None:
    release(tmp_path / "real")
    (tmp_path / "link").symlink_to("real")
    with pytest.raises(TargetError, match="exists already"):
        release(tmp_path / "link", "2")
    release(tmp_path / "link", "2", force=True)
    assert (tmp_path / "link").is_symlink()
    assert contents(tmp_path / "real") == whole("2")
    (tmp_path / "dangling").symlink_to("nowhere")
    with pytest.raises(TargetError, match="is a link to something that is not there"):
        release(tmp_path / "dangling", force=True)


def test_links_inside_a_replaced_release_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "letter").write_text("dear")
    release(tmp_path / "out")
    (tmp_path / "out" / "link").symlink_to(tmp_path / "precious")
    with pytest.raises(TargetError, match="holds what is not the release's: link"):
        release(tmp_path / "out", "2", force=True)
    (tmp_path / "out" / "release.json").write_text(manifest("1", "link"))
    release(tmp_path / "out", "2", force=True)
    assert contents(tmp_path / "precious") == {"letter": "dear"}


def test_what_is_alive_is_not_swept(tmp_path: Path) -> None:
    stale = tmp_path / ".out.partial-1-1"
    stale.mkdir()
    (stale / "data.csv").write_text("x")
    with Staging(tmp_path / "out") as first:
        assert not stale.exists()
        (first.path / "data.csv").write_text("first")
        with Staging(tmp_path / "out") as second:
            assert first.path != second.path
            assert (first.path / "data.csv").read_text() == "first"
        first.commit()
    assert contents(tmp_path / "out") == {"data.csv": "first"}


def test_a_late_sweep_takes_nothing_newer(tmp_path: Path) -> None:
    """The sweep saw a folder that its owner then removed: the owner's next folder must not have that name."""
    seen = set()
    for turn in range(5):
        with Staging(tmp_path / "out", force=True) as staging:
            assert staging.path not in seen
            seen.add(staging.path)
            (staging.path / "release.json").write_text(manifest(str(turn)))
            staging.commit()


def test_what_comes_out_of_an_exchange_is_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release(tmp_path / "out")
    seen = []

    def look(folder: Path) -> bool:
        try:
            os.close(unfinished.lock(folder))
            seen.append("free")
        except BlockingIOError:
            seen.append("held")
        return True

    with Staging(tmp_path / "out", force=True) as staging:
        monkeypatch.setattr(folder_commit, "is_replaceable", look)
        staging.commit()
    assert seen == ["held", "held"]


def test_neighbours_with_like_names_are_left_alone(tmp_path: Path) -> None:
    for name in (".other.partial-1-1", ".out2.partial-1-1", "out.partial-1-1"):
        (tmp_path / name).mkdir()
    (tmp_path / ".out.partial-9-9").symlink_to(tmp_path / "out.partial-1-1")
    release(tmp_path / "out")
    assert len(list(tmp_path.iterdir())) == 5


def test_a_replacement_in_two_steps_that_was_cut_short(tmp_path: Path) -> None:
    release(tmp_path / ".out.replaced-1")
    with pytest.raises(TargetError, match="exists already"), Staging(tmp_path / "out"):
        pytest.fail("the release that was put aside is back and must not be lost")
    assert contents(tmp_path / "out") == whole()
    release(tmp_path / ".out.replaced-2", "0")
    release(tmp_path / "out", "2", force=True)
    assert contents(tmp_path) == {f"out/{name}": text for name, text in whole("2").items()}


def test_every_file_is_flushed_before_the_rename(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    fsync, rename = os.fsync, folder_commit._rename

    def flushed(handle: int) -> None:
        done.append(Path(f"/proc/self/fd/{handle}").readlink().name)
        fsync(handle)

    monkeypatch.setattr(os, "fsync", flushed)
    monkeypatch.setattr(folder_commit, "_rename", lambda *given: (done.append("RENAME"), rename(*given)))  # type: ignore[func-returns-value]
    release(tmp_path / "out")
    before, after = done[: done.index("RENAME")], done[done.index("RENAME") + 1 :]
    assert {"data.csv", "release.json", "more", "parts"} <= set(before)
    assert any(name.startswith(".out.partial-") for name in before)
    assert after == [tmp_path.name]


def test_checksums(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"shoal" * 1000)
    assert sha256_of(tmp_path / "x") == hashlib.sha256(b"shoal" * 1000).hexdigest()


# A process whose children replace a release and are killed: before each step of the replacement in turn (everything
# that Python's audit hooks see: opening, locking, removing, calls into the C library), then at random moments.
KILLER = """
import errno, json, os, random, signal, sys, time
from pathlib import Path
from shoal.io import Staging
from shoal.io.atomic import folder_commit as commit
folder, way = Path(sys.argv[1]), sys.argv[2]
if way == "two renames":
    commit._renameat2 = lambda *_: errno.EINVAL

def put(version):
    with Staging(folder, force=True) as staging:
        for name in ("a", "b"):
            (staging.path / name).write_text(str(version))
        files = [{"path": "a"}, {"path": "b"}]
        (staging.path / "release.json").write_text(json.dumps({"shoal": "0", "files": files, "version": version}))
        staging.commit()

def child(work):
    number = os.fork()
    if number == 0:
        work()
        os._exit(0)
    return number

def killed_before(step):
    def work():
        killed_at(step)
        put(step)
    return work

def for_ever():
    while True:
        put(time.monotonic_ns())

def look(where):
    try:
        with Staging(folder):  # as the next run would begin; it refuses, but first puts things right
            return f"LOST {where}"
    except Exception as error:
        texts = {path.name: path.read_text() for path in folder.iterdir()}
        texts["release.json"] = str(json.loads(texts["release.json"])["version"])
        fine = len(texts) == 3 and len(set(texts.values())) == 1 and "exists already" in str(error)
        return "whole" if fine else f"BROKEN {where} {sorted(texts)} {error}"

put(0)
seen, step, alive = [], 0, False
while not alive:
    step += 1
    alive = os.waitpid(child(killed_before(step)), 0)[1] == 0
    seen.append(look(step))
chance = random.Random(7)
for _ in range(10):
    number = child(for_ever)
    time.sleep(chance.uniform(0.001, 0.03))
    os.kill(number, signal.SIGKILL)
    os.waitpid(number, 0)
    seen.append(look("at random"))
put("last")
print(json.dumps([step, seen, sorted(path.name for path in folder.parent.iterdir())]))
"""


@pytest.mark.parametrize("way", ["exchange", "two renames"])
def test_a_kill_at_any_moment_leaves_the_old_or_the_new_whole(tmp_path: Path, way: str) -> None:
    command = [sys.executable, "-c", KILLED_AT + KILLER, str(tmp_path / "out"), way]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    steps, seen, left = json.loads(done.stdout)
    assert steps > 20
    assert set(seen) == {"whole"}
    assert left == ["out"]


RACER = """
import json, sys
from pathlib import Path
from shoal.io import Staging
from shoal.errors import TargetError
folder, name, force = Path(sys.argv[1]), sys.argv[2], sys.argv[3] == "force"
sys.stdin.readline()
won = 0
for _ in range(30 if force else 1):
    try:
        with Staging(folder, force=force) as staging:
            for part in ("a", "b"):
                (staging.path / part).write_text(name)
            told = {"shoal": "0", "files": [{"path": "a"}, {"path": "b"}], "version": name}
            (staging.path / "release.json").write_text(json.dumps(told))
            staging.commit()
        won += 1
    except TargetError as error:
        if "exists" not in str(error) and "appeared" not in str(error):
            raise
print(won)
"""


@pytest.mark.parametrize("mode", ["force", "once"])
def test_two_processes_at_one_folder(tmp_path: Path, mode: str) -> None:
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, str(tmp_path / "out"), name, mode],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in ("one", "two", "three")
    ]
    for racer in racers:
        assert racer.stdin
        racer.stdin.write("go\n")
        racer.stdin.flush()
    won = [int(racer.communicate()[0]) for racer in racers]
    assert all(racer.returncode == 0 for racer in racers)
    assert sum(won) == (90 if mode == "force" else 1)
    texts = contents(tmp_path / "out")
    assert set(texts) == {"a", "b", "release.json"}
    assert texts["a"] == texts["b"] == json.loads(texts["release.json"])["version"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_no_right_to_write(open_folder: Path, unprivileged: Callable[[str], str]) -> None:
    code = f"""
with Staging(Path({str(open_folder)!r}) / "deep" / "out") as staging:
    staging.commit()
"""
    open_folder.chmod(0o555)
    said = unprivileged(code)
    open_folder.chmod(0o777)
    assert said == f"TargetError: {open_folder}/deep/out: there is no right to write there"
    assert list(open_folder.iterdir()) == []
    assert unprivileged(code) == "done"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of one megabyte."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "shoal", place], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip("NO RIGHT TO MOUNT A SMALL DISK HERE, SO A FULL DISK IS TESTED BY A LIMIT ON FILES ONLY")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)


NUMBERS = pl.LazyFrame({"a": range(500_000)})


@pytest.mark.parametrize("name", ["data.csv", "data.parquet", "data.jsonl", "data.arrow", "data.xlsx"])
def test_no_room_on_the_disk(small_disk: Path, name: str) -> None:
    release(small_disk / "out")
    with (
        pytest.raises(TargetError, match="there is no room left on the disk"),
        Staging(small_disk / "out", force=True) as staging,
    ):
        noise = NUMBERS.with_columns(b=pl.col("a").hash(1), c=pl.col("a").hash(2))
        file_target(staging.path / name).write(noise.head(60_000) if name.endswith("x") else noise)
        staging.commit()
    assert contents(small_disk / "out") == whole()
    assert [path.name for path in small_disk.iterdir()] == ["out"]


def test_no_room_for_the_manifest(small_disk: Path) -> None:
    with pytest.raises(TargetError, match="out: there is no room left"), Staging(small_disk / "out") as staging:
        (staging.path / "release.json").write_bytes(b"x" * 2_000_000)
    assert list(small_disk.iterdir()) == []


def test_a_disk_that_can_only_be_read(small_disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    with pytest.raises(TargetError, match="the disk is read-only"):
        release(small_disk / "out")


LIMITED = """
import resource, sys
from pathlib import Path
import polars as pl
from shoal.io import Staging, file_target
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    with Staging(Path(sys.argv[1])) as staging:
        file_target(staging.path / "data.csv").write(pl.LazyFrame({"a": range(500_000)}))
except Exception as error:
    print(type(error).__name__, error)
"""


def test_a_limit_on_files(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(tmp_path / "out")], check=True, capture_output=True, text=True
    )
    assert done.stdout.startswith("TargetError")
    assert "there is no room left on the disk" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_file_system_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", no_locks)
    perhaps_alive = tmp_path / ".out.partial-1-1"
    perhaps_alive.mkdir()
    release(tmp_path / "out")
    assert contents(tmp_path / "out") == whole()
    assert perhaps_alive.exists()
