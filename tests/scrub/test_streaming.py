"""Logs: line by line, without delay, in bounded memory, with nothing that escapes at a seam."""

from __future__ import annotations

import io
import json
import logging
import os
import re
import select
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.text.known_forms import annotator

from shoal.errors import InputError
from shoal.pseudonyms.run_secrets import RunSecrets
from shoal.randomness import Randomness
from shoal.scrub.account import ScrubAccount
from shoal.scrub.files import FileScrubber
from shoal.scrub.log_filter import WITHHELD, ScrubbingFilter, ScrubbingFormatter
from shoal.scrub.scrubber import Scrubber
from shoal.scrub.streams import STACK_TRACE, read_lines, scrub_lines, scrub_together

pytestmark = pytest.mark.requirement("X-05")


def scrubber(replace="label") -> Scrubber:
    return Scrubber(annotator(), replace, RunSecrets(Randomness(1)))


def test_each_line_is_passed_on_before_the_next_is_read():
    read = []

    def lines():
        for line in ("Asha Rao\n", "Lim\n", "end"):
            read.append(line)
            yield line

    seen = [(out, len(read)) for out in scrub_lines(lines(), scrubber())]
    assert seen == [("[PERSON]\n", 1), ("[PERSON]\n", 2), ("end", 3)]


@given(
    parts=st.lists(
        st.sampled_from(["Asha Rao", "a@b.in", "2345 6789 0124", "aged 34", "x", "lorem ipsum", ","]), max_size=60
    ),
    piece=st.integers(1, 80),
    replace=st.sampled_from(["label", "mask"]),
)
@settings(max_examples=200)
def test_a_long_line_in_windows_is_scrubbed_like_the_whole(parts, piece, replace):
    line = " ; ".join(parts) + "\n"
    pieces = [line[at : at + piece] for at in range(0, len(line), piece)]
    told = []
    out = "".join(
        scrub_lines(
            pieces,
            scrubber(replace),
            most=80,
            overlap=40,
            tell=lambda action, now, was: told.append((action, now, was)),
        )
    )
    whole = scrubber(replace).scrub(line)
    assert out == whole.text
    assert tuple(action for action, _, _ in told) == whole.actions
    assert all(out[action.new_start : action.new_end] == now for action, now, _ in told)
    assert all(line[action.start : action.end] == was for action, _, was in told)


def test_memory_is_bounded_on_a_line_without_end():
    longest = 0

    class Watched:
        def annotate(self, text):
            nonlocal longest
            longest = max(longest, len(text))
            return annotator().annotate(text)

    pieces = ("lorem Asha Rao ipsum " for _ in range(5_000))
    out = sum(part.count("[PERSON]") for part in scrub_lines(pieces, Scrubber(Watched()), most=1_000, overlap=100))
    assert out == 5_000
    assert longest < 1_500


@pytest.mark.parametrize("word", ["lorem ", "x", "Asha Rao, "])
def test_what_is_read_of_a_line_without_end_grows_with_it_and_no_faster(word):
    read = 0

    class Watched:
        def annotate(self, text):
            nonlocal read
            read += len(text)
            return annotator().annotate(text)

    counts = []
    for times in (2_000, 8_000):
        read = 0
        list(scrub_lines([word] * times, Scrubber(Watched()), most=1_000, overlap=100))
        counts.append(read / times)
    assert counts[1] < 1.1 * counts[0]
    assert counts[1] < 3 * len(word)


def test_windows_that_are_too_short_are_refused():
    with pytest.raises(InputError, match="twice"):
        list(scrub_lines(["a"], scrubber(), most=10, overlap=6))


def test_a_stack_trace_can_be_one_record():
    trace = [
        "failed for Rao\n",
        "Traceback (most recent call last):\n",
        '  File "a.py", line 1\n',
        "KeyError: 'x'\n",
        "next\n",
    ]
    seen = []

    class Watched:
        def annotate(self, text):
            seen.append(text)
            return annotator().annotate(text)

    out = "".join(scrub_lines(trace, Scrubber(Watched()), follows=STACK_TRACE))
    assert out == "".join(trace).replace("Rao", "[PERSON]")
    assert "".join(trace[:4]) in seen


def test_an_address_over_two_lines_needs_the_record():
    lines = ["lives at 12 Hill Road,\n", "\tPune now\n"]
    form = re.compile(r"\t")
    text = "".join(lines)
    assert "".join(scrub_lines(lines, scrubber(), follows=form)) == scrubber().scrub(text).text


LINES = st.lists(
    st.sampled_from(
        ["Asha Rao wrote\n", "Lim\n", "\n", "  at x\n", "a@b.in\r\n", "aged 34, and on and on it goes\n", "Asha R", "x"]
    ),
    max_size=12,
)


@given(
    lines=LINES, cuts=st.lists(st.integers(1, 5), max_size=12), follows=st.sampled_from([None, re.compile(r"\s+\S")])
)
@settings(max_examples=200)
def test_lines_that_come_together_are_scrubbed_as_if_each_came_alone(lines, cuts, follows):
    batches, rest = [], lines
    for cut in [*cuts, len(lines)]:
        batches.append(rest[:cut])
        rest = rest[cut:]
    told_alone, told = [], []
    alone = scrub_lines(
        lines, scrubber(), most=24, overlap=8, follows=follows, tell=lambda *one: told_alone.append(one)
    )
    together = scrub_together(
        batches, scrubber(), most=24, overlap=8, follows=follows, tell=lambda *one: told.append(one)
    )
    assert "".join(together) == "".join(alone)
    assert told == told_alone


@given(data=st.lists(st.sampled_from([b"a", b"bc", b"\n", b"\r\n", "é".encode(), b"\xff"]), max_size=40).map(b"".join))
@settings(max_examples=200)
def test_lines_are_cut_alike_however_they_are_read(data):
    class Readable:
        """A stream that can't tell what is there."""

        def __init__(self) -> None:
            self.readline = io.BytesIO(data).readline

    for most in (4, 7, 1_000):
        assert list(read_lines(io.BytesIO(data), most=most)) == list(read_lines(Readable(), most=most))  # type: ignore[arg-type]


def test_nothing_waits_for_a_line_that_is_yet_to_come():
    reader, writer = os.pipe()
    seen, out = os.pipe()
    with os.fdopen(reader, "rb") as source, os.fdopen(out, "wb") as target:
        cleaner = FileScrubber(scrubber(), ScrubAccount())
        thread = threading.Thread(target=cleaner.stream, args=(source, target), daemon=True)
        thread.start()
        os.write(writer, b"Asha Rao\nLim\nhalf a l")
        assert _arriving(seen, 18) == b"[PERSON]\n[PERSON]\n"
        os.write(writer, b"ine of Lim\n")
        assert _arriving(seen, 24) == b"half a line of [PERSON]\n"
        os.close(writer)
        thread.join(10)
    os.close(seen)


def _arriving(pipe: int, count: int) -> bytes:
    """So many bytes, unless they take too long."""
    got = b""
    while len(got) < count and select.select([pipe], [], [], 10)[0]:
        got += os.read(pipe, count - len(got))
    return got


def test_bytes_that_are_no_text_are_not_passed_on():
    assert list(read_lines(io.BytesIO(b"caf\xe9 Rao\nnext"))) == ["caf\ufffd Rao\n", "next"]
    assert list(read_lines(io.BytesIO("café\n".encode("latin-1")), "latin-1")) == ["café\n"]


def test_a_character_is_never_torn_apart():
    assert "".join(read_lines(io.BytesIO("日本語".encode()), most=4)) == "日本語"


def test_line_ends_stay():
    out = io.BytesIO()
    account = ScrubAccount()
    FileScrubber(scrubber(), account).stream(io.BytesIO(b"Asha Rao\r\n\r\nLim\n\nx"), out)
    assert out.getvalue() == b"[PERSON]\r\n\r\n[PERSON]\n\nx"
    assert account.counts == {"person": 2}


def test_the_side_file_and_the_table_are_whole_even_if_the_work_breaks_off():
    class Breaking(io.BytesIO):
        def write(self, data):
            if b"[EMAIL]" in data:
                raise KeyboardInterrupt
            return super().write(data)

    side, table = io.StringIO(), io.StringIO()
    account = ScrubAccount(side, table)
    with pytest.raises(KeyboardInterrupt):
        FileScrubber(scrubber(), account).stream(io.BytesIO(b"Asha Rao\na@b.in\n"), Breaking())
    account.finish()
    told = json.loads(side.getvalue())
    assert told["documents"][0]["actions"][0] == {"start": 0, "end": 8, "new_start": 0, "new_end": 8, "type": "person"}
    assert "Asha" not in side.getvalue() + table.getvalue()
    assert table.getvalue().splitlines()[:2] == ["document,start,end,type,value", "-,0,8,person,[PERSON]"]


# Logging.


@pytest.fixture
def log():
    """A logger with its own handler, and what it writes."""
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    logger = logging.Logger("shop")
    logger.addHandler(handler)
    return logger, handler, out


def test_message_arguments_and_extras_are_cleaned(log):
    logger, handler, out = log
    handler.addFilter(ScrubbingFilter(scrubber()))
    handler.setFormatter(logging.Formatter("%(message)s | %(who)s | %(count)s | %(more)s | %(levelname)s"))
    extra = {"who": "Asha Rao", "count": 3, "more": {"mail": ["a@b.in", 7], "number": 234567890124}}
    logger.warning("no invoice for %s (%d)", "Ravi Lim", 5, extra=extra)
    assert out.getvalue() == (
        "no invoice for [PERSON] (5) | [PERSON] | 3 | {'mail': ['[EMAIL]', 7], 'number': '[AADHAAR]'} | WARNING\n"
    )


def test_exceptions_and_stacks_are_cleaned(log):
    logger, handler, out = log
    handler.addFilter(ScrubbingFilter(scrubber()))
    try:
        int("no such person: Asha Rao")
    except ValueError:
        logger.exception("failed", stack_info=True)
    assert "ValueError: invalid literal for int() with base 10: 'no such person: [PERSON]'" in out.getvalue()
    assert "Traceback" in out.getvalue()
    assert "Stack (most recent call last)" in out.getvalue()
    assert "person: Asha" not in out.getvalue()


def test_a_record_that_can_not_be_scrubbed_loses_its_words(log):
    class Broken:
        def annotate(self, text):
            raise RuntimeError

    logger, handler, out = log
    handler.setFormatter(logging.Formatter("%(levelname)s %(message)s %(who)s"))
    handler.addFilter(ScrubbingFilter(Scrubber(Broken())))
    logger.warning("Asha %s", "Rao", extra={"who": "Lim"})
    logger.warning("%d", "no number: Rao", extra={"who": "Lim"})
    assert out.getvalue() == f"WARNING {WITHHELD} {WITHHELD}\n" * 2
    record = logging.makeLogRecord({"msg": "Asha"})
    assert ScrubbingFormatter(Scrubber(Broken())).format(record) == WITHHELD


def test_the_filter_lets_pass_only_what_it_is_named_for():
    record = logging.makeLogRecord({"name": "shop.cart", "msg": "Rao"})
    assert not ScrubbingFilter(scrubber(), "bank").filter(record)
    assert ScrubbingFilter(scrubber(), "shop").filter(record)
    assert record.msg == "[PERSON]"


def test_the_formatter_cleans_the_finished_line():
    record = logging.makeLogRecord({"name": "Asha", "msg": "call %s", "args": ("a@b.in",)})
    formatter = ScrubbingFormatter(scrubber(), logging.Formatter("%(name)s: %(message)s"))
    assert formatter.format(record) == "[PERSON]: call [EMAIL]"
