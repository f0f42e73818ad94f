"""A stream that is cut off at any commit, once or again and again, goes on where it was."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.feeds import ListedLog, ListedSink, Stopped

from shoal.errors import SourceError
from shoal.policy import Policy
from shoal.streaming.request import StreamDelay, StreamRequest
from shoal.streaming.run import StreamRun
from shoal.streaming.sources.base import position_in
from shoal.streaming.state import StreamCounts, StreamState

POLICY = """
shoal: 1
name: feed
attributes:
  age: {role: quasi, type: integer, hierarchy: {intervals: {widths: [10, 20]}}}
  number: {role: insensitive, type: integer}
privacy: [{k_anonymity: {k: 3}}]
"""
cuts = st.lists(st.tuples(st.integers(0, 8), st.booleans()), max_size=4)


@pytest.mark.requirement("L-05")
@given(st.lists(st.integers(0, 60), max_size=60), st.integers(1, 30), st.integers(1, 9), cuts)
@settings(max_examples=60, deadline=None)
def test_each_record_leaves_once_wherever_the_power_is_cut(ages, delay, reads, cut):
    """Three partitions, as a log of Kafka has them: positions of one are no positions of another."""
    records = [{"age": age, "number": number} for number, age in enumerate(ages)]
    log: list[list[Any]] = [[*records[0::3], None], records[1::3], records[2::3]]
    sink = ListedSink()
    for stop_at, stop_after in [*cut, (None, False)]:
        sink.stop_at, sink.stop_after = None if stop_at is None else len(sink.commits) + stop_at, stop_after
        request = StreamRequest(Policy.from_text(POLICY), delay=StreamDelay(delay))
        try:
            counts = StreamRun(request, ListedLog(log, reads), sink).execute().counts
        except Stopped:
            continue
    assert sorted(record["number"] for record in sink.records) == list(range(len(records)))
    assert counts.read == counts.published + counts.suppressed + counts.unreadable == len(records) + 1
    assert counts.unreadable == 1


@given(st.sets(st.integers(0, (1 << 64) - 1), max_size=20), st.integers(0, 99))
def test_a_state_is_read_as_it_was_written(waiting, figure):
    counts = StreamCounts(read=figure, levels=figure / 7)
    state = StreamState("sum", {"0": figure}, tuple(sorted(waiting)), counts, figure)
    assert StreamState.from_json(state.to_json(), "here") == state


def test_a_position_has_room_for_both_of_its_numbers():
    assert position_in(1, 0) > position_in(0, (1 << 48) - 1)
    with pytest.raises(SourceError):
        position_in(1 << 16, 0)
