"""The papers of the made-up hospital: readable by others, about the people of its table, and nobody's."""

from __future__ import annotations

import re
from email import message_from_bytes, policy

import pytest

from shoal.examples import hospital
from shoal.examples.documents import CARD, papers


def test_the_mail_is_one_that_others_read() -> None:
    mail = message_from_bytes(papers()["question.eml"], policy=policy.default)
    name = hospital.table(people=2)["name"][1]
    assert name in str(mail["From"])
    assert mail.get_content().rstrip().endswith(name)
    assert CARD in mail.get_content()


def test_the_pdf_is_one_that_others_read() -> None:
    pikepdf = pytest.importorskip("pikepdf", reason="the extra 'documents' is not installed")
    import io

    import pypdfium2

    content = papers()["discharge.pdf"]
    with pikepdf.open(io.BytesIO(content)) as pdf:
        assert pdf.check_pdf_syntax() == []
        assert str(pdf.docinfo["/Author"]) == "S. Kulkarni"
    with pypdfium2.PdfDocument(content) as pdf:
        words = pdf[0].get_textpage().get_text_range()
    assert hospital.table(people=1)["aadhaar"][0] in words


def test_nobody_can_be_reached_by_them() -> None:
    everything = "\n".join(content.decode("latin-1") for content in papers().values())
    assert set(re.findall(r"@([\w.-]+)", everything)) <= {"example.org", "hospital.example.org", "mail.example.org"}
    assert {one.rpartition(".")[0] for one in re.findall(r"\b(?:\d{1,3}\.){3}\d{1,3}\b", everything)} == {
        "192.0.2",
        "198.51.100",
    }
    assert {one[4] for one in re.findall(r"\+91 \d+", everything)} == {"0"}, "no subscriber's number begins so"
    assert {one[0] for one in re.findall(r"\b\d{4} \d{4} \d{4}\b(?! \d)", everything)} <= {"0", "1", "4"}


def test_they_are_the_same_every_time() -> None:
    assert papers() == papers()
