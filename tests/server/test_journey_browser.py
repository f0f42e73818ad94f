"""A whole external release at the browser: five roles, from the upload to a verified certificate and expunged data.

Each person has a window of their own and does everything by the pages' own fields and buttons. What is refused is asked
for, too. Every page on the way is looked at; with ``SHOAL_PICTURES`` its picture is kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.server.browsing import SCHEMES, WIDTHS, Studio, Walk, serving
from tests.server.conftest import PASSWORD
from tests.support.commands import Call, in_process

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.requirement("G-01", "G-03", "G-08", "G-09")
PEOPLE = {
    "asha": "Chief investigator",
    "bela": "Manager",
    "chan": "Data manager",
    "dina": "Auditor",
    "tara": "Tester",
}
EXAM = ("3", "2", "1", "1")
FORM = {
    "project": "hospital",
    "seeker": "Institute of Public Health",
    "wanted": "ages and wards",
    "purpose": "a study of stays",
    "until": "2099-12-31",
}


class Person(Walk):
    """Somebody with a role, at a window of their own."""

    looked = 0
    name = ""
    address = ""

    def go(self, path: str) -> None:
        self.page.goto(self.address + path)

    def see(self, what: str) -> None:
        """The page, by turns light and wide or dark and narrow."""
        self.looked += 1
        turn = self.looked % 2
        self.look(f"journey-{what}", [(SCHEMES[turn], WIDTHS[turn])])

    def sign_in(self) -> None:
        self.go("/sign-in")
        self.page.fill("#name", self.name)
        self.page.fill("#password", PASSWORD)
        self.click("Sign in")
        self.page.get_by_role("button", name="Sign out").wait_for()

    def fill_in(self, act: str, fields: dict[str, str]) -> None:
        """Each field by what it is; a box is ticked."""
        for name, text in fields.items():
            field = self.page.locator(f"#{act}-{name}")
            kind = field.evaluate("one => one.type")
            if kind == "checkbox":
                field.check()
            elif kind == "select-one":
                field.select_option(text)
            else:
                field.fill(text)

    def act(self, record: str, act: str, told: str, **fields: str) -> None:
        """By the form that the page of a record offers; ``told`` is what the page says afterwards."""
        self.go(f"/govern/records/{record}")
        self.page.locator("summary", has_text=re.compile(f"^{act.capitalize()}$")).click()
        self.fill_in(act, fields)
        self.click(act.capitalize())
        self.page.get_by_text(told).first.wait_for()


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    with serving(tmp_path_factory.mktemp("journey") / "home") as studio:
        yield studio


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    return in_process(monkeypatch, capfd)


@pytest.fixture
def person(browsers: Callable[..., Browser], studio: Studio) -> Iterator[Callable[[str], Person]]:
    browser = browsers()
    everybody: list[Person] = []

    def of(name: str) -> Person:
        window = Person(browser.new_context(accept_downloads=True).new_page())
        window.name, window.address = name, studio.address
        everybody.append(window)
        return window

    yield of
    said = [one for window in everybody for one in window.complaints if not re.search(r"\b4\d\d\b", one)]
    browser.close()
    assert said == []


@pytest.mark.slow
def test_external_release_by_five_roles(
    studio: Studio, person: Callable[[str], Person], small: bytes, tmp_path: Path, call: Call
):
    devi = person("devi")
    begin(devi, studio.token)
    everybody = {name: person(name) for name in PEOPLE}
    for window in everybody.values():
        window.sign_in()
    asha, bela, chan, dina, tara = everybody.values()
    ask_for_data(asha, bela, tmp_path)
    release = make_release(chan, small, tmp_path)
    enter_and_test(chan, tara, release)
    finish_steps(asha)
    hand_over(asha, bela, chan, dina)
    verify_outside(chan, release, tmp_path, call)


def begin(devi: Person, token: str) -> None:
    """The first account, five others, a registry with all of them."""
    page = devi.page
    devi.go("/")
    for label, text in (("token", token), ("name", "devi"), ("password", PASSWORD), ("again", PASSWORD)):
        page.fill(f"#{label}", text)
    devi.see("01-setup")
    devi.click("Make the account")
    for name, role in PEOPLE.items():
        devi.go("/accounts")
        page.fill("#name", name)
        page.fill("#password", PASSWORD)
        page.get_by_role("checkbox", name=re.compile(f"^{role}")).check()
        devi.click("Make the account")
        page.get_by_role("rowheader", name=name).wait_for()
    devi.see("02-accounts")
    devi.go("/govern")
    devi.click("Begin the registry")
    for name, role in PEOPLE.items():
        devi.go("/govern/new/person")
        page.fill("#identifier-admit", name)
        page.get_by_label(role.lower(), exact=True).check()
        devi.click("Admit")
        page.get_by_role("heading", name=f"Person {name}").wait_for()
    devi.see("03-person")


def ask_for_data(asha: Person, bela: Person, tmp_path: Path) -> None:
    asha.go("/govern/new/project")
    asha.page.fill("#identifier-open", "hospital")
    asha.fill_in("open", {"title": "Admissions", "use_case": "external-sharing"})
    asha.click("Open")
    asha.page.get_by_role("heading", name="Admissions").wait_for()
    asha.see("04-project")
    bela.go("/govern/new/request")
    bela.page.fill("#identifier-submit", "R-1")
    bela.fill_in("submit", FORM)
    bela.see("05-request-form")
    bela.click("Submit")
    bela.page.get_by_role("heading", name="Request R-1").wait_for()
    bela.act("request/R-1", "review", "their own request")
    bela.see("06-refused-own-request")
    asha.go("/")
    asha.page.get_by_role("link", name="request R-1").click()
    asha.see("07-request")
    asha.act("request/R-1", "review", "reviewed")
    asha.act("request/R-1", "approve", "approved")
    signed = tmp_path / "agreement.txt"
    signed.write_text("signed by both", encoding="utf-8")
    bela.go("/govern/records/request/R-1")
    bela.page.locator("summary", has_text=re.compile("^Agree$")).click()
    bela.page.set_input_files("#agree-file", signed)
    bela.page.get_by_text("The file itself is not sent").wait_for()
    bela.page.fill("#agree-signatories", "Director\nDean")
    for clause in ("no re identification", "protection", "permitted purposes", "liability"):
        bela.page.get_by_label(clause, exact=True).check()
    bela.see("08-agreement")
    bela.click("Agree")
    bela.page.get_by_text("agreed").first.wait_for()


def make_release(chan: Person, table: bytes, tmp_path: Path) -> str:
    page, file = chan.page, tmp_path / "people.csv"
    file.write_bytes(table)
    chan.go("/")
    page.set_input_files("#file", file)
    chan.click("Upload")
    page.get_by_role("link", name="Know its columns").wait_for()
    chan.see("09-source")
    chan.click("Know its columns", "link")
    for column in ("age", "sex", "ward"):
        role = page.get_by_label(f"Role of {column}")
        if role.input_value() != "quasi":
            with page.expect_response(re.compile("/role$")):
                role.select_option("quasi")
    chan.see("10-know")
    chan.click("Choose the privacy", "link")
    page.get_by_role("radio", name=re.compile("^Sharing with an outside party")).check()
    page.fill("#limit", "20")
    page.get_by_label("Attack it, and compare it").check()
    chan.see("11-choose")
    chan.click("Make the release")
    page.get_by_role("heading", name=re.compile("Making the release|Release of")).wait_for()
    chan.see("12-run")
    page.get_by_role("heading", name="Release of people").wait_for()
    chan.see("13-release")
    return page.url.rpartition("/")[2]


def enter_and_test(chan: Person, tara: Person, release: str) -> None:
    """Refused without training; the examination; then it is entered, looked at together, tested."""
    page = chan.page
    tara.go(f"/releases/{release}")
    tara.page.get_by_role("heading", name="There is nothing here").wait_for()
    tara.see("14-not-there")
    enter(chan, release)
    page.get_by_text("has no training yet").wait_for()
    chan.see("15-refused-untrained")
    for window in (chan, tara):
        window.go("/govern/training/techniques")
        for number, answer in enumerate(EXAM):
            window.page.locator(f"input[name=question-{number}][value='{answer}']").check()
        window.see(f"16-exam-{window.name}")
        window.click("Hand it in")
        window.page.get_by_text("Your training holds until").wait_for()
    enter(chan, release)
    page.get_by_role("heading", name="Release 2026-q1").wait_for()
    chan.act("request/R-1", "deliver", "step", release="2026-q1", channel="sftp")
    page.get_by_role("alert").wait_for()
    chan.see("17-refused-too-early")
    tara.act("release/2026-q1", "test", "Nothing was found", passed="yes", note="Nothing was found")
    tara.see("18-tested")
    chan.go("/govern/records/release/2026-q1")
    chan.click("Look at it together with others")
    page.get_by_role("heading", name="Release 2026-q1").wait_for()
    chan.see("19-together")


def enter(chan: Person, release: str) -> None:
    chan.go(f"/releases/{release}")
    chan.page.get_by_text("Put it into the registry").click()
    chan.page.fill("#entry", "2026-q1")
    chan.click("Enter it")


def finish_steps(asha: Person) -> None:
    page = asha.page
    for step in range(1, 16):
        asha.go("/govern/projects/hospital")
        form = page.locator(f"form:has(#complete{step}-note)")
        page.locator(f"details:has(#complete{step}-note) > summary").click()
        form.locator(f"#complete{step}-{'release' if step == 13 else 'note'}").fill(
            "2026-q1" if step == 13 else "as the minutes say"
        )
        form.get_by_role("button", name="Complete").click()
        page.get_by_role("heading", name=re.compile(f": {step} of 15")).wait_for()
    for about in ("decision", "qualification", "raw data"):
        page.get_by_text("Add a note").click()
        asha.fill_in("note", {"about": about, "text": "as the minutes say"})
        asha.click("Note")
        page.get_by_text(f"{about}: as the minutes say").wait_for()
    asha.see("20-steps-done")
    asha.go("/govern/projects/hospital/checklists")
    asha.see("21-checklists")


def hand_over(asha: Person, bela: Person, chan: Person, dina: Person) -> None:
    chan.act("request/R-1", "deliver", "delivered", release="2026-q1", channel="sftp")
    chan.see("22-delivered")
    bela.act("request/R-1", "expunge", "expunged")
    bela.page.get_by_text("Nothing, by your roles").wait_for()
    bela.see("23-expunged-not-hers-to-confirm")
    dina.go("/")
    dina.page.get_by_role("link", name="request R-1").click()
    dina.see("24-waits-for-the-auditor")
    dina.act("request/R-1", "confirm", "confirmed")
    dina.go("/govern/chain")
    dina.click("Verify the chain")
    dina.page.get_by_text("The chain holds").wait_for()
    dina.see("25-chain")
    asha.go("/govern")
    asha.see("26-overview")


def verify_outside(chan: Person, release: str, tmp_path: Path, call: Call) -> None:
    """The certificate in the studio; then all files on a machine that knows the studio's public key alone."""
    page, folder = chan.page, tmp_path / "received"
    chan.go(f"/releases/{release}")
    chan.click("Certify the release")
    chan.click("Verify the certificate")
    page.get_by_text("The release is as it was certified.").wait_for()
    chan.see("27-certified")
    chan.go(f"/releases/{release}")
    links = page.locator("a[href*='/files/']")
    folder.mkdir()
    for name in {str(link.get_attribute("href")).rpartition("/files/")[2] for link in links.all()}:
        with page.expect_download() as sent:
            page.locator(f"li a[href$='/files/{name}']").click()
        sent.value.save_as(folder / name)
    with page.expect_download() as sent:
        chan.click("Download the key to check it with", "link")
    sent.value.save_as(tmp_path / "studio.pub")
    ended = call("verify", str(folder), "--key", str(tmp_path / "studio.pub"))
    assert (ended.code, ended.stdout[:6]) == (0, "intact"), ended
