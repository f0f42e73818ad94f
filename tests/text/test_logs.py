"""Logs are told from prose by their structure; in them users, addresses and keys go, and what a machine says stays."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from shoal.text import Annotator
from shoal.text.lexicon_finder import LexiconFinder
from shoal.text.logs import network_fields, person_records, user_fields
from shoal.text.logs.log_findings import WORD_FINDERS
from shoal.text.logs.log_lines import LogDetector, TextKind, is_log, is_log_line

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


EVENTS = """\
Audit Success\t11/12/2026 10:15:22 AM\tMicrosoft-Windows-Security-Auditing\t4624\tLogon\tAn account was logged on.
Subject:
\tSecurity ID:\t\tSYSTEM
\tAccount Name:\t\tDC01$
Logon Type:\t\t\t3
New Logon:
\tSecurity ID:\t\t⟦S-1-5-21-3623811015-3361044348-30300820-1013⟧
\tAccount Name:\t\t⟦arao⟧
\tAccount Domain:\t\tCLINIC
Network Information:
\tSource Network Address:\t⟦192.0.2.14⟧
"""
LET_IN = "[10:15:22 INF] authenticated with scheme Bearer\n[10:15:23 INF] HTTP GET /orders responded 200\n"


@pytest.mark.parametrize("lines", [EVENTS, LET_IN], ids=["events of several lines", "a word at the end of a line"])
def test_lines_are_read_together(lines: str) -> None:
    text, expected = _read(lines)
    assert is_log(text)
    assert _starred(text) == expected


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
        "[12/11/2026, 10:15:22] Asha Rao: https://maps.example.com/?q=12.9,77.5",
        "12 Nov 2026 10:15:22 - Asha Rao called",
        "3 Asha Rao 1632960001",
        "Date: Thu, 12 Nov 2026 10:15:22 +0530",
        "WARNING: keep away from children.",
        "At 10:15:22 the applicant, Mr Rao, was arrested in Pune.",
        '{"name": "Asha Rao", "city": "Pune"}',
        '{"name": "Asha Rao", "phone": "98450 12345", "at": "2026-11-12T10:15:22Z", "event": "visit", "host": "x"}',
        '"GET YOUR HEAD DOWN!" That brings me back',
        "17,2026-01-02 10:15:22,Asha Rao,Pune,12,34",
        "at x=1, y=2, z=3 and a=4, b=5",
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
        ("waiting for block from 10.0.0.1", "block"),
        ("access forbidden by rule, client gone", "rule"),
        ("no such user found, user with no name", "user found, user with no name"),
        ("Error getting user: org.example.HostError: refused", "org.example.HostError"),
        ("worker authenticated, SSH login failed", "worker authenticated, SSH login failed"),
        ("listing: PID COMMAND\\n 2042 TYPE TCP\\nLocal", "COMMAND\\n 2042 TYPE TCP\\nLocal"),
        ("login=enabled, user defined, user id 4", "login=enabled, user defined, user id 4"),
        ("unexpected token: identifier; token=0x7f3c2a10", "token: identifier; token=0x7f3c2a10"),
        ("key=ApiKey@6d06d69c, token=Token{a64f992}", "Token{a64f992}"),
        ("GET / Mozilla/5.0 (X11) Chrome/130.0.0.0 Safari/537.36", "130.0.0.0"),
        ('version: "1.2.3.4", lib-1.2.3.4.jar, 10.0.0.1-SNAPSHOT', '"1.2.3.4", lib-1.2.3.4.jar, 10.0.0.1-SNAPSHOT'),
        ("Started user@1000.service", "user@1000.service"),
        ("loader: Hunter Mason Carter state=READY", "Hunter Mason Carter"),
        ("line 9845012345, run 9845012345, call 9845012345", "run 9845012345, call 9845012345"),
        ('address="localhost:8080" religion=none dob=0', '"localhost:8080" religion=none dob=0'),
        ('display_name="Main Board" owner_name=kube', '"Main Board" owner_name=kube'),
        ("x-cache-key: /index, client=web peer=3", "/index, client=web peer=3"),
        ("received ADT^A01, x^y, 2^32 and ORU^R01^ORU_R01", "ADT^A01, x^y, 2^32 and ORU^R01^ORU_R01"),
        ("user id missing, patient id unknown, sound card 0", "user id missing, patient id unknown, sound card 0"),
        ("Duplicate entry '7-12' for key 'slot_week'", "7-12"),
        (
            'driver=nvme0 author="Build System" by=rule lat=12.5 ms',
            'driver=nvme0 author="Build System" by=rule lat=12.5',
        ),
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
        ("Login: user=<lnarayanan>, method=PLAIN", "lnarayanan"),
        ("acls to: yarn,lnarayanan", "lnarayanan"),
        ("euid=1000(lnarayanan) gid=0(root)", "lnarayanan"),
        ('BIND dn="uid=lnarayanan,ou=people,dc=example"', "lnarayanan"),
        ("Executing [+442079460123@from-internal:1]", "442079460123"),
        ("lease for Zzyzs-iPhone", "Zzyzs"),
        ("Store: first_name=asha", "asha"),
        ("password: hunter", "hunter"),
        ("Authorization: AWS4-HMAC-SHA256 Credential=AB/x, Signature=fe5f80f77d5f", "fe5f80f77d5f"),
        ("txn=000123 pan=4111111111111111 resp=00", "4111111111111111"),
        ("Asha Rao paid", "Asha Rao"),
        ("ADT saved PID-5=RAO^ASHA^K PID-3=MRN0081234", "RAO^ASHA^K"),
        ("ADT saved PID-5=RAO^ASHA^K PID-3=MRN0081234", "MRN0081234"),
        ("PatientName=RAO^ASHA DEVI Modality=CT", "DEVI"),
        ("no sample, (dob 1951-03-02), order 7", "1951-03-02"),
        ('call {"userId":44712}', "44712"),
        ("User with id '5521' viewed the course", "5521"),
        ("viewed patient uuid=5946f880-b197-400b-9caa-a3c661d23041", "5946f880"),
        ('{"actor":{"id":"00u8xk2p9q","type":"User"}}', "00u8xk2p9q"),
        ("Duplicate entry 'lnarayanan' for key 'user_login'", "lnarayanan"),
        ("Key (email)=(lnarayanan) already exists", "lnarayanan"),
        ("access denied, card 0048812", "0048812"),
        ("rsync to homes/lnarayanan done", "lnarayanan"),
        ("grade updated student=Rao Asha Devi course=MATH2", "Devi"),
        ('driver="S. Murugan" speed=41', "Murugan"),
        ("prescriber=fsheikh dose=2", "fsheikh"),
        ("lat=12.97160 lon=77.59460 speed=41", "77.59460"),
        ("Registering new device for @lnarayanan:example.org", "lnarayanan"),
        ('author="Asha K <asha@example.dev>"', "Asha K"),
        ("paid by Asha Rao", "Asha Rao"),
    ],
)
def test_what_is_personal_goes(message: str, goes: str) -> None:
    assert goes not in _starred(f"2026-11-12 10:15:22 INFO {message}")


def test_signs_hide_nothing() -> None:
    from benchmarks.recognising import made_up_lines

    texts = [_read(line)[0] for line in LINES] + [text for text, _ in made_up_lines("tuned")]
    patterns = [*user_fields._SAID, *user_fields._EVERYDAY, *(pattern for _, pattern in network_fields._PATTERNS)]
    patterns += [pattern for several in person_records._RECORDS.values() for pattern in several]
    for text in (*texts, *map(str.upper, texts)):
        for pattern in patterns:
            if pattern.expression.search(text):
                assert any(pattern.finditer(text, text.casefold())), (pattern, text)


def test_every_finder_of_words_is_known_to_be_one() -> None:
    """Else what it finds in a log would be believed as a recogniser of one's own is."""
    text = (
        "Dr. Asha Rao, 34, of 12 High Street, London, a nurse at Acme Bank Ltd, widowed, a Hindu with diabetes, paid "
        "three thousand rupees on Monday, case no. 1234/05, spent two years in prison; she was 54. Rao called 41063329."
    )
    assert {span.by for span in LexiconFinder().find(text)} <= WORD_FINDERS


@pytest.mark.parametrize("kind", ["auto", "log"])
def test_goals_hold_on_lines_that_were_made_up(kind: TextKind) -> None:
    from benchmarks.recognising import by_touched_characters, made_up_lines

    lines = list(made_up_lines("tuned"))
    assert len(lines) > 300
    covered, touched = by_touched_characters(lines, Annotator(kind=kind))
    assert covered >= 0.98
    assert touched <= 0.02


def test_goals_hold_on_lines_that_were_read(shared: Path) -> None:
    from benchmarks.recognising import LOGS_READ, by_touched_characters, log_lines

    covered, touched = by_touched_characters(list(log_lines(shared / "data", LOGS_READ)), ANNOTATOR)
    assert covered >= 0.98
    assert touched <= 0.02
