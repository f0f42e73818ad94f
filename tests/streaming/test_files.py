"""Files and the standard input as sources, files as sinks: each record once, whatever kills the stream."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from tests.support.commands import Call, in_process

from shoal.errors import InputError, IntegrityError, ShoalError, SourceError, TargetError
from shoal.policy import Policy
from shoal.streaming.places import open_feed, open_sink
from shoal.streaming.report import StreamReport
from shoal.streaming.request import StreamDelay, StreamRequest
from shoal.streaming.run import StreamRun
from shoal.streaming.sources.base import LARGEST_RECORD

POLICY = """
shoal: 1
name: visits
attributes:
  age: {role: quasi, type: integer, hierarchy: {intervals: {widths: [10, 20]}}}
  sex: {role: quasi}
  number: {role: insensitive, type: integer}
privacy: [{k_anonymity: {k: 5}}]
"""

UNFIT = POLICY.replace("k_anonymity: {k: 5}", "average_risk: {threshold: 0.1}")
"""A model that is judged by the whole table."""


@pytest.fixture
def shoal(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    return in_process(monkeypatch, capfd)


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    path = tmp_path / "policy.yaml"
    path.write_text(POLICY)
    return path


def lines(first: int, last: int) -> str:
    records = (
        {"age": 20 + number * 7 % 50, "sex": "FM"[number % 2], "number": number} for number in range(first, last)
    )
    return "".join(json.dumps(record) + "\n" for record in records)


def numbers(path: Path) -> list[int]:
    return [json.loads(line)["number"] for line in path.read_text().splitlines()]


def flow(source: Path, target: Path, delay: int = 40, policy: str = POLICY, *, force: bool = False) -> StreamReport:
    request = StreamRequest(Policy.from_text(policy), delay=StreamDelay(delay))
    with closing(open_feed(str(source))) as feed, closing(open_sink(str(target), force=force)) as sink:
        return StreamRun(request, feed, sink).execute()


def test_a_file_goes_to_a_file(tmp_path, policy, shoal):
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text(lines(0, 200))
    ended = shoal("stream", str(policy), "--from", str(source), "--to", str(target), "--delay", "50", "--json")
    assert ended.code == 0
    assert (ended.found["read"], ended.found["waiting"], ended.found["k"]) == (200, 0, 5)
    assert sorted(numbers(target)) == list(range(200))
    classes = Counter((one["age"], one["sex"]) for one in map(json.loads, target.read_text().splitlines()))
    classes.pop(("*", "*"), None)
    assert min(classes.values()) >= 5


def test_what_a_file_has_grown_by_is_read_at_the_next_start(tmp_path):
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text(lines(0, 100))
    flow(source, target)
    source.write_text(lines(0, 250))
    counts = flow(source, target).counts
    assert sorted(numbers(target)) == list(range(250))
    assert counts.read == counts.published + counts.suppressed == 250


def test_csv_goes_in_and_comes_out(tmp_path):
    source, target = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text("age,sex,number\r\n" + "".join(f'"{30 + one % 2}",F,{one}\r\n' for one in range(20)) + '31,"F\n')
    counts = flow(source, target).counts
    header, *rows = target.read_text().splitlines()
    assert header == "age,sex,number"
    assert len(rows) == 20
    assert counts.unreadable == 1
    source.write_text(source.read_text() + "31,F,21\n" * 5)
    flow(source, target)
    assert target.read_text().count("age") == 1


def test_blank_lines_are_none_and_long_ones_are_counted(tmp_path):
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    long = json.dumps({"age": 1, "sex": "x" * (LARGEST_RECORD * 2), "number": 1})
    source.write_text(lines(0, 6) + "\n  \r\n" + long + "\nnot json\n" + lines(6, 12))
    counts = flow(source, target).counts
    assert counts.unreadable == 2
    assert sorted(numbers(target)) == list(range(12))


def test_the_standard_input_goes_to_the_standard_output(policy, shoal, monkeypatch):
    reader, writer = os.pipe()
    os.write(writer, lines(0, 100).encode())
    os.close(writer)
    with io.TextIOWrapper(os.fdopen(reader, "rb")) as given:
        monkeypatch.setattr(sys, "stdin", given)
        ended = shoal("stream", str(policy), "--delay", "20")
    assert sorted(json.loads(line)["number"] for line in ended.stdout.splitlines()) == list(range(100))
    assert "100 records read" in ended.stderr


def test_another_policy_can_not_go_on(tmp_path):
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text(lines(0, 100))
    flow(source, target)
    with pytest.raises(InputError, match="another policy"):
        flow(source, target, policy=POLICY.replace("k: 5", "k: 4"))


def test_a_file_that_no_stream_left_is_not_touched(tmp_path):
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text(lines(0, 10))
    target.write_text("mine\n")
    with pytest.raises(TargetError, match="no stream left it"):
        flow(source, target)
    assert target.read_text() == "mine\n"


@pytest.mark.parametrize("name", ["in.jsonl", "link.jsonl", "hard.jsonl"])
def test_what_is_read_is_not_replaced(tmp_path, name):
    source = tmp_path / "in.jsonl"
    source.write_text(lines(0, 10))
    (tmp_path / "link.jsonl").symlink_to(source)
    (tmp_path / "hard.jsonl").hardlink_to(source)
    with pytest.raises(InputError, match="is what is read"):
        flow(source, tmp_path / name, force=True)
    assert source.read_text() == lines(0, 10)


def test_what_is_there_is_replaced_only_by_a_stream_that_begins(tmp_path):
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text(lines(0, 10))
    target.write_text("mine\n")
    with pytest.raises(ShoalError):
        flow(source, target, force=True, policy=UNFIT)
    assert target.read_text() == "mine\n"
    with pytest.raises(ShoalError):
        flow(source, tmp_path / "new.jsonl", policy=UNFIT)
    assert not (tmp_path / "new.jsonl").exists()
    flow(source, target, force=True)
    assert "mine" not in target.read_text()


def test_two_streams_do_not_write_to_one_file(tmp_path):
    target = str(tmp_path / "out.jsonl")
    with closing(open_sink(target)), pytest.raises(TargetError, match="another stream"):
        open_sink(target)


@pytest.mark.parametrize("state", ["", "{}", "[]", '{"shoal_stream": 2}', '{"shoal_stream": 1, "waiting": "x"}'])
def test_a_journal_that_was_altered_is_refused(tmp_path, state):
    target = tmp_path / "out.jsonl"
    (tmp_path / "out.jsonl.shoal-stream").write_text(state)
    with closing(open_sink(str(target))) as sink, pytest.raises(IntegrityError):
        sink.load()


def test_an_output_that_was_cut_is_refused(tmp_path):
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text(lines(0, 100))
    flow(source, target)
    target.write_text("")
    with pytest.raises(IntegrityError, match="shorter"):
        flow(source, target)


def test_a_source_that_was_cut_is_refused(tmp_path):
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text(lines(0, 100))
    flow(source, target)
    source.write_text("")
    with pytest.raises(SourceError, match="shorter"):
        flow(source, target)


def test_the_journal_has_no_value_of_a_record(tmp_path):
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text(lines(0, 30).replace('"F"', '"Female-secret"') + '{"age": "secret", "sex": "secret"}\n')
    flow(source, target, delay=1000)
    assert "secret" not in (tmp_path / "out.jsonl.shoal-stream").read_text()


KILLED = """
import os, signal, sys
from pathlib import Path

def dies_at(call, number):
    done = 0
    def counted(*arguments, **more):
        nonlocal done
        done += 1
        if done == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*arguments, **more)
    return counted

where, number = sys.argv[1], int(sys.argv[2])
if where == "fsync":
    os.fsync = dies_at(os.fsync, number)
elif where == "replace":
    Path.replace = dies_at(Path.replace, number)
else:
    import polars
    polars.DataFrame.write_ndjson = dies_at(polars.DataFrame.write_ndjson, number)
sys.argv = ["shoal", *sys.argv[3:]]
from shoal.cli import main
main()
"""


@pytest.mark.requirement("L-05")
@pytest.mark.parametrize(("where", "number"), [("write", 2), ("fsync", 1), ("fsync", 6), ("replace", 2)])
def test_a_kill_at_any_step_of_a_commit_loses_and_doubles_nothing(tmp_path, policy, where, number):
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text(lines(0, 400))
    words = ["stream", str(policy), "--from", str(source), "--to", str(target), "--delay", "60"]
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, where, str(number), *words], capture_output=True, check=False
    )
    assert killed.returncode == -signal.SIGKILL
    if target.stat().st_size:
        with target.open("ab") as file:  # what a write that was cut short may leave
            file.write(b'{"age":"2')
    counts = flow(source, target, delay=60).counts
    assert sorted(numbers(target)) == list(range(400))
    assert counts.read == counts.published + counts.suppressed == 400
