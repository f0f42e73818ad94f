"""The studio in Chromium, started as its users start it: the journey, its clicks, what axe complains of."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.server.browsing import Studio, Walk, serving
from tests.server.conftest import PASSWORD
from tests.support.commands import Call, in_process

from shoal.examples import hospital

if TYPE_CHECKING:
    from playwright.sync_api import Browser

MOST_CLICKS = 12
PROGRESS = re.compile("/progress$")


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    with serving(tmp_path_factory.mktemp("browser") / "home") as studio:
        assert studio.token
        yield studio


@pytest.fixture(scope="module")
def chromium(browsers: Callable[..., Browser]) -> Iterator[Browser]:
    browser = browsers()
    yield browser
    browser.close()


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    monkeypatch.chdir(tmp_path)
    return in_process(monkeypatch, capfd)


@pytest.fixture
def walk(chromium: Browser) -> Iterator[Walk]:
    page = chromium.new_page(accept_downloads=True)
    yield Walk(page)
    page.close()


@pytest.mark.requirement("G-08")
def test_newcomer_makes_a_release_of_the_demo_hospital(studio: Studio, walk: Walk, tmp_path: Path, call: Call):
    """In few clicks; and the exported policy makes the same bytes again on the command line."""
    page = walk.page
    page.goto(studio.address)
    walk.look("1-setup")
    for label, text in (("token", studio.token), ("name", "meera"), ("password", PASSWORD), ("again", PASSWORD)):
        page.fill(f"#{label}", text)
    walk.click("Make the account")
    page.get_by_role("heading", name="Make a table safe to share").wait_for()
    walk.look("2-start")
    walk.click("Load the demo hospital")
    page.get_by_role("link", name="Know its columns").wait_for()
    walk.look("3-source")
    walk.click("Know its columns", "link")
    with page.expect_response(re.compile("/role$")):
        page.get_by_label("Role of diagnosis").select_option("quasi")
    page.get_by_text("You decided").wait_for()
    with page.expect_response(re.compile("/role$")):
        page.get_by_label("Role of diagnosis").select_option("sensitive")
    walk.look("4-know")
    walk.click("Choose the privacy", "link")
    assert page.input_value("#k") == "5"
    walk.clicks += 1
    page.get_by_text("For tests: a run that can be repeated").click()
    page.fill("#seed", "7")
    walk.look("5-choose")
    page.route(PROGRESS, lambda _: None)  # unanswered, so that the page stays while it is looked at
    walk.click("Make the release")
    page.get_by_role("heading", name="Making the release").wait_for()
    walk.look("6-run")
    page.unroute(PROGRESS)
    page.reload()
    page.get_by_role("heading", name="Release of hospital").wait_for()
    walk.look("7-result")
    with page.expect_download() as data:
        walk.click("Download the data", "link")
    with page.expect_download() as policy:
        walk.click("Export the policy", "link")

    assert walk.clicks <= MOST_CLICKS
    assert page.locator(".figure b").first.inner_text() == "5"
    content = Path(data.value.path()).read_bytes()
    manifest = page.evaluate("fetch(location.pathname.replace('/releases', '/api/v1/releases')).then(a => a.json())")
    assert hashlib.sha256(content).hexdigest() == manifest["data"]["sha256"]
    assert "k_anonymity: {k: 5}" in Path(policy.value.path()).read_text(encoding="utf-8")
    policy.value.save_as(tmp_path / "policy.yaml")
    assert made_again(call, tmp_path, manifest["data"]["path"]) == content
    for path, name in (("/account", "8-account"), ("/accounts", "9-accounts"), ("/api/v1/docs", "10-api")):
        page.goto(studio.address + path)
        walk.look(name)
    walk.click("Sign out")
    page.get_by_role("heading", name="Sign in").wait_for()
    walk.look("11-sign-in")
    assert walk.complaints == [], walk.complaints


def made_again(call: Call, folder: Path, data: str) -> bytes:
    """By the exported policy on the command line, with the same seed."""
    (folder / "hospital.csv").write_bytes(hospital.table().write_csv().encode())
    assert call("run", "policy.yaml", "--seed", "7", "--output", "again").code == 0
    return (folder / "again" / data).read_bytes()


def sign_in(studio: Studio, walk: Walk, name: str = "meera") -> None:
    walk.page.goto(studio.address + "/sign-in")
    walk.page.fill("#name", name)
    walk.page.fill("#password", PASSWORD)
    if walk.page.url.endswith("/setup"):
        walk.page.fill("#token", studio.token)
        walk.page.fill("#again", PASSWORD)
        walk.click("Make the account")
    else:
        walk.click("Sign in")
    walk.page.get_by_role("button", name="Sign out").wait_for()


@pytest.mark.requirement("G-01", "G-09")
def test_registry_from_its_first_person_to_a_verified_chain(studio: Studio, walk: Walk, tmp_path: Path):
    page = walk.page
    sign_in(studio, walk)
    page.goto(studio.address + "/accounts")
    page.fill("#name", "asha")
    page.fill("#password", PASSWORD)
    page.get_by_label("Chief investigator").check()
    walk.click("Make the account")
    walk.click("Govern", "link")
    walk.look("20-no-registry")
    walk.click("Begin the registry")
    page.goto(studio.address + "/govern/new/person")
    page.fill("#identifier-admit", "asha")
    page.get_by_label("chief investigator").check()
    walk.look("21-admit")
    walk.click("Admit")
    page.get_by_role("heading", name="Person asha").wait_for()
    walk.look("22-person")
    walk.click("Sign out")
    sign_in(studio, walk, "asha")
    page.goto(studio.address + "/govern/new/project")
    page.fill("#identifier-open", "admissions")
    page.fill("#open-title", "Admissions of the demo hospital")
    page.select_option("#open-use_case", "external-sharing")
    walk.look("23-open-project")
    walk.click("Open")
    page.get_by_role("heading", name="Admissions of the demo hospital").wait_for()
    shown = tmp_path / "minutes.txt"
    shown.write_text("which dataset it is", encoding="utf-8")
    page.get_by_text("Say that it is done").first.click()
    page.fill("#complete1-note", "The admissions of last year")
    page.set_input_files("#complete1-file", shown)
    page.get_by_text("The file itself is not sent").wait_for()
    page.get_by_role("button", name="Complete").first.click()
    page.get_by_text("asha, 20").first.wait_for()
    page.get_by_text("Give it to somebody").first.click()
    walk.look("24-project")
    sha256 = hashlib.sha256(shown.read_bytes()).hexdigest()
    told = page.evaluate("fetch('/api/v1/govern/projects/admissions/steps').then(a => a.json())")
    assert told["steps"][0]["evidence"]["sha256"] == sha256
    for path, name in (
        ("/govern", "25-overview"),
        ("/govern/projects/admissions/checklists", "26-checklists"),
        ("/govern/records/person", "27-people"),
        ("/govern/records/release", "28-releases"),
        ("/govern/training", "29-training"),
        ("/govern/training/techniques", "30-topic"),
        ("/govern/new/incident", "31-incident"),
        ("/govern/chain", "32-chain"),
    ):
        page.goto(studio.address + path)
        walk.look(name)
    walk.click("Verify the chain")
    page.get_by_text("The chain holds").wait_for()
    walk.look("33-verified")
    assert walk.complaints == [], walk.complaints


@pytest.mark.slow
def test_frontier_is_clicked_on_and_a_table_about_nobody_is_drawn(
    studio: Studio, walk: Walk, small: bytes, tmp_path: Path
):
    page = walk.page
    sign_in(studio, walk)
    file = tmp_path / "people.csv"
    file.write_bytes(small)
    page.set_input_files("#file", file)
    walk.click("Upload")
    walk.click("Know its columns", "link")
    walk.click("Choose the privacy", "link")
    page.get_by_label("k: everybody").fill("3")
    walk.click("Try what privacy costs")
    page.get_by_role("heading", name="What privacy costs", exact=True).wait_for()
    page.select_option("#second", index=3)
    walk.click("Compare")
    page.get_by_role("region", name="Comparison").wait_for()
    walk.look("50-frontier")
    page.locator(".chart a").last.click()
    page.get_by_role("heading", name="How well are people").wait_for()
    assert page.input_value("#k") in ("3", "5", "10", "20")
    walk.click("Or draw a table about nobody", "link")
    walk.look("51-synthetic")
    walk.click("Draw the table")
    page.get_by_role("heading", name="Synthetic people").wait_for()
    walk.look("52-fidelity")
    assert walk.complaints == [], walk.complaints


@pytest.mark.requirement("X-02")
def test_text_is_decided_on_with_mouse_and_keys(studio: Studio, walk: Walk):
    page = walk.page
    sign_in(studio, walk)
    walk.click("Texts", "link")
    letter = (
        "Dear Ms. Meera Iyer,\n\nDr. Asha Rao saw Ravi Lim, 34 years old, on 5 March 2024 in Pune.\n"
        "Write to ravi.lim@shop.in or call +91 98765 43210 about the blue lagoon.\n"
    )
    page.fill("#text", letter)
    page.fill("#name", "A letter to a patient")
    walk.look("40-texts")
    walk.click("Look through it")
    page.get_by_role("heading", name="Without it").wait_for()
    walk.look("41-text")
    page.locator(".found.contact").first.click()
    assert page.locator(".found.contact").first.get_attribute("aria-pressed") == "false"
    page.locator(".found.times").last.focus()
    page.keyboard.press("r")
    assert page.locator(".found.times").last.get_attribute("aria-pressed") == "false"
    page.evaluate(
        """() => { const last = document.getElementById('original').lastChild, at = last.data.indexOf('blue');
        const range = document.createRange(); range.setStart(last, at); range.setEnd(last, at + 11);
        const chosen = getSelection(); chosen.removeAllRanges(); chosen.addRange(range); }"""
    )
    page.keyboard.press("d")
    assert page.input_value("#goes").strip() == "blue lagoon"
    walk.click("Scrub it again")
    page.get_by_text("[LISTED]").wait_for()
    shown = page.locator(".text").last.inner_text()
    assert "ravi.lim@shop.in" in shown
    assert "5 March 2024" in shown
    assert "Asha" not in shown
    walk.look("42-text-decided")
    assert walk.complaints == [], walk.complaints


@pytest.mark.requirement("L-06", "C-01")
def test_levels_callers_and_questions(studio: Studio, walk: Walk, tmp_path: Path):
    """The editor shows as one types, a caller is answered, a question is priced, paid and drawn."""
    page = walk.page
    sign_in(studio, walk)
    file = tmp_path / "people.csv"
    rows = "".join(f"P-{n},{20 + n % 60},{('north', 'south')[n % 2]}\n" for n in range(600))
    file.write_text(f"patient,age,region\n{rows}", encoding="utf-8")
    page.set_input_files("#file", file)
    walk.click("Upload")
    page.get_by_role("link", name="Know its columns").wait_for()
    walk.look("60-source")
    source = page.url
    walk.click("Know its columns", "link")
    page.get_by_role("link", name="Levels of age").click()
    page.get_by_role("radio", name=re.compile("^Intervals")).check()
    with page.expect_response(re.compile("/preview$")):
        page.locator("#slider").fill("10")
    page.get_by_text("20-29").first.wait_for()
    assert page.input_value("#widths") == "10, 20, 40"
    assert page.get_by_label("Intervals", exact=False).first.is_checked()
    walk.look("61-levels")
    walk.click("Keep these levels")
    page.get_by_text("They fit all 60 different values.").wait_for()
    walk.look("62-levels-checked")

    answer_a_caller(studio, walk, source)
    ask_within_a_budget(studio, walk, source)
    assert walk.complaints == [], walk.complaints


TREE_OF_PEOPLE = "town\n" + "".join(f"{('Pune', 'Delhi', 'Kochi')[n % 3]}\n" for n in range(90))


@pytest.mark.requirement("G-08")
def test_tree_is_made_by_dragging_and_by_keys(studio: Studio, walk: Walk, tmp_path: Path):
    page = walk.page
    sign_in(studio, walk)
    file = tmp_path / "towns.csv"
    file.write_text(TREE_OF_PEOPLE, encoding="utf-8")
    page.set_input_files("#file", file)
    walk.click("Upload")
    walk.click("Know its columns", "link")
    with page.expect_response(re.compile("/role$")):
        page.get_by_label("Role of town").select_option("quasi")
    page.get_by_role("link", name="Levels of town").click()
    page.get_by_role("radio", name=re.compile("^A tree of your own")).check()
    rows = page.locator(".outline li")
    assert rows.all_inner_texts() == ["⠿\nDelhi", "⠿\nKochi", "⠿\nPune"]
    rows.nth(2).drag_to(rows.nth(0))
    page.get_by_label("Name of the group").fill("North and west")
    assert page.input_value("#tree") == "North and west\n  Delhi\n  Pune\nKochi"
    for key, tree in (
        ("ArrowRight", "North and west\n  Delhi\n  Pune\n  Kochi"),
        ("ArrowUp", "North and west\n  Delhi\n  Kochi\n  Pune"),
        ("ArrowDown", "North and west\n  Delhi\n  Pune\n  Kochi"),
        ("ArrowUp", "North and west\n  Delhi\n  Kochi\n  Pune"),
        ("ArrowLeft", "North and west\n  Delhi\n  Pune\nKochi"),
    ):
        page.get_by_role("button", name="Move Kochi").press(key)
        assert page.input_value("#tree") == tree, key
    walk.click("Add a group")
    assert page.input_value("#tree") == "Group 1\nNorth and west\n  Delhi\n  Pune\nKochi"
    page.locator(".outline li", has_text="Kochi").drag_to(page.locator(".outline li").first)
    with page.expect_response(re.compile("/preview$")):
        page.get_by_label("Name of the group").first.fill("South")
    page.locator("#preview").get_by_text("North and west").first.wait_for()
    tree = page.input_value("#tree")
    assert tree == "South\n  Kochi\nNorth and west\n  Delhi\n  Pune"
    walk.look("69-tree")
    walk.click("Keep these levels")
    page.get_by_text("They fit all 3 different values.").wait_for()
    assert page.input_value("#tree") == tree
    assert walk.complaints == [], walk.complaints


def answer_a_caller(studio: Studio, walk: Walk, source: str) -> None:
    page = walk.page
    page.goto(source)
    page.get_by_role("link", name="Answer callers about it").click()
    page.select_option("#person", "patient")
    page.get_by_label("age", exact=True).check()
    page.get_by_label("region", exact=True).check()
    page.fill("#answered_by", "meera")
    walk.look("63-new-desk")
    walk.click("Open the desk")
    page.get_by_role("heading", name="people").wait_for()
    while not page.locator("#claim-0").is_visible():
        page.wait_for_timeout(300)
        page.reload()
    for name, said in (("person", "p 1"), ("claim-0", "21"), ("claim-1", "South")):
        page.fill(f"#{name}", said)
    walk.click("Does it match?")
    page.get_by_text("Yes: all of it matches.").wait_for()
    walk.look("64-desk")
    page.goto(studio.address + "/callers")
    walk.look("65-desks")


def ask_within_a_budget(studio: Studio, walk: Walk, source: str) -> None:
    page = walk.page
    page.goto(source)
    page.get_by_role("link", name="Let it be asked").click()
    walk.look("66-new-dataset")
    page.fill(
        "#description",
        "shoal: 1\nname: people\nbudget: {epsilon: 1}\nanalysts: {meera: {epsilon: 1}}\n"
        "columns:\n  region: {type: category, categories: [north, south]}\n",
    )
    walk.click("Begin its budget")
    page.fill("#sql", "SELECT region, COUNT(*) AS people FROM t GROUP BY region")
    walk.click("What would it cost?")
    page.get_by_text("Nothing was read or spent").wait_for()
    page.fill("#epsilon", "0.5")
    walk.click("Ask and pay")
    page.get_by_text("between, in 95 of 100").wait_for()
    walk.look("67-dataset")
    page.goto(studio.address + "/query")
    walk.look("68-datasets")


def test_hostile_names_and_values_stay_text(studio: Studio, walk: Walk, tmp_path: Path):
    """Column names, values and file names that would be script if anything took them for it."""
    page = walk.page
    sign_in(studio, walk)
    evil = "<img src=x onerror=document.title='owned'>"
    rows = "\n".join(f"{evil}{number % 7},{20 + number % 40}" for number in range(60))
    file = tmp_path / "a<img src=x onerror=alert(1)>.csv"
    file.write_text(f'"{evil}",age\n{rows}\n', encoding="utf-8")
    page.set_input_files("#file", file)
    walk.click("Upload")
    page.get_by_role("link", name="Know its columns").wait_for()
    assert page.get_by_text(evil).count() > 1
    walk.click("Know its columns", "link")
    page.get_by_label(f"Role of {evil}").select_option("sensitive")
    page.get_by_text("You decided").or_(page.get_by_text(evil)).first.wait_for()

    assert "owned" not in page.title()
    assert page.locator("img[src=x]").count() == 0
    assert walk.complaints == [], walk.complaints
