"""Every page of the studio, from its router, with something on it: read by axe, in both themes, wide and narrow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest
from tests.server.browsing import SCHEMES, WIDTHS, Studio, Walk, serving
from tests.server.furnished import ELSEWHERE, Furnished, furnish, name_of, routes_of_pages

from shoal.server.web.languages import COOKIE, LANGUAGES

if TYPE_CHECKING:
    from playwright.sync_api import Browser

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


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_axe_finds_nothing_in_any_view(furnished: Furnished, studio: Studio, chromium: Browser, language: str):
    assert looked_at(furnished, studio, chromium, language, all_views=True) == []
