"""Streams of a real Valkey (or Redis) server as source and as sink: entries and state change together."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from tests.servers import Server

from shoal.errors import InputError, SourceError, TargetError
from shoal.policy import Policy
from shoal.streaming.places import open_feed, open_sink
from shoal.streaming.report import StreamReport
from shoal.streaming.request import StreamDelay, StreamRequest
from shoal.streaming.run import StreamRun
from shoal.streaming.state import StreamState

if TYPE_CHECKING:
    from redis import Redis

pytestmark = pytest.mark.server
POLICY = """
shoal: 1
name: feed
attributes:
  age: {role: quasi, type: integer, hierarchy: {intervals: {widths: [10, 20]}}}
  number: {role: insensitive, type: integer}
privacy: [{k_anonymity: {k: 3}}]
"""


@pytest.fixture
def server(valkey: Server) -> Iterator[Redis]:
    redis = pytest.importorskip("redis", reason="NO DRIVER OF VALKEY: pip install redis")
    with closing(redis.Redis(port=valkey.port)) as client:
        client.flushall()
        yield client


def place(valkey: Server, name: str) -> str:
    return f"valkey://127.0.0.1:{valkey.port}/0#{name}"


def fill(server: Redis, first: int, last: int) -> None:
    for number in range(first, last):
        server.xadd("visits", {"age": str(number * 7 % 50), "number": str(number)})


def numbers(server: Redis, name: str = "safe") -> list[int]:
    found: Any = server.xrange(name)
    return [int(fields[b"number"]) for _, fields in found]


def flow(
    valkey: Server, delay: int = 20, target: str | None = None, policy: str = POLICY, *, force: bool = False
) -> StreamReport:
    request = StreamRequest(Policy.from_text(policy), delay=StreamDelay(delay))
    to = target or place(valkey, "safe")
    with closing(open_feed(place(valkey, "visits"))) as feed, closing(open_sink(to, force=force)) as sink:
        return StreamRun(request, feed, sink).execute()


@pytest.mark.requirement("L-05")
def test_entries_go_from_stream_to_stream(valkey, server):
    fill(server, 0, 100)
    report = flow(valkey)
    assert report.counts.read == 100
    assert sorted(numbers(server)) == list(range(100))
    fill(server, 100, 130)
    assert flow(valkey).counts.read == 130
    assert sorted(numbers(server)) == list(range(130))


def test_a_stream_goes_to_a_file(valkey, server, tmp_path):
    fill(server, 0, 30)
    flow(valkey, target=str(tmp_path / "safe.jsonl"))
    assert len((tmp_path / "safe.jsonl").read_text().splitlines()) == 30


def test_what_is_no_text_or_of_another_type_is_counted(valkey, server):
    server.xadd("visits", {"age": b"\xff", "number": "1"})
    server.xadd("visits", {"age": "old", "number": "2"})
    assert flow(valkey).counts.unreadable == 2


KILLED = """
import os, signal, sys
import redis
from redis.client import Pipeline

number, before = int(sys.argv[1]), sys.argv[2] == "before"
execute, done = Pipeline.execute, 0

def dies(self, *arguments, **more):
    global done
    done += 1
    if done == number and before:
        os.kill(os.getpid(), signal.SIGKILL)
    answer = execute(self, *arguments, **more)
    if done == number:
        os.kill(os.getpid(), signal.SIGKILL)
    return answer

Pipeline.execute = dies
sys.argv = ["shoal", *sys.argv[3:]]
from shoal.cli import main
main()
"""


@pytest.mark.requirement("L-05")
@pytest.mark.parametrize(("number", "when"), [(3, "before"), (3, "after")])
def test_a_kill_before_or_after_a_transaction_loses_and_doubles_nothing(valkey, server, tmp_path, number, when):
    fill(server, 0, 200)
    policy = tmp_path / "policy.yaml"
    policy.write_text(POLICY)
    words = ["stream", str(policy), "--from", place(valkey, "visits"), "--to", place(valkey, "safe"), "--delay", "20"]
    killed = subprocess.run([sys.executable, "-c", KILLED, str(number), when, *words], capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL
    there = len(numbers(server))
    assert 0 < there < 200
    assert flow(valkey).counts.read == 200
    assert sorted(numbers(server)) == list(range(200))


def test_two_streams_do_not_write_to_one_place(valkey, server):
    fill(server, 0, 40)
    with closing(open_sink(place(valkey, "safe"))) as late:
        late.load()
        flow(valkey)
        with pytest.raises(TargetError, match="another stream"):
            late.commit(pl.DataFrame({"age": ["1"], "number": [1]}), StreamState("sum"))
    assert server.xlen("safe") == 40


def test_entries_that_were_deleted_while_they_waited_are_missed(valkey, server, tmp_path):
    """Three are of one age and leave; the others wait when the stream is stopped, and then are trimmed away."""
    fill(server, 0, 30)
    fill(server, 0, 1)
    fill(server, 0, 1)
    request = StreamRequest(Policy.from_text(POLICY), delay=StreamDelay(1000, seconds=3600.0), follow=True)
    target = str(tmp_path / "safe.jsonl")
    with closing(open_feed(place(valkey, "visits"), follow=True)) as feed, closing(open_sink(target)) as sink:
        read, reads = feed.read, 0

        def once(most: int, wait: float | None) -> Any:
            nonlocal reads
            reads += 1
            if reads > 1:
                raise KeyboardInterrupt
            return read(most, 0.05)

        feed.read = once  # type: ignore[method-assign]
        report = StreamRun(request, feed, sink).execute()
    assert report.waiting > 0
    assert not report.ended
    server.xtrim("visits", maxlen=0)
    with pytest.raises(SourceError, match="deleted"):
        flow(valkey, target=target)


def test_a_place_without_a_stream_is_refused(valkey):
    with pytest.raises(InputError, match="name the stream"):
        open_feed(f"redis://127.0.0.1:{valkey.port}/0")


def test_a_server_that_does_not_answer_is_told_without_its_password():
    with pytest.raises(SourceError) as refused:
        open_feed("redis://:secret@127.0.0.1:1/0#visits")
    assert "secret" not in str(refused.value)


def test_what_is_read_is_not_replaced(valkey, server):
    fill(server, 0, 10)
    other_name = f"redis://localhost:{valkey.port}/0#visits"
    with pytest.raises(InputError, match="is what is read"):
        flow(valkey, target=other_name, force=True)
    assert server.xlen("visits") == 10


def test_what_is_there_is_not_touched(valkey, server):
    server.xadd("safe", {"mine": "1"})
    fill(server, 0, 10)
    with pytest.raises(TargetError, match="no stream left it"):
        flow(valkey)
    assert server.xlen("safe") == 1
