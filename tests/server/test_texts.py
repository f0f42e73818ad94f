"""Texts in the studio: what is found, what a person decides, what comes of it, and whom it is for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.server.conftest import Visitor, account

from shoal.discover.recognisers import with_files
from shoal.scrub.phrase_list import phrases_from

LETTER = "Dr. Asha Rao saw Ravi Lim on 5 March 2024.\nWrite to ravi.lim@shop.in about project blue lagoon."
pytestmark = pytest.mark.requirement("X-02")


def looked_through(visitor: Visitor, text: str = LETTER) -> str:
    made = visitor.api("POST", "/texts", json={"name": "letter", "text": text}).json()
    assert visitor.finished(made["job"])["state"] == "done"
    return str(made["text"])


def decided(visitor: Visitor, text: str, **choices: Any) -> None:
    answer = visitor.api("PUT", f"/texts/{text}/choices", json=choices)
    assert visitor.finished(answer.json()["job"])["state"] == "done"


def scrubbed(visitor: Visitor, text: str) -> str:
    return str(visitor.api("GET", f"/texts/{text}/files/scrubbed.txt").text)


def test_found_phrases_are_shown_and_go(manager: Visitor):
    text = looked_through(manager)
    pieces = manager.api("GET", f"/texts/{text}").json()["pieces"]
    assert "".join(piece["text"] for piece in pieces) == LETTER
    found = {piece["text"]: piece["kind"] for piece in pieces if "kind" in piece}
    assert found["ravi.lim@shop.in"] == "email"
    assert found["Ravi Lim"] == "person"
    for phrase in ("Rao", "Lim", "shop.in", "2024"):
        assert phrase not in scrubbed(manager, text)
    assert "project blue lagoon" in scrubbed(manager, text)
    page = manager.client.get(f"/texts/{text}").text
    assert 'class="found contact" data-phrase="ravi.lim@shop.in" aria-pressed="true"' in page


def test_what_is_decided_counts_and_can_be_taken_back(manager: Visitor):
    text = looked_through(manager)
    sent = {"stays": ["5 March 2024"], "goes": "project blue lagoon\n", "replace": "label"}
    assert manager.post(f"/texts/{text}/choices", sent).status_code == 303
    manager.work()
    assert "5 March 2024" in scrubbed(manager, text)
    assert "[LISTED]" in scrubbed(manager, text)
    pieces = manager.api("GET", f"/texts/{text}").json()["pieces"]
    assert [piece["goes"] for piece in pieces if piece["text"] == "5 March 2024"] == [False]
    decided(manager, text)
    assert "2024" not in scrubbed(manager, text)


def test_decisions_become_files_that_the_library_reads(manager: Visitor, tmp_path: Path):
    text = looked_through(manager)
    decided(manager, text, allow=["5 March 2024"], deny=["project blue lagoon", "the only: dentist"])
    for name, phrases in (("stays.txt", ["5 March 2024"]), ("goes.txt", ["project blue lagoon", "the only: dentist"])):
        path = tmp_path / name
        path.write_bytes(manager.api("GET", f"/texts/{text}/files/{name}").content)
        assert phrases_from([str(path)], "allow") == phrases
    path = tmp_path / "recognisers.yaml"
    path.write_bytes(manager.api("GET", f"/texts/{text}/files/recognisers.yaml").content)
    assert yaml.safe_load(path.read_text(encoding="utf-8"))["marked"]["role"] == "direct"
    assert "marked" in {one.type for one in with_files(path)}


def test_another_persons_text_is_not_there(app: Any, manager: Visitor):
    text = looked_through(manager)
    other = account(app, "ravi", "data-manager")
    for method, path in (
        ("GET", f"/texts/{text}"),
        ("GET", f"/texts/{text}/files/scrubbed.txt"),
        ("GET", f"/texts/{text}/files/goes.txt"),
        ("DELETE", f"/texts/{text}"),
    ):
        assert other.api(method, path).status_code == 404
    assert other.api("PUT", f"/texts/{text}/choices", json={}).status_code == 404
    assert other.client.get(f"/texts/{text}").status_code == 404
    for path in (f"/texts/{text}/choices", f"/texts/{text}/delete"):
        assert other.post(path).status_code == 404
    assert text not in other.client.get("/texts").text


def test_deleted_text_is_gone_from_the_disk(manager: Visitor, home: Path):
    text = looked_through(manager)
    decided(manager, text, allow=["Asha Rao"])
    assert b"Asha Rao" in b"".join(path.read_bytes() for path in (home / "texts").rglob("*.txt"))
    assert manager.post(f"/texts/{text}/delete").status_code == 303
    assert list((home / "texts").iterdir()) == []
    kept = b"".join(path.read_bytes() for path in home.glob("studio.sqlite*"))
    assert b"Asha Rao" not in kept


def test_hostile_texts_and_choices(manager: Visitor):
    evil = "<script>alert(1)</script> write to \"onclick='x'@a.in and asha@clinic.in"
    text = looked_through(manager, evil)
    page = manager.client.get(f"/texts/{text}").text
    assert "<script>alert" not in page
    for wrong in ({"allow": ["# comment"]}, {"deny": ["x" * 400]}, {"replace": "eval"}, {"other": 1}):
        assert manager.api("PUT", f"/texts/{text}/choices", json=wrong).status_code == 422
    both = manager.post(f"/texts/{text}/choices", {"stays": ["asha"], "goes": "Asha"})
    assert (both.status_code, "to stay and to go" in both.text) == (422, True)
    assert manager.api("GET", f"/texts/{text}/files/..%2ftext.txt").status_code == 404
    assert manager.api("GET", f"/texts/{text}/files/text.txt").status_code == 404
    assert manager.post("/texts", {"text": "  "}).status_code == 422


def letter(tmp_path: Path) -> bytes:
    import docx

    made = docx.Document()
    made.add_paragraph("Dear Ms. Meera Iyer, write to ravi.lim@shop.in about the results.")
    made.save(str(tmp_path / "letter.docx"))
    return (tmp_path / "letter.docx").read_bytes()


def test_document_is_looked_through_and_written_anew(manager: Visitor, tmp_path: Path, home: Path):
    made = manager.api("POST", "/texts/documents", params={"name": "../a<b>.docx"}, content=letter(tmp_path))
    assert made.status_code == 201, made.text
    text = made.json()["text"]
    assert manager.finished(made.json()["job"])["state"] == "done"
    page = manager.client.get(f"/texts/{text}").text
    assert "a-b-.docx" in page
    assert "scrubbed.docx" in page
    clean = manager.api("GET", f"/texts/{text}/files/scrubbed.docx")
    assert clean.headers["content-disposition"].startswith("attachment")
    (tmp_path / "clean.docx").write_bytes(clean.content)
    import docx

    told = "\n".join(one.text for one in docx.Document(str(tmp_path / "clean.docx")).paragraphs)
    assert "ravi.lim@shop.in" not in told
    assert "about the results" in told
    stays = {"replace": "label", "allow": ["ravi.lim@shop.in"], "deny": ["the results"]}
    again = manager.api("PUT", f"/texts/{text}/choices", json=stays).json()
    assert manager.finished(again["job"])["state"] == "done"
    (tmp_path / "again.docx").write_bytes(manager.api("GET", f"/texts/{text}/files/scrubbed.docx").content)
    told = "\n".join(one.text for one in docx.Document(str(tmp_path / "again.docx")).paragraphs)
    assert "ravi.lim@shop.in" in told
    assert "the results" not in told
    manager.api("DELETE", f"/texts/{text}")
    assert not (home / "texts" / text).exists()


@pytest.mark.parametrize(
    ("name", "content", "status"),
    [("x.exe", b"MZ", 422), ("x.docx", b"", 422), ("x", b"a", 422), ("", b"a", 422)],
)
def test_what_is_no_document_is_refused(manager: Visitor, home: Path, name: str, content: bytes, status: int):
    assert manager.api("POST", "/texts/documents", params={"name": name}, content=content).status_code == status
    assert not list((home / "texts").iterdir())


def test_broken_and_bloated_documents_fail_without_harm(manager: Visitor):
    """A file that is not what its name says, and one that unpacks to very much: the job says so, the worker lives."""
    import io
    import zipfile

    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("word/document.xml", b"a" * 300_000_000)
    external = b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><html>&b;</html>'
    for name, content in (("a.docx", b"no package"), ("b.docx", bomb.getvalue()), ("c.pdf", b"%PDF-1.7 broken")):
        made = manager.api("POST", "/texts/documents", params={"name": name}, content=content).json()
        assert manager.finished(made["job"])["state"] == "failed", name
        page = manager.client.get(f"/texts/{made['text']}")
        assert page.status_code == 200, name
    made = manager.api("POST", "/texts/documents", params={"name": "d.html"}, content=external).json()
    manager.finished(made["job"])
    assert "root:" not in manager.client.get(f"/texts/{made['text']}").text
