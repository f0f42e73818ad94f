"""What was scrubbed passes a scan: whatever stands there now is nobody's."""

from __future__ import annotations

from email import message_from_bytes
from email.utils import parsedate_to_datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.scan.annotators import annotate_by
from shoal.scan.findings import Weight, weight_of
from shoal.scrub.choices import Replace, known_types
from shoal.scrub.own_replacements import without_own_replacements
from shoal.scrub.scrubber import Scrubber, standard_annotator

pytestmark = pytest.mark.requirement("X-02", "D-02")

ANNOTATE = without_own_replacements(annotate_by())
ANNOTATOR = standard_annotator()
SCRUBBERS: dict[Replace, Scrubber] = {
    "label": Scrubber(ANNOTATOR), "mask": Scrubber(ANNOTATOR, "mask"), "pseudonym": Scrubber(ANNOTATOR, "pseudonym")
}  # fmt: skip
SENTENCES = (
    "password: hunter22!x", "Dr. Asha Rao lives at 12 High Street, London.", "Write to asha.rao@clinic.in today.",
    "Call +91 98450 12345 or 080 2345 6789.", "Her PAN is ABCPE1234F, her card 4111 1111 1111 1111.",
    "token=abcdef123456 api_key: 9f8e7d6c5b4a", "from 192.0.2.7 and 2001:db8::1, mac 00:1A:2b:3c:4d:5e",
    "She is 34 years old and was born on 12 March 1990.", "My name is asha rao.", "NRIC S1234567D, passport K1234567",
    "2026-11-12 10:15:22 INFO shop: user=lnarayanan ip=203.0.113.9 phone=+919845012345 200",
    "IBAN: GB82 WEST 1234 5698 7654 32", "muthu s/o raman", "my voter: DBJ2289013",
)  # fmt: skip


def identifying(text: str) -> list[tuple[str, str]]:
    """What a gate of ``--require none`` would count."""
    found = [span for span in ANNOTATE(text) if weight_of(span.type) is Weight.IDENTIFYING]
    return [(span.type, text[span.start : span.end]) for span in found]


@pytest.mark.parametrize("replace", SCRUBBERS)
@given(parts=st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=4))
@settings(max_examples=25, deadline=None)
def test_nothing_identifying_is_found_in_what_was_scrubbed(replace: Replace, parts: list[str]) -> None:
    text = "\n".join(parts)
    assert identifying(SCRUBBERS[replace].scrub(text).text) == []


@pytest.mark.parametrize("sentence", SENTENCES)
def test_each_of_them_would_be_found_before(sentence: str) -> None:
    if "34 years" not in sentence:
        assert identifying(sentence)


@pytest.mark.parametrize("kind", sorted(known_types()))
def test_no_label_is_taken_for_a_value(kind: str) -> None:
    for label in (f"[{kind.upper()}]", f"[{kind.upper()}-7Q2XK3]"):
        for around in ("password: {}", "{}", "my name is {}", "user={} from {}", "phone: {}, {}"):
            assert identifying(around.replace("{}", label)) == []


@pytest.mark.parametrize("number", ["9999 1145 1971 0993", "9999 1814 3881 7522"])
def test_the_end_of_a_stand_in_that_is_one_by_itself_leaves_no_beginning(number: str) -> None:
    assert identifying(f"Her PAN is PPXXA2364J°, her card {number}°.") == []


def test_what_stands_beside_a_label_is_still_found() -> None:
    assert identifying("[PERSON] asha@clinic.in [SECRET]") == [("email", "asha@clinic.in")]


@pytest.mark.parametrize("replace", SCRUBBERS)
def test_the_date_of_a_mail_stays_a_date(replace: Replace, tmp_path: Path) -> None:
    from shoal import documents
    from shoal.scrub.files import rewrite_document

    mail, clean = tmp_path / "a.eml", tmp_path / "b.eml"
    mail.write_bytes(b"From: asha@clinic.in\r\nDate: Tue, 17 Nov 2026 10:15:00 +0530\r\nSubject: x\r\n\r\nHello.\r\n")
    rewrite_document(documents.open(mail), mail, clean, SCRUBBERS[replace])
    written = parsedate_to_datetime(str(message_from_bytes(clean.read_bytes())["Date"]))
    assert written.date().isoformat() != "2026-11-17"
    if replace != "pseudonym":
        assert written.isoformat() == "2026-01-01T00:00:00+00:00"
