"""The studio in other languages: chosen by the browser or by hand, with catalogues that hold all its texts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.server.conftest import Visitor

import translations
from shoal.policy import PRESETS
from shoal.server.access.rights import studio_roles
from shoal.server.studio.account_pages import ABOUT
from shoal.server.web.shown_names import ROLES, USE_CASES

TEMPLATES = sorted((translations.SERVER / "templates").rglob("*.html"))
TEXTS = re.compile(r"\"([^\"\n]*)\"|'([^'\n]*)'|`([^`]*)`")
THREE_WORDS = re.compile(r"[A-Za-z']+ [a-z']+ [a-z]+")
HINDI = {"Accept-Language": "hi-IN,hi;q=0.9,en;q=0.5"}
MOST_PLAIN = 12
"""Letters that stand in a template without a mark: names, and pieces of sentences between figures."""


def test_browser_says_the_language_before_anybody_is_known(app: Any, manager: Visitor):
    page = TestClient(app).get("/sign-in", headers=HINDI).text
    assert '<html lang="hi">' in page
    assert "साइन इन करें" in page
    assert '<html lang="en-GB">' in TestClient(app).get("/sign-in", headers={"Accept-Language": "xx"}).text


def test_language_is_chosen_by_hand_and_kept(manager: Visitor):
    assert "Make a table safe to share" in manager.client.get("/", headers=HINDI | {"Accept-Language": "en"}).text
    answer = manager.post("/language", {"to": "hi", "back": "/texts"})
    assert answer.headers["location"] == "/texts"
    page = manager.client.get("/").text
    assert "तालिका को साझा करने योग्य सुरक्षित बनाएँ" in page
    assert manager.post("/language", {"to": "en-GB", "back": "//evil.example"}).headers["location"] == "/"
    assert "Make a table safe to share" in manager.client.get("/").text
    manager.post("/language", {"to": "../../etc", "back": "/"})
    assert "Make a table safe to share" in manager.client.get("/").text


def test_journey_is_in_hindi(manager: Visitor, small: bytes):
    source = manager.upload("people.csv", small).json()["source"]
    manager.work()
    for path, words in (
        (f"/sources/{source}", "पहले अभिलेख"),
        (f"/sources/{source}/know", "हर स्तंभ क्या है"),
        (f"/sources/{source}/choose", "लोगों को कितना छिपाना है?"),
        ("/accounts", "एक और खाता"),
        ("/account", "दूसरा प्रमाण"),
    ):
        assert words in manager.client.get(path, headers=HINDI).text, path


def sentences(code: str) -> list[str]:
    """Texts in a script that somebody would have to translate."""
    code = re.sub(r"/\*.*?\*/", "", code, flags=re.DOTALL)
    return [text for text in map("".join, TEXTS.findall(code)) if THREE_WORDS.search(text)]


def test_scripts_say_what_the_page_gave_them():
    """So that it is in the reader's language: no script has a sentence of its own."""
    assert sentences('/* A note "in three words". */ fail("It can\'t be reached.") + \'now it is\'') == [
        "It can't be reached.",
        "now it is",
    ]
    scripts = [path for path in (translations.SERVER / "static").glob("*.js") if "min" not in path.name]
    assert len(scripts) > 1
    assert [(path.name, sentences(path.read_text(encoding="utf-8"))) for path in scripts] == [
        (path.name, []) for path in scripts
    ]


def test_words_of_scripts_are_in_hindi(manager: Visitor):
    page = manager.client.get("/", headers=HINDI).text
    assert 'data-unreachable="सर्वर तक पहुँचा नहीं जा सकता।"' in page


@pytest.mark.parametrize("path", sorted(translations.LOCALE.glob("*/LC_MESSAGES/studio.po")), ids=str)
def test_catalogue_is_as_the_script_makes_it(path: Path):
    text, compiled = translations.written(translations.updated(path))
    assert path.read_bytes() == text, "run scripts/translations.py"
    assert path.with_suffix(".mo").read_bytes() == compiled


def test_percent_signs_are_written_so_that_they_stay():
    for message in translations.texts():
        assert not re.search(r"%(?!\(\w+\)s|%)", re.sub("%%", "", str(message.id))), message.id


def test_names_of_other_rooms_are_in_the_catalogues():
    """They are shown by pages, so a name that is new or changed is marked here, too."""
    assert set(USE_CASES) == {preset.title for preset in PRESETS.values()}
    assert set(ROLES) == {rights.title for rights in studio_roles().values()}
    assert set(studio_roles()) == set(ABOUT)


def test_translations_keep_what_is_filled_in():
    for path in translations.LOCALE.glob("*/LC_MESSAGES/studio.po"):
        for message in translations.updated(path):
            if message.id and message.string:
                asked, given = str(message.id), str(message.string)
                assert set(re.findall(r"%\(\w+\)s", asked)) == set(re.findall(r"%\(\w+\)s", given))
                assert "<" not in str(message.string)


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_sentences_of_templates_are_marked(path: Path):
    """Nobody forgets a whole sentence: what stands plain between tags is short."""
    text = re.sub(r"\{%-?\s*trans.*?endtrans\s*-?%\}", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    text = re.sub(r"\{\{.*?\}\}|\{%.*?%\}|<code.*?</code>|<kbd.*?</kbd>", "", text, flags=re.DOTALL)
    plain = [" ".join(piece.split()) for piece in re.split(r"<[^>]*>", text)]
    long = [piece for piece in plain if len(re.findall(r"[A-Za-z]+", piece)) > MOST_PLAIN]
    assert long == []
