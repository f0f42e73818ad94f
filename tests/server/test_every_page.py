"""Every page of the studio, from its router, with something on it: read by axe, in both themes, wide and narrow."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest
from tests.server.browsing import SCHEMES, WAIT, WIDTHS, Studio, Walk, serving
from tests.server.furnished import ELSEWHERE, Furnished, furnish, name_of, routes_of_pages

from shoal.server.web.languages import COOKIE, LANGUAGES

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.requirement("G-08")
REFUSED = {("kiri", "/govern"): 403}
"""Pages that say no are looked at, too."""


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Furnished:
    return furnish(tmp_path_factory.mktemp("furnished"), people=150)


@pytest.fixture(scope="module")
def studio(furnished: Furnished) -> Iterator[Studio]:
    place = furnished.home.parent
    more = ("--vault", str(place / "vault.db"), "--tables", str(place / "tables"))
    with serving(furnished.home, *more, "--table-server", "postgresql://db.example.org:5432") as studio:
        yield studio


@pytest.fixture(scope="module")
def chromium(browsers: Callable[..., Browser]) -> Iterator[Browser]:
    browser = browsers()
    yield browser
    browser.close()


def test_every_page_of_the_router_has_an_address(furnished: Furnished):
    """A page that nobody gave an address to would be looked at by nobody."""
    assert set(furnished.addresses) == routes_of_pages(furnished.app) - ELSEWHERE


def looked_at(furnished: Furnished, studio: Studio, chromium: Browser, language: str, *, all_views: bool) -> list[str]:
    complaints: list[str] = []
    for number, name in enumerate(furnished.people):
        context = chromium.new_context(locale=language)
        cookies = {"shoal-session": furnished.cookie(name), COOKIE: language}
        context.add_cookies([{"name": key, "value": text, "url": studio.address} for key, text in cookies.items()])
        walk = Walk(context.new_page())
        for place, address in enumerate(mine for who, mine in furnished.pages if who == name):
            answer = walk.page.goto(studio.address + address, wait_until="load")
            assert answer is not None
            refused = REFUSED.get((name, address), 200)
            if answer.status != refused:
                complaints.append(f"{name} at {address}: {answer.status}")
            views = [(SCHEMES[(number + place) % 2], WIDTHS[(number + place) % 2])]
            walk.look(f"{language}-{name}-{place}-{name_of(address)}", () if all_views else views)
        complaints += [one for one in walk.complaints if "403" not in one]
        context.close()
    return complaints


def test_axe_finds_nothing_on_any_page(furnished: Furnished, studio: Studio, chromium: Browser):
    """Each once, light and wide or dark and narrow by turns."""
    assert looked_at(furnished, studio, chromium, "en-GB", all_views=False) == []


FOCUSED = """() => { const one = document.activeElement, style = getComputedStyle(one);
    const label = one.getAttribute('aria-label') || (one.labels && one.labels[0] || one).innerText || '';
    return [label.replace(/\\s+/g, ' ').trim(), style.outlineStyle !== 'none' || one === document.body]; }"""
MOST_TABS = 120


def tab_to(page: Page, name: str) -> None:
    """Until what has the focus begins with the name; all on the way is seen to have it."""
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
        label, seen = page.evaluate(FOCUSED)
        assert seen, f"nobody sees that '{label}' has the focus"
        if label.startswith(name):
            return
    raise AssertionError(f"no Tab leads to '{name}'")


def test_release_is_made_with_keys_alone(furnished: Furnished, studio: Studio, chromium: Browser):
    context = chromium.new_context()
    context.add_cookies([{"name": "shoal-session", "value": furnished.cookie("chan"), "url": studio.address}])
    page = context.new_page()
    page.set_default_timeout(WAIT)
    page.goto(studio.address)
    page.keyboard.press("Tab")
    assert page.evaluate(FOCUSED)[0] == "To the content"
    page.keyboard.press("Enter")
    for name, follows in (
        ("hospital.csv", "hospital.csv"),
        ("Know its columns", "What each column is"),
        ("Choose the privacy", "How well are people to be hidden?"),
    ):
        tab_to(page, name)
        page.keyboard.press("Enter")
        page.get_by_role("heading", name=follows).wait_for()
    page.go_back()
    tab_to(page, "Role of diagnosis")
    with page.expect_response(re.compile("/role$")):
        page.keyboard.press("q")
    page.get_by_text("You decided").wait_for()
    assert page.evaluate(FOCUSED)[0] == "Role of diagnosis", "the focus stays where it was"
    with page.expect_response(re.compile("/role$")):
        page.keyboard.press("s")
    page.keyboard.press("Shift+Tab")
    page.goto(f"{page.url.removesuffix('/know')}/choose")
    tab_to(page, "Sharing with an outside party")
    page.keyboard.press("ArrowUp")
    assert page.evaluate(FOCUSED)[0].startswith("Internal sharing of anonymised data")
    tab_to(page, "k: everybody")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("4")
    tab_to(page, "Make the release")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Release of hospital").wait_for()
    context.close()


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_axe_finds_nothing_in_any_view(furnished: Furnished, studio: Studio, chromium: Browser, language: str):
    assert looked_at(furnished, studio, chromium, language, all_views=True) == []
