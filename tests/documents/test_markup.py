"""Web pages: tags stay, every text and attribute is looked at, what can't be looked at goes."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.documents.marked import MARK, mark, scrub

from shoal import documents
from shoal.documents.cleaning_account import EditRecorder
from shoal.documents.html_pages import cleaned, pieces_of

PLACES = (
    "body", "title", "alt", "tooltip", "href", "escaped", "encoded", "query", "meta", "placeholder", "value", "aria",
    "data", "comment", "conditional", "script", "onclick", "style", "inline", "svg", "noscript", "template", "option",
    "textarea", "srcdoc", "datauri", "cdata", "unclosed", "label", "id",
)  # fmt: skip
PAGE = f"""<!DOCTYPE html><html><head><title>Hello {mark("title")}</title>
<meta name="author" content="{mark("meta")}"><style>p::after {{ content: "{mark("style")}" }}</style>
<script>var user = "{mark("script")}";</script></head>
<body onload="greet('{mark("onclick")}')" id="{mark("id")}">
<!-- by {mark("comment")} --><!--[if mso]>{mark("conditional")}<![endif]-->
<p class="big" style="color: red">Dear {mark("body")}, 3 &lt; 4 &amp; ok</p>
<p>Split <b>Quill</b><i>inline</i>feather here</p>
<p>&#81;uill&#x65;scapedfeather</p>
<img src="a.png" alt="{mark("alt")}" title="{mark("tooltip")}">
<a href="mailto:{mark("href")}@example.org">write</a> <a href="/s?q=Quill%65ncodedfeather&amp;n=1">s</a>
<a href="https://example.org/?who={mark("query")}">who</a>
<input placeholder="{mark("placeholder")}" value="{mark("value")}" aria-label="{mark("aria")}" disabled>
<div data-user="{mark("data")}"></div><svg><text>{mark("svg")}</text></svg>
<noscript>{mark("noscript")}</noscript><template><b>{mark("template")}</b></template>
<select><option label="{mark("label")}">{mark("option")}</option></select><textarea>{mark("textarea")}</textarea>
<iframe srcdoc="<p>{mark("srcdoc")}</p>"></iframe><img src="data:text/plain,{mark("datauri")}">
<![CDATA[{mark("cdata")}]]><p>kept</p></body></html><!-- {mark("unclosed")}"""


@pytest.fixture(scope="module")
def result() -> str:
    return cleaned(PAGE, EditRecorder(scrub))


@pytest.mark.requirement("X-05")
@pytest.mark.parametrize("place", PLACES)
def test_every_hiding_place(place: str, result: str) -> None:
    split = {"inline": "Quill</b><i>inline", "escaped": "scapedfeather", "encoded": "ncodedfeather"}
    assert split.get(place, mark(place)) in PAGE
    assert split.get(place, mark(place)) not in result
    assert place not in split or f"{place[1:]}feather" not in result


def test_all_else_stays(result: str) -> None:
    for kept in (
        '<p class="big" style="color: red">Dear [PERSON], 3 &lt; 4 &amp; ok</p>',
        "<p>Split <b>[PERSON]</b><i></i> here</p>",
        '<a href="mailto:[PERSON]@example.org">write</a>',
        '<img src="a.png" alt="[PERSON]" title="[PERSON]">',
        "aria-label=\"[PERSON]\" disabled>",
        "<p>kept</p></body></html>",
    ):  # fmt: skip
        assert kept in result


def test_cleaning_twice_changes_nothing(result: str) -> None:
    assert cleaned(result, EditRecorder(scrub)) == result


def test_scanning_sees_what_cleaning_removes() -> None:
    texts = "\n".join(piece.text for piece in pieces_of(PAGE))
    seen = {found.lower() for found in MARK.findall(texts)}
    assert {mark(place).lower() for place in PLACES if place != "encoded"} <= seen


def test_the_account_names_what_went() -> None:
    ledger = EditRecorder(scrub)
    cleaned(PAGE, ledger)
    gone = {entry.what for entry in ledger.account().removed}
    assert {"script", "comment", "attribute onload", "attribute srcdoc", "attribute src"} <= gone


def test_a_page_in_the_charset_that_it_names(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_bytes(f'<meta charset="shift_jis"><p>東京 {mark("a")}</p>'.encode("shift_jis"))
    documents.open(path).rewrite(path, path, scrub)
    assert path.read_bytes().decode("shift_jis") == '<meta charset="shift_jis"><p>東京 [PERSON]</p>'
