"""People in the headers of mails: the same under every version of Python, and nobody is lost on the way."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shoal.documents.mail.address_list import address_list

pytestmark = pytest.mark.requirement("X-05")


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("asha@clinic.in", [("", "asha@clinic.in")]),
        ("Asha Rao <asha@clinic.in>", [("Asha Rao", "asha@clinic.in")]),
        ('"Rao, Asha" <asha@clinic.in>, Bela <b@c.in>', [("Rao, Asha", "asha@clinic.in"), ("Bela", "b@c.in")]),
        ('"A \\"Asha\\" Rao" <asha@clinic.in>', [('A "Asha" Rao', "asha@clinic.in")]),
        ("asha@clinic.in (Asha)", [("Asha", "asha@clinic.in")]),
        ("Team: a@b.in, d@e.in;", [("", "a@b.in"), ("", "d@e.in")]),
        ("undisclosed-recipients:;", []),
        ('"[ASHA]" <[EMAIL]>', [("[ASHA]", "[EMAIL]")]),
        ("[PERSON-1] <[EMAIL]>, Ravi <r@x.in>", [("[PERSON-1]", "[EMAIL]"), ("Ravi", "r@x.in")]),
        ("a@evil.in <b@good.in>", [("a@evil.in <b@good.in>", "")]),
        ('Asha "Rao <asha@clinic.in', [('Asha "Rao <asha@clinic.in', "")]),
        ("", []),
    ],
)
def test_people_of_a_header(value: str, found: list[tuple[str, str]]) -> None:
    assert [tuple(one) for one in address_list(value)] == found


@example(value="a <b>(a)")
@given(st.text(alphabet='ab@.<>()[]",;: \\', max_size=30))
def test_no_letter_is_lost(value: str) -> None:
    """What is not told apart is part of a name, so that it goes with it: only the name of a group may be left out."""
    kept = "".join("".join(one) for one in address_list(value))
    members = re.sub(r'^[^"<>(),;:@]*:(.*);\s*$', r"\1", value, flags=re.DOTALL)
    assert kept.count("a") + kept.count("b") == members.count("a") + members.count("b")
