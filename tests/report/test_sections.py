"""A section is one template that says itself who may see it."""

from __future__ import annotations

import pytest

from shoal.report.facts import ReportFacts
from shoal.report.page import compose
from shoal.report.sections import Edition, _declared, sections, titles


def test_recipients_see_only_what_names_their_edition(full: ReportFacts) -> None:
    allowed = {one.key for one in sections() if Edition.RECIPIENT in one.declared.editions}
    assert allowed == {"stated", "classes", "attacks", "models", "attributes", "examples", "limits", "provenance"}
    shown = titles(compose(full, recipient=True))
    assert set(shown) <= allowed
    assert set(titles(compose(full, recipient=False))) > set(shown)


def test_a_section_with_something_to_say_is_still_kept_from_others(full: ReportFacts) -> None:
    """Known-bad: a page of a recipient that holds what it should not."""
    page = compose(full, recipient=False)
    kept = next(one for one in sections() if one.key == "usefulness")
    assert kept.is_shown(page)
    assert not kept.is_shown(page.__class__(**{**vars(page), "recipient": True}))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<p>no declaration</p>", "begin with its declaration"),
        ("{#\ntitle: [\n#}\n", "not YAML"),
        ("{#\ntitle: A\norder: 1\n#}\n", "editions"),
        ("{#\ntitle: A\norder: 1\neditions: [everybody]\n#}\n", "editions"),
        ("{#\ntitle: A\norder: 1\neditions: [owner]\nshow: x\n#}\n", "show"),
    ],
)
def test_a_declaration_that_cannot_be_read_is_refused(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        _declared("a", text, "a")
