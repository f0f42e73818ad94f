"""The page as Chromium shows it: nothing sticks out, nothing is fetched, everything can be read."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.report.conftest import ATTACKERS
from tests.support.reports import altered, changed

from shoal.report import FigureTable, ReassessmentFacts, ReportFacts, add_reassessments, render, render_exploration

if TYPE_CHECKING:
    from playwright.sync_api import ConsoleMessage, Page, Request

WIDTHS = [390, 768, 1280]
ALL_WIDTHS = [320, *WIDTHS, 705, 961]
"""With the narrowest phone, and the narrowest screens on which tables are tables."""
SPACINGS = ["normal", "0.06em"]
"""As the fonts are, and wider than those of any family."""
SAMPLES = ["facts", "unmet", "aggregated", "empty", "full", "broken"]
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
LONG = "a_very_long_attribute_name_without_any_place_to_break_it_" * 4
RTL = "العمر_بالسنوات·年齢·👩‍👩‍👧"

# WCAG 2 contrast of every piece of text with the first opaque background behind it; returns what is below 4.5.
FAINT = """() => {
  const parse = text => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
    .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = node => {
    for (let at = node; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const faint = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || node.tagName === 'title') continue;
    const style = getComputedStyle(node);
    const [a, b] = [light(parse(node instanceof SVGElement ? style.fill : style.color)), light(behind(node))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) faint.push(`${walker.currentNode.data.trim()}: ${ratio.toFixed(2)}`);
  }
  return faint;
}"""


# Of each attack: how far its parts reach from the left end of the track, in pixels.
INTERVALS = """() => [...document.querySelectorAll('svg.interval')].map(svg => {
  const box = name => svg.querySelector(name).getBoundingClientRect();
  const left = box('.track').left;
  return {
    track: box('.track').width, success: box('.bar-safe, .bar-found').width,
    low: box('.whisker').left - left, high: box('.whisker').right - left,
    baseline: (box('.guess').left + box('.guess').right) / 2 - left,
  };
})"""


@pytest.fixture
def page(screen: Page) -> Page:
    """The screen as every test expects it."""
    screen.emulate_media(media="screen", color_scheme="light")
    screen.set_viewport_size({"width": 1280, "height": 900})
    return screen


@pytest.fixture
def hostile_full(full: ReportFacts) -> ReportFacts:
    """The same for the evidence."""
    bars = ((LONG, 0.5, 0.5), (RTL, 0.5, 0.5))
    return changed(
        full,
        purpose=LONG,
        attacks=tuple(altered(one, title=LONG, attribute=LONG, knows=RTL * 9) for one in full.attacks),
        attack_words=(LONG,) * len(full.attacks),
        attackers=altered(ATTACKERS, basis_in_words=LONG),
        distributions=tuple(
            replace(one, name=LONG, kind=LONG, bars=bars, distances=((LONG, 1e12),)) for one in full.distributions
        ),
        tables=(FigureTable(LONG, LONG, LONG, (LONG,) * 4, ((LONG,) * 4, (RTL,) * 4, ("1",) * 4)),),
        limits=(LONG,),
    )


@pytest.fixture
def many(full: ReportFacts) -> ReportFacts:
    """200 attributes, each with its distribution."""
    names = [f"attribute_{place:03}" for place in range(200)]
    return changed(
        full,
        attributes=tuple(replace(full.attributes[3], name=name) for name in names),
        distributions=tuple(replace(full.distributions[place % 6], name=name) for place, name in enumerate(names)),
        levels=dict.fromkeys(names, 2),
    )


@pytest.fixture
def hostile(facts: ReportFacts) -> ReportFacts:
    """Names and numbers far wider than a phone."""
    found = altered(facts.models[0].found, required=10**10, achieved=10**10)
    model = replace(facts.models[0], title=LONG, explanation=LONG, found=found)
    crowd = replace(facts.after, people=10**10, class_sizes=(10**10, 5))
    return changed(
        facts,
        name=LONG,
        data_path=LONG,
        models=(model,),
        after=crowd,
        attributes=(*facts.attributes, replace(facts.attributes[3], name=LONG, done=(LONG,), clause=(LONG,))),
        utility={LONG: 10.0**12},
        levels={LONG: 3},
        warnings=(LONG,),
    )


# Of each line of the chart: the contrast with the page (WCAG 2 asks for 3 of what has to be seen).
LINES = """() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const light = colour => {
    canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map(v => v / 255)
      .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
      .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  };
  const paper = light(getComputedStyle(document.body).backgroundColor);
  return [...document.querySelectorAll('.frontier .limit')].map(line => light(getComputedStyle(line).stroke))
    .map(ink => (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05));
}"""

# How far text sticks out of its own cell, in pixels.
SPILT = """() => [...document.querySelectorAll('.attacks td.amount')].map(cell => {
  const range = document.createRange();
  range.selectNodeContents(cell);
  const end = cell.getBoundingClientRect().right - parseFloat(getComputedStyle(cell).paddingRight);
  return range.getBoundingClientRect().right - end;
})"""


def test_the_page_is_written_in_letters_of_either_width(page: Page, facts: ReportFacts) -> None:
    """What every test here is run with: a guard that the two families are really used, and differ."""
    page.set_content(render(facts))
    session = page.context.new_cdp_session(page)
    session.send("DOM.enable")
    session.send("CSS.enable")
    root = session.send("DOM.getDocument")["root"]["nodeId"]
    node = session.send("DOM.querySelector", {"nodeId": root, "selector": ".lead"})["nodeId"]
    used = {font["familyName"] for font in session.send("CSS.getPlatformFontsForNode", {"nodeId": node})["fonts"]}
    session.detach()
    page.set_content("<span style='font: 100px sans-serif'>Anonymisation</span>")
    width = page.evaluate("document.querySelector('span').getBoundingClientRect().width")
    assert (used, width > 720) in [({"DejaVu Sans"}, True), ({"Liberation Sans"}, False)]


# Words of free tables that stand on more than one line; heads that are hidden on a narrow screen don't count.
BROKEN_WORDS = """() => {
  const broken = [];
  for (const cell of document.querySelectorAll('.free :is(th, td)')) {
    if (getComputedStyle(cell.closest('thead, tbody')).position === 'absolute') continue;
    const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) for (const word of walker.currentNode.data.matchAll(/\\S+/g)) {
      const range = document.createRange();
      range.setStart(walker.currentNode, word.index);
      range.setEnd(walker.currentNode, word.index + word[0].length);
      if (new Set([...range.getClientRects()].map(box => Math.round(box.top))).size > 1) broken.push(word[0]);
    }
  }
  return broken;
}"""


@pytest.mark.parametrize("recipient", [False, True], ids=["internal", "recipient"])
@pytest.mark.parametrize("sample", [*SAMPLES, "ruled", "hostile", "hostile_full", "many"])
def test_nothing_sticks_out_at_any_width(
    page: Page, sample: str, recipient: bool, request: pytest.FixtureRequest
) -> None:
    page.set_content(render(request.getfixturevalue(sample), recipient=recipient))
    sticking = {}
    for spacing in SPACINGS:
        page.add_style_tag(content=f"* {{ letter-spacing: {spacing} !important; }}")
        for width in ALL_WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            sticking[spacing, width] = page.evaluate(OVERFLOW)
    assert sticking == dict.fromkeys(product(SPACINGS, ALL_WIDTHS), 0)


@pytest.mark.parametrize("text", ["Linked with a list", LONG, RTL * 9])
def test_nothing_sticks_out_of_a_report_that_was_looked_at_again(
    page: Page, full: ReportFacts, history: tuple[ReassessmentFacts, ...], text: str
) -> None:
    looked = add_reassessments(render(full), [replace(one, what=text, verdict=text) for one in history])
    assert looked is not None
    page.set_content(looked)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(OVERFLOW) == 0
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(FAINT) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_lines_of_the_frontier_can_be_seen(page: Page, full: ReportFacts, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.set_content(render(full))
    lines = page.evaluate(LINES)
    assert len(lines) == 6
    assert min(lines) >= 3


def test_what_can_be_scrolled_is_reached_by_the_keyboard(page: Page, full: ReportFacts) -> None:
    assert full.exploration is not None
    page.set_viewport_size({"width": 390, "height": 900})
    page.set_content(render_exploration(full.exploration, full.created))
    assert page.evaluate("document.querySelector('.scroll').scrollWidth") > 390
    assert page.evaluate(OVERFLOW) == 0
    assert page.evaluate("document.querySelector('.scroll').tabIndex") == 0
    assert page.evaluate("getComputedStyle(document.querySelector('.scroll')).backgroundImage").count("gradient") == 4


def test_small_risks_stay_in_their_column(page: Page, full: ReportFacts) -> None:
    tiny = tuple(
        altered(one, risk=risk) for one, risk in zip(full.attacks, (0.002788, 0.00002, 0.1771, 1.0), strict=True)
    )
    page.set_content(render(changed(full, attacks=tiny)))
    for spacing in SPACINGS:
        page.add_style_tag(content=f"* {{ letter-spacing: {spacing} !important; }}")
        for width in (961, 1280):
            page.set_viewport_size({"width": width, "height": 900})
            assert max(page.evaluate(SPILT)) < 1


@pytest.mark.parametrize("columns", [4, 5, 6, 9])
def test_no_word_of_a_table_is_broken(page: Page, full: ReportFacts, columns: int) -> None:
    """Where words as long as "ENCOUNTER" have room, they stay on one line, in heads and in cells."""
    header = ("Attacker", *["Highest"] * (columns - 1))
    table = FigureTable("Title", "", "", header, (("ENCOUNTER", *["1.0"] * (columns - 1)),))
    page.set_content(render(changed(full, tables=(table,))))
    for width in (320, 390, 705, 768, 961, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(BROKEN_WORDS) == [], width
        assert page.evaluate(OVERFLOW) == 0


def test_small_and_large_distributions_leave_no_holes(page: Page, full: ReportFacts) -> None:
    """Two of two bars fit beside one of twelve."""
    bars = tuple((f"label {place}", 0.05, 0.06) for place in range(12))
    kinds = [
        replace(full.distributions[0], name=f"d{place}", bars=bars[:size]) for place, size in enumerate([12, 2, 2])
    ]
    page.set_content(render(changed(full, distributions=tuple(kinds))))
    boxes = page.evaluate(
        "[...document.querySelectorAll('.spread')].map(one => one.getBoundingClientRect())"
        ".map(box => [box.left, box.top, box.bottom])"
    )
    large, small, other = boxes
    assert small[0] == other[0] > large[0]
    assert small[2] <= other[1] < large[2]


def test_what_sticks_out_would_be_seen(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 900})
    page.set_content("<div style='width: 400px'>too wide</div>")
    assert page.evaluate(OVERFLOW) > 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("sample", SAMPLES)
def test_all_text_stands_out_from_its_background(
    page: Page, sample: str, scheme: str, request: pytest.FixtureRequest
) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.set_content(render(request.getfixturevalue(sample)))
    assert page.evaluate(FAINT) == []


def test_faint_text_would_be_seen(page: Page) -> None:
    page.set_content("<p style='color: #999'>grey</p>")
    assert page.evaluate(FAINT) == ["grey: 2.85"]


def test_light_and_dark_follow_the_reader_and_paper_is_white(page: Page, facts: ReportFacts) -> None:
    page.set_content(render(facts))
    seen = []
    for media, scheme in [("screen", "light"), ("screen", "dark"), ("print", "dark")]:
        page.emulate_media(media=media, color_scheme=scheme)  # type: ignore[arg-type]
        seen.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert seen == ["rgb(255, 255, 255)", "rgb(17, 22, 29)", "rgb(255, 255, 255)"]


def test_only_the_file_itself_is_loaded_and_nothing_complains(page: Page, facts: ReportFacts, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(render(facts), encoding="utf-8")
    asked: list[str] = []
    said: list[str] = []

    def asking(request: Request) -> None:
        asked.append(request.url)

    def saying(message: ConsoleMessage) -> None:
        said.append(message.text)

    page.on("request", asking)
    page.on("console", saying)
    page.goto(file.as_uri(), wait_until="networkidle")
    page.remove_listener("request", asking)
    page.remove_listener("console", saying)
    assert [url for url in asked if not url.startswith("data:")] == [file.as_uri()]
    assert said == []


@pytest.mark.parametrize("width", WIDTHS)
def test_bars_of_both_tables_have_the_same_scale(page: Page, facts: ReportFacts, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.set_content(render(facts))
    tracks = page.evaluate("[...document.querySelectorAll('svg.bar')].map(bar => bar.getBoundingClientRect().width)")
    assert len(tracks) == 16
    assert max(tracks) - min(tracks) < 0.5
    assert min(tracks) > 60


@pytest.mark.requirement("R-10")
@pytest.mark.parametrize("sample", ["facts", "full"])
def test_the_summary_fits_one_screen(page: Page, sample: str, request: pytest.FixtureRequest) -> None:
    page.set_content(render(request.getfixturevalue(sample)))
    bottom = page.evaluate("document.querySelector('.harms').getBoundingClientRect().bottom")
    assert bottom <= 900


@pytest.mark.requirement("R-10")
@pytest.mark.parametrize("width", WIDTHS)
def test_whiskers_and_marks_lie_where_their_shares_are(page: Page, broken: ReportFacts, width: int) -> None:
    """Bars of all attacks have one scale, and what is drawn reads as the figures do."""
    page.set_viewport_size({"width": width, "height": 900})
    page.set_content(render(broken))
    rows = page.evaluate(INTERVALS)
    assert len(rows) == len(broken.attacks)
    for row, attack in zip(rows, broken.attacks, strict=True):
        assert row["track"] > 120
        tried = attack.success
        shares = {"success": tried.share, "low": tried.low, "high": tried.high, "baseline": attack.baseline.share}
        for name, share in shares.items():
            assert row[name] / row["track"] == pytest.approx(share / 0.75, abs=0.01)


def test_contents_lead_to_headings_that_are_there(page: Page, full: ReportFacts) -> None:
    page.set_content(render(full))
    links = page.evaluate("[...document.querySelectorAll('.contents a')].map(a => [a.hash.slice(1), a.textContent])")
    heads = page.evaluate("[...document.querySelectorAll('main h2:not(.unseen)')].map(h => [h.id, h.textContent])")
    assert links == heads
    assert len(links) == 17


@pytest.mark.parametrize(("sample", "most"), [("facts", 5), ("full", 10)])
def test_it_prints_on_few_sheets(page: Page, sample: str, most: int, request: pytest.FixtureRequest) -> None:
    page.emulate_media(media="print")
    page.set_content(render(request.getfixturevalue(sample)))
    sheets = page.pdf(prefer_css_page_size=True).count(b"/Type /Page\n")
    assert 2 <= sheets <= most


def test_before_and_after_differ_in_grey_on_paper(page: Page, full: ReportFacts) -> None:
    page.emulate_media(media="print")
    page.set_content(render(full))
    light = page.evaluate(
        "['before', 'after'].map(kind => getComputedStyle(document.querySelector(`.pair .bar-${kind}`)).fill)"
        ".map(fill => fill.match(/\\d+/g).map(Number)).map(([r, g, b]) => 0.299 * r + 0.587 * g + 0.114 * b)"
    )
    assert light[0] - light[1] > 80
