"""Agreements from templates: every clause and every fact reaches the text, and what is not known is a blank (G-03)."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

import pytest
from tests.govern.conftest import AGREEMENT, FORM, Do, complete_steps, enter_release, open_project
from tests.support.commands import Call

from shoal.cli.governance.agreements import TEMPLATES
from shoal.errors import AccessError, BugError, InputError
from shoal.govern.agreements import templates as templates_module
from shoal.govern.agreements.drafting import AgreementPage, draft_agreement, record_draft
from shoal.govern.agreements.templates import agreement_template, agreement_templates, placeholders
from shoal.govern.kinds.request import AgreementClause, RequestState
from shoal.govern.record_kinds import record_kinds
from shoal.govern.registry import GovernanceRegistry
from shoal.govern.rights import allowing_roles, role_rights
from shoal.report.plain_document import DocumentSection, PlainDocument
from shoal.server.governance.act_forms import act_form

pytestmark = pytest.mark.requirement("G-03")

HOSTILE = (
    "Institute <script>alert(1)</script> {purpose}\n\n## 99. No liability\n[x](javascript:0) \\<img src=x>\x1b[2J\u202e"
)
KEY = f"age1{'q' * 58}"
COMPUTED = {"request": {"id", "confirm_by"}, "project": {"name"}, "release": {"id", "measured"}}
ASKED_ALWAYS = {"provider", "recipient_contact", "notify_hours", "liability_limit", "governing_law"}
EVERY = pytest.mark.parametrize("name", agreement_templates())


def approved(do: Do, **given: Any) -> None:
    open_project(do, title="diabetes")
    complete_steps(do)
    enter_release(do)
    do("manager", "request.submit", "R-1", project="hospital", **{**FORM, **given})
    do("chief-investigator", "request.review", "R-1")
    do("co-director", "request.approve", "R-1")


def drafted(registry: GovernanceRegistry, name: str, **given: str) -> AgreementPage:
    return draft_agreement(registry, "R-1", name, **{"by": "manager", **given})


@pytest.fixture
def written(registry: GovernanceRegistry, do: Do, tmp_path: Path) -> str:
    """The checksum of an undertaking that was drafted for an approved request."""
    approved(do)
    made = drafted(registry, "undertaking", release="2026-q1")
    (tmp_path / "draft.html").write_text(made.page.to_html())
    return record_draft(registry, made, tmp_path / "draft.html", by="manager")


@EVERY
def test_every_clause_reaches_the_text_with_what_it_answers(registry: GovernanceRegistry, do: Do, name: str) -> None:
    approved(do)
    made = drafted(registry, name)
    html, markdown = made.page.to_html(), made.page.to_markdown()
    template = agreement_template(name)
    assert made.clauses == tuple(clause.id for clause in template.clauses)
    for clause in template.clauses:
        assert clause.source and all(re.match(r"MeitY 3\.|PDPC step 5, ", source) for source in clause.source)
        last_words = re.split(r"\{\w+\}", clause.text)[-1].strip()
        for text in (html, markdown):
            assert clause.title in text and f"Clause {clause.id.value}; answers {'; '.join(clause.source)}." in text
        assert last_words.replace("'", "&#39;") in html and last_words in markdown
    assert not re.search(r"\{\w+\}", html.split("</style>")[1]), "no placeholder is left"


def test_templates_settle_what_the_guides_ask_for() -> None:
    asked = {"permitted-purposes", "liability", "no-re-identification", "protection", "no-third-party", "expunge",
             "confirmation", "extension", "inspection"}  # fmt: skip
    for template in agreement_templates().values():
        assert asked <= {clause.id.value for clause in template.clauses}
    used = {clause.id for template in agreement_templates().values() for clause in template.clauses}
    assert used == set(AgreementClause), "a clause that can be recorded stands in a template"
    assert sorted(TEMPLATES.split("|")) == sorted(agreement_templates()), "the help names them"


def test_every_placeholder_is_known_and_used() -> None:
    named = {name for template in agreement_templates().values() for name in template.placeholders}
    assert named == set(placeholders())
    fields = {kind: set(entry.state.model_fields) | COMPUTED.get(kind, set()) for kind, entry in record_kinds}
    fields["registry"] = {"privacy_officers"}
    assert {name for name, one in placeholders().items() if not one.record} == ASKED_ALWAYS
    for name, one in placeholders().items():
        assert not one.record or one.field in fields[one.record], name


def test_a_template_with_an_unknown_placeholder_is_seen() -> None:
    template = agreement_template("sharing")
    with pytest.raises(BugError, match="nobody"):
        templates_module._checked("bad", template.model_copy(update={"opening": "{nobody} agrees"}))
    with pytest.raises(BugError, match="twice"):
        templates_module._checked("bad", template.model_copy(update={"clauses": template.clauses * 2}))


@EVERY
def test_what_is_recorded_is_told_with_its_entry(registry: GovernanceRegistry, do: Do, name: str) -> None:
    approved(do)
    made = drafted(registry, name, release="2026-q1", channel="encrypted package")
    text = made.page.to_markdown()
    for told in (FORM["seeker"], FORM["wanted"], FORM["purpose"], "2026-12-31", "2027-01-30", "hospital (diabetes)",
                 "2026-q1", "b" * 64, "k 5", "encrypted package", "privacy-officer"):  # fmt: skip
        assert told in text, told
    entry = registry.last_entries("release")["2026-q1"]
    assert f"release/2026-q1 (entry {entry})" in text
    system = {"system", "every_days", "feed_until", "feed_key"} if name == "processing" else set()
    assert set(made.blanks) == ASKED_ALWAYS | system


@EVERY
def test_blanks_are_visible_numbered_and_listed(registry: GovernanceRegistry, do: Do, name: str) -> None:
    approved(do)
    do("devi", "person.dismiss", "privacy-officer")
    made = drafted(registry, name)
    assert {"release", "release_sha256", "measured", "channel", "privacy_officer"} <= set(made.blanks)
    listed = next(one for one in made.page.sections if one.title == "Still to be filled in")
    assert listed.rows == tuple((f"B{number}", asks) for number, asks in enumerate(made.blanks.values(), start=1))
    clauses = " ".join(text for one in made.page.sections for text in one.paragraphs)
    assert all(f"________ ({number})" in clauses for number, _ in listed.rows)
    assert f"{len(made.blanks)} are blanks" in made.page.to_html()


def test_a_feed_fills_its_agreement(registry: GovernanceRegistry, do: Do) -> None:
    approved(do)
    do("manager", "request.agree", "R-1", **AGREEMENT)
    do("data-manager", "request.deliver", "R-1", release="2026-q1", channel="encrypted package")
    feed = {"request": "R-1", "system": "system", "recipient": KEY, "every_days": 30, "until": "2026-11-30"}
    do("manager", "feed.open", "F-1", **feed)
    made = drafted(registry, "processing")
    assert set(made.blanks) == ASKED_ALWAYS
    assert all(told in made.page.to_markdown() for told in (KEY, "every 30 days until 2026-11-30", "2026-q1"))


def test_a_hostile_name_is_words_only(registry: GovernanceRegistry, do: Do) -> None:
    approved(do, seeker=HOSTILE)
    made = drafted(registry, "sharing")
    html, markdown = made.page.to_html(), made.page.to_markdown()
    assert "<script>" not in html and "<img" not in html and "&lt;script&gt;" in html
    assert "\x1b" not in html + markdown and "\u202e" not in html + markdown
    assert "\n## 99" not in markdown and "{purpose}" in markdown, "a value is no clause and is not filled again"
    unescaped = re.compile(r"(?<!\\)(?:\\\\)*[<\[]")
    assert not unescaped.search(markdown)


def test_words_that_begin_like_markup_stay_a_paragraph() -> None:
    said = ("# one", "> two", "1. three", "- four\n# five", "```")
    page = PlainDocument("<b>", "draft", "2026-03-02", (DocumentSection("[a](b)", said),)).to_markdown()
    lines = [line for line in page.splitlines() if line]
    assert lines == ["# \\<b>", "draft, 2026-03-02", "## \\[a\\](b)",
                     "\\# one", "\\> two", "1\\. three", "\\- four # five", "\\```"]  # fmt: skip


def test_what_is_signed_is_tied_to_its_draft(registry: GovernanceRegistry, do: Do, written: str) -> None:
    with pytest.raises(InputError, match="no draft of this request"):
        do("manager", "request.agree", "R-1", **AGREEMENT, draft="0" * 64)
    with pytest.raises(InputError, match="subcontractors: not in that draft"):
        do("manager", "request.agree", "R-1", **AGREEMENT, draft=written, clauses=["expunge", "subcontractors"])
    state = do("manager", "request.agree", "R-1", **AGREEMENT, draft=written)
    assert isinstance(state, RequestState) and state.agreement is not None
    assert (state.agreement.draft, state.agreement.template) == (written, "undertaking")
    assert state.agreement.clauses == tuple(clause.id for clause in agreement_template("undertaking").clauses)
    assert state.drafts[0].by == "manager" and set(state.drafts[0].blanks) == ASKED_ALWAYS | {"channel"}
    registry.verify()


def test_the_release_of_the_signed_draft_is_the_one_that_goes(do: Do, written: str) -> None:
    do("manager", "request.agree", "R-1", **AGREEMENT, draft=written)
    enter = {"project": "hospital", "k": 5, "attacked": True, "data_sha256": "c" * 64}
    do("data-manager", "release.enter", "2026-q2", **enter)
    with pytest.raises(InputError, match="about release '2026-q1'"):
        do("data-manager", "request.deliver", "R-1", release="2026-q2", channel="encrypted package")
    do("data-manager", "request.deliver", "R-1", release="2026-q1", channel="encrypted package")
    amended = do("manager", "request.amend", "R-1", **AGREEMENT, clauses=["expunge"])
    assert isinstance(amended, RequestState) and amended.agreement is not None and amended.status == "delivered"
    assert amended.agreement.clauses == (AgreementClause.EXPUNGE,) and not amended.agreement.draft


def test_who_may_not_record_a_draft_may_not_make_one(registry: GovernanceRegistry, do: Do) -> None:
    approved(do)
    able = allowing_roles("request.draft")
    assert able == ("chief-investigator", "manager", "privacy-officer")
    for role in role_rights():
        if role in able:
            assert drafted(registry, "sharing", by=role).clauses
        else:
            with pytest.raises(AccessError, match=r"no right to request\.draft"):
                drafted(registry, "sharing", by=role)


def test_what_can_not_be_drafted(registry: GovernanceRegistry, do: Do, tmp_path: Path) -> None:
    approved(do)
    do("chief-investigator", "project.open", "census", use_case="external-sharing")
    do("data-manager", "release.enter", "other", project="census", k=5)
    do("data-manager", "release.enter", "old", project="hospital", k=5)
    do("data-manager", "release.withdraw", "old", reason="replaced")
    for given, said in (
        ({"name": "undertakin"}, "did you mean 'undertaking'"),
        ({"name": "sharing", "release": "other"}, "another project"),
        ({"name": "sharing", "release": "old"}, "is withdrawn"),
        ({"name": "sharing", "release": "none"}, "there is no release 'none'"),
    ):
        with pytest.raises(InputError, match=said):
            drafted(registry, **given)
    with pytest.raises(InputError, match="a draft is made from a template"):
        do("manager", "request.draft", "R-1")
    assert act_form("request", record_kinds.get("request").acts["draft"]) is None  # type: ignore[union-attr]
    made = drafted(registry, "sharing")
    do("co-director", "request.reject", "R-1", reason="no")
    with pytest.raises(InputError, match="is rejected"):
        drafted(registry, "sharing")
    late = tmp_path / "late.md"
    late.write_text(made.page.to_markdown())
    with pytest.raises(InputError, match="is rejected"):
        record_draft(registry, made, late, by="manager")
    assert not late.exists(), "what is not recorded is not left about"


def test_as_somebody_types_it(shoal: Call, tmp_path: Path) -> None:
    for line in (
        "register person admit bela --roles manager --by devi",
        "register person admit dora --roles co-director --by devi",
        "register request submit R-1 --project hospital --seeker Institute --wanted admissions --purpose study"
        " --until 2099-12-31 --by bela",
        "register request review R-1 --by asha",
        "register request approve R-1 --by dora",
    ):
        assert shoal(*line.split()).code == 0, line
    draft = ["register", "draft-agreement", "R-1", "--by", "bela"]
    made = shoal(*draft, "-o", "agreement.html", "--json")
    assert (
        made.code == 0
        and made.found["sha256"] == hashlib.sha256((tmp_path / "agreement.html").read_bytes()).hexdigest()
    )
    assert "liability_limit" in made.found["blanks"] and made.found["template"] == "undertaking"
    shown = shoal(*draft, "--template", "sharing")
    assert shown.code == 0 and shown.stdout.startswith("# Data sharing agreement") and "shown only" in shown.stderr
    assert shoal(*draft, "--json").found["sha256"] is None
    (tmp_path / "signed.txt").write_text("signed by both")
    signed = ["--file", "signed.txt", "--signatories", "Director", "--signatories", "Dean", "--by", "bela"]
    agreed = shoal("register", "request", "agree", "R-1", "--draft", made.found["sha256"], *signed, "--json")
    assert agreed.code == 0 and agreed.found["agreement"]["draft"] == made.found["sha256"]
    assert len(agreed.found["drafts"]) == 1, "what was shown only is not recorded"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["R-9", "--by", "asha"], "there is no request 'R-9'"),
        (["R-9", "--by", "chan"], "chan has no right to request.draft"),
        (["R-9"], "who acts?"),
        (["R-9", "--template", "lease", "--by", "asha"], "there is no template 'lease'"),
        (["R-9", "-o", "agreement.csv", "--by", "asha"], "an agreement is no table"),
    ],
)
def test_one_clear_line(shoal: Call, arguments: list[str], said: str) -> None:
    ended = shoal("register", "draft-agreement", *arguments)
    assert (ended.code, len(ended.stderr.strip().splitlines())) == (2, 1)
    assert said in ended.stderr and not list(Path().glob("agreement*"))
