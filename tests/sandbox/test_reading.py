"""The child process: what it hands over, what it may use, and how it ends."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from threading import Thread
from typing import Any

import polars as pl
import pytest
from tests.sandbox.tasks import SHY

from shoal.errors import DataError, SourceError
from shoal.sandbox import Limits, Message, ReadRequest, limits, parent_process, read
from shoal.sandbox.limits import MEMORY_VARIABLE, SECONDS_VARIABLE

pytestmark = pytest.mark.requirement("V-05", "D-01")
SMALL = Limits(memory_mb=400, seconds=1)


def request(task: str, limits: Limits = SMALL, **arguments: object) -> ReadRequest:
    return ReadRequest(f"tests.sandbox.tasks:{task}", arguments, "a.bin", "is not whole", 0, limits)


def told(task: str, **arguments: object) -> list[Message]:
    return list(read(request(task, **arguments)))  # type: ignore[arg-type]


def pid() -> int:
    return int(told("environment")[0].told["pid"])


def is_alive(process: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False


def wait_for_end(process: int) -> None:
    for _ in range(2000):
        if not is_alive(process):
            return
        time.sleep(0.01)
    raise AssertionError("the child is still there")


def test_a_table_comes_back_as_arrow() -> None:
    (found,) = told("table", rows=3)
    assert pl.read_ipc_stream(found.content)["a"].to_list() == [0, 1, 2]
    assert found.told == {"rows": 3}


def test_what_the_task_asks_is_answered_and_not_handed_on() -> None:
    def double(asked: Mapping[str, Any]) -> dict[str, int]:
        return {"doubled": 2 * asked["number"]}

    (found,) = read(request("sums", numbers=[1, 2, 3]), answer=double)
    assert found.told == {"sum": 12}


def test_files_are_handed_over_open(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("asha")
    with (tmp_path / "a").open("rb") as source, (tmp_path / "b").open("wb") as target:
        assert list(read(request("copied"), files=[source.fileno(), target.fileno()])) == []
    assert (tmp_path / "b").read_text() == "ASHA"


def test_one_child_reads_one_file_after_the_other() -> None:
    first = pid()
    with pytest.raises(SourceError):
        told("raises")
    assert pid() == first


def test_our_own_errors_cross_in_their_words() -> None:
    with pytest.raises(DataError, match="3 values are none") as raised:
        told("refuses")
    assert raised.value.advice == "look at it"


@pytest.mark.parametrize("task", ["raises", "panics", "recurses", "overflows"])
def test_other_errors_cross_without_a_word_of_theirs(task: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SourceError, match=r"^a\.bin: is not whole") as raised:
        told(task)
    assert SHY not in str(raised.value)
    assert raised.value.__suppress_context__ or raised.value.__context__ is None
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("task", ["swells", "aborts"])
def test_too_much_memory_is_said_with_how_to_allow_more(task: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SourceError, match=f"more than 400 MB.*{MEMORY_VARIABLE}"):
        told(task)
    assert capfd.readouterr() == ("", "")


def test_what_comes_back_is_limited_too() -> None:
    with pytest.raises(SourceError, match="more than 400 MB"):
        told("talks")


def test_too_much_time_is_said_with_how_to_allow_more() -> None:
    with pytest.raises(SourceError, match=f"takes more than 1 s.*{SECONDS_VARIABLE}"):
        told("spins")


def test_a_child_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    assert pid()  # its start takes longer than it will be waited for
    monkeypatch.setattr(Limits, "patience", 2.0)
    messages = read(request("sleeps"))
    child = next(messages).told["pid"]
    with pytest.raises(SourceError, match="takes more than"):
        next(messages)
    wait_for_end(child)


def test_the_environment_allows_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MEMORY_VARIABLE, "123")
    monkeypatch.setenv(SECONDS_VARIABLE, "45")
    allowed = SMALL.scaled(10 << 20)
    assert (allowed.memory_mb, allowed.seconds) == (123, 45)
    monkeypatch.setenv(SECONDS_VARIABLE, "soon")
    assert SMALL.scaled(10 << 20).seconds == 11


def test_a_child_has_nothing_of_the_environment_that_it_does_not_need(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOAL_KEY", SHY)
    monkeypatch.setattr(parent_process, "_idle", parent_process._Idle())
    assert "SHOAL_KEY" not in told("environment")[0].told["names"]


def test_a_child_that_is_broken_off_is_ended() -> None:
    messages = read(request("sleeps"))
    child = next(messages).told["pid"]
    messages.close()  # type: ignore[attr-defined]
    wait_for_end(child)


def test_an_answer_that_fails_ends_the_child() -> None:
    def fail(asked: Mapping[str, Any]) -> dict[str, int]:
        raise ZeroDivisionError

    before = pid()
    with pytest.raises(ZeroDivisionError):
        list(read(request("sums", numbers=[1]), answer=fail))
    wait_for_end(before)


def test_a_thread_has_a_child_of_its_own_that_ends_with_it() -> None:
    found: list[int] = []
    thread = Thread(target=lambda: found.append(pid()))
    thread.start()
    thread.join()
    assert found[0] != pid()
    wait_for_end(found[0])


def test_the_child_dies_with_its_parent() -> None:
    code = (
        "from tests.sandbox.test_reading import request, read\n"
        "for message in read(request('sleeps')):\n"
        "    print(message.told['pid'], flush=True)\n"
    )
    where = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=where) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert is_alive(child)
        parent.send_signal(signal.SIGKILL)
        parent.wait()
        wait_for_end(child)


def test_where_no_process_can_be_started_nothing_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parent_process, "_idle", parent_process._Idle())
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(SourceError, match="no process can be started"):
        told("environment")


@pytest.mark.parametrize("limit", ["RLIMIT_DATA", "RLIMIT_CPU"])
def test_a_hard_limit_that_the_command_was_started_under_stays(tmp_path: Path, limit: str) -> None:
    """As ``ulimit -d`` sets it: only a superuser may lift it, so a child that tries to would read nothing at all."""
    pl.DataFrame({"a": [1, 2, 3]}).write_parquet(tmp_path / "a.parquet")
    program = (
        "import resource, sys; from shoal.cli import main\n"
        f"most = 3 << 30 if '{limit}' == 'RLIMIT_DATA' else 600\n"
        f"resource.setrlimit(resource.{limit}, (most, most))\n"
        "sys.argv = ['shoal', 'measure', 'a.parquet', '--qi', 'a']; main()"
    )
    where = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=where, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_limits_are_lowered_to_hard_ones_and_never_above(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the calls recorded, since a superuser may do anything."""
    hard = {resource.RLIMIT_DATA: 1 << 20, resource.RLIMIT_CPU: resource.RLIM_INFINITY, resource.RLIMIT_CORE: 0}
    made: dict[int, tuple[int, int]] = {}
    monkeypatch.setattr(resource, "getrlimit", lambda what: (hard[what], hard[what]))
    monkeypatch.setattr(resource, "setrlimit", made.__setitem__)
    limits.hold(Limits(memory_mb=100, seconds=5))
    assert made[resource.RLIMIT_DATA] == (1 << 20, 1 << 20)
    assert made[resource.RLIMIT_CPU][0] > 5
    assert made[resource.RLIMIT_CPU][1] == resource.RLIM_INFINITY
