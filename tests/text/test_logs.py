"""Logs are told from prose by their structure; in them users, addresses and keys go, and what a machine says stays."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from shoal.text import Annotator
from shoal.text.lexicon_finder import LexiconFinder
from shoal.text.logs.log_findings import WORD_FINDERS
from shoal.text.logs.log_lines import LogDetector, is_log, is_log_line

pytestmark = pytest.mark.requirement("X-05")

CASES = Path(__file__).parent / "cases" / "log_lines.txt"
LINES = [line for line in CASES.read_text("utf-8").splitlines() if not line.startswith("#")]
MARKED = re.compile("[⟦⟧]")
ANNOTATOR = Annotator()


def _read(line: str) -> tuple[str, str]:
    """The line itself, and with a star for each character that has to go."""
    kept, gone = "", ""
    for place, part in enumerate(MARKED.split(line)):
        kept += part
        gone += "*" * len(part) if place % 2 else part
    return kept, gone


def _starred(text: str, annotator: Annotator = ANNOTATOR) -> str:
    stars = list(text)
    for span in annotator.annotate(text):
        stars[span.start : span.end] = "*" * span.length
    return "".join(stars)


@pytest.mark.parametrize("line", LINES)
def test_what_is_personal_goes_and_all_else_stays(line: str) -> None:
    text, expected = _read(line)
    assert is_log_line(text)
    assert _starred(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-03 10:15 Asha Rao called and asked for her results.",
        "Dear Ms Rao,\n\nyour appointment is on 12 November 2026 at 10:15.\n",
        "[12/11/2026, 10:15:22] Asha Rao: can you call me?\n[12/11/2026, 10:16:01] Ravi: yes",
        "WARNING: keep away from children.",
        "At 10:15:22 the applicant, Mr Rao, was arrested in Pune.",
        '{"name": "Asha Rao", "city": "Pune"}',
        "",
    ],
)
def test_prose_is_no_log(text: str) -> None:
    assert not is_log(text)


def test_a_stack_trace_belongs_to_its_log() -> None:
    trace = 'Traceback (most recent call last):\n  File "shop.py", line 3, in <module>\nValueError: no stock\n'
    assert is_log("2026-11-12 10:15:22,104 ERROR shop: failed\n" + trace)
    assert not is_log(trace)


def test_a_stream_is_what_its_lines_have_been_so_far() -> None:
    detector = LogDetector()
    assert not detector.read(["Dear all,\n"])
    assert detector.read(["Nov 12 06:25:24 web1 cron[7]: ok\n", "Nov 12 06:25:25 web1 cron[7]: ok\n"])
    assert detector.read(["\tat com.example.Shop(Shop.java:12)\n"])


def test_a_log_with_a_letter_behind_it_is_a_log_only_if_half_of_its_lines_are() -> None:
    line = "Nov 12 06:25:24 web1 cron[7]: ok\n"
    assert is_log(line + "Asha wrote this.\n")
    assert not is_log(line + "Asha wrote this.\nAnd this.\n")


def test_what_it_is_read_as_can_be_said() -> None:
    line = "2026-11-12 10:15:22 INFO Shop: Asha Rao paid"
    assert _starred(line).startswith("2026-11-12")
    assert _starred(line, Annotator(kind="prose")).startswith("****")
    assert _starred("Jul 7: user=lnarayanan", Annotator(kind="log")) == "Jul 7: user=**********"


def test_many_lines_are_read_as_each_is_by_itself() -> None:
    texts = [_read(line)[0] for line in LINES]
    assert list(ANNOTATOR.annotate_many(texts)) == [ANNOTATOR.annotate(text) for text in texts]


def test_lines_together_lose_what_each_loses_by_itself() -> None:
    texts = [_read(line)[0] for line in LINES]
    assert _starred("\n".join(texts)).split("\n") == [_starred(text) for text in texts]


@pytest.mark.parametrize(
    ("message", "stays"),
    [
        ("user session closed", "session"),
        ("the user is not known here", "is"),
        ("password: null, token: none", "null"),
        ("cache age: 34, postal 1234, 34 Main", "34"),
        ("order 4111111111111112 done", "4111111111111112"),
        ("GET /users/list done", "list"),
        ("HKLM\\SOFTWARE read", "SOFTWARE"),
        ("java.lang.Object@6d06d69c closed", "6d06d69c"),
        ("firmware version 1.2.3.4 loaded", "1.2.3.4"),
        ("Redis, Nginx and Toyota queues", "Redis, Nginx and Toyota"),
    ],
)
def test_what_only_looks_personal_stays(message: str, stays: str) -> None:
    assert stays in _starred(f"2026-11-12 10:15:22 INFO {message}")


@pytest.mark.parametrize(
    ("message", "goes"),
    [
        ("Mrs Asha Rao called", "Asha Rao"),
        ("PAN ABCPE1234F rejected", "ABCPE1234F"),
        ("mobile 98450 12345 rejected", "98450 12345"),
        ("mail from Asha.Rao@clinic.in", "Asha.Rao@clinic.in"),
        ("no route to host.example.org (192.0.2.7)", "host.example.org"),
        ("C:\\Users\\asha\\report.docx opened", "asha"),
        ("patient_id=AX-48213 saved", "AX-48213"),
        ("User <asha> unknown", "asha"),
        ('record opened, name="Durga Devarapalli"', "Devarapalli"),
        ("no insurance, aadhaar=1081 1678 0693", "1678 0693"),
        ("diagnosis=diabetes stored", "diabetes"),
        ("Login attempt failed for lnarayanan.", "lnarayanan"),
    ],
)
def test_what_is_personal_goes(message: str, goes: str) -> None:
    assert goes not in _starred(f"2026-11-12 10:15:22 INFO {message}")


def test_every_finder_of_words_is_known_to_be_one() -> None:
    """Else what it finds in a log would be believed as a recogniser of one's own is."""
    text = (
        "Dr. Asha Rao, 34, of 12 High Street, London, a nurse at Acme Bank Ltd, widowed, a Hindu with diabetes, paid "
        "three thousand rupees on Monday, case no. 1234/05, spent two years in prison; she was 54. Rao called 41063329."
    )
    assert {span.by for span in LexiconFinder().find(text)} <= WORD_FINDERS


def test_goals_hold_on_lines_that_were_read(shared: Path) -> None:
    from benchmarks.recognising import LOGS_READ, by_touched_characters, log_lines

    covered, touched = by_touched_characters(list(log_lines(shared / "data", LOGS_READ)), ANNOTATOR)
    assert covered >= 0.98
    assert touched <= 0.02
