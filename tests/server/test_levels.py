"""The editor of levels: what is chosen is shown on values, checked against the column, and stands in the policy."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from tests.server.conftest import Visitor, account

from shoal.errors import InputError
from shoal.server.jobs.level_choices import checked_setting, setting_of_form, tree_of_text, tried

pytestmark = pytest.mark.requirement("G-08")

PEOPLE = (
    "age,country,seen,ward\n"
    + "".join(
        f"{20 + n % 40},{('India', 'Nepal', 'France')[n % 3]},2024-0{1 + n % 9}-11,w{n % 2}\n" for n in range(360)
    )
).encode()
TREE = "Asia\n  India\n  Nepal\nEurope\n  France"


@pytest.fixture
def source(manager: Visitor) -> str:
    made = str(manager.upload("people.csv", PEOPLE).json()["source"])
    manager.work()
    return made


def number(visitor: Visitor, source: str, name: str) -> int:
    return [one["name"] for one in visitor.api("GET", f"/sources/{source}/profile").json()["columns"]].index(name)


def keep(visitor: Visitor, source: str, name: str, kind: str, **parameters: str) -> Any:
    sent = {"kind": kind} | {f"{kind}.{parameter}": text for parameter, text in parameters.items()}
    return visitor.post(f"/sources/{source}/levels/{number(visitor, source, name)}", sent)


def test_levels_are_shown_while_they_are_chosen(manager: Visitor, source: str):
    address = f"/sources/{source}/levels/{number(manager, source, 'age')}"
    shown = manager.post(
        f"{address}/preview", {"kind": "intervals", "intervals.widths": "5, 10", "intervals.low": "25"}
    ).text
    for label in ("25-29", "&lt;25", "30-34", "* (suppressed)"):
        assert label in shown
    for wrong in ("5, 7", "", "x", "1e99", "-5"):
        told = manager.post(f"{address}/preview", {"kind": "intervals", "intervals.widths": wrong})
        assert (told.status_code, 'class="problem"' in told.text) == (200, True), wrong
    tree = f"/sources/{source}/levels/{number(manager, source, 'country')}/preview"
    assert "Asia" in manager.post(tree, {"kind": "taxonomy", "taxonomy.tree": TREE}).text
    unknown = manager.post(tree, {"kind": "taxonomy", "tree": "Asia\n  India"}).text
    assert 'class="problem"' in unknown
    assert "France" not in unknown


def test_kept_levels_are_checked_and_stand_in_the_policy(manager: Visitor, source: str):
    manager.api("PUT", f"/sources/{source}/choices", json={"k": 3, "roles": {"country": "quasi", "age": "quasi"}})
    answer = keep(manager, source, "age", kind="intervals", widths="4,8")
    manager.work()
    assert "They fit all 40 different values." in manager.client.get(answer.headers["location"]).text
    answer = keep(manager, source, "country", kind="taxonomy", tree="France;Europe;*\nIndia;Asia;*\nNepal;Asia;*")
    manager.work()
    assert "3 → 2 → 1" in manager.client.get(answer.headers["location"]).text
    know = manager.client.get(f"/sources/{source}/know").text
    assert know.count("as you chose them") == 2
    job = manager.api("POST", "/policies", json={"source": source}).json()["job"]
    told = manager.finished(job)
    assert told["state"] == "done", told
    written = yaml.safe_load(manager.api("GET", f"/policies/{job}").json()["text"])["attributes"]
    assert written["age"]["hierarchy"] == {"intervals": {"widths": [4, 8]}}
    assert list(written["country"]["hierarchy"]["taxonomy"]["tree"]) == ["Europe", "Asia"]
    keep(manager, source, "age", kind="proposed")
    assert list(manager.api("GET", f"/sources/{source}").json()["choices"]["hierarchies"]) == ["country"]


def test_levels_that_do_not_cover_the_column_are_said_without_a_value(manager: Visitor, source: str):
    answer = keep(manager, source, "country", kind="taxonomy", tree="Asia\n  India\n  Nepal")
    manager.work()
    page = manager.client.get(answer.headers["location"]).text
    assert "They are kept, but a run would stop" in page
    assert "France" not in page.split("They are kept")[0].split('role="alert"')[1]


@pytest.mark.parametrize(
    "given",
    [
        {"csv": {"path": "/etc/passwd"}},
        {"csv": "x.csv"},
        "nonsense",
        {},
        {"intervals": [5], "redact": {}},
        {"order": {}},
    ],
)
def test_nobody_names_a_file_of_the_server(manager: Visitor, source: str, given: Any):
    with pytest.raises(InputError):
        checked_setting(given)
    assert manager.api("PUT", f"/sources/{source}/choices", json={"hierarchies": {"age": given}}).status_code == 422


def test_tree_that_was_kept_is_shown_again(manager: Visitor, source: str):
    place = f"/sources/{source}/levels/{number(manager, source, 'country')}"
    assert ">France\nIndia\nNepal</textarea>" in manager.client.get(place).text, "it begins with the values"
    keep(manager, source, "country", kind="taxonomy", tree=TREE)
    assert f">{TREE}</textarea>" in manager.client.get(place).text
    refused = keep(manager, source, "country", kind="taxonomy", tree="Asia\n  India\nEurope\n  India")
    assert (refused.status_code, "Europe\n  India</textarea>" in refused.text) == (422, True), "what was typed stays"
    ages = manager.client.get(f"/sources/{source}/levels/{number(manager, source, 'seen')}").text
    assert "2024-01-11" in ages


def test_who_sees_no_values_sees_none_here(app: Any):
    visitor = account(app, "ravi", "statistician")
    source = str(visitor.upload("people.csv", PEOPLE).json()["source"])
    visitor.work()
    place = f"/sources/{source}/levels/{number(visitor, source, 'country')}"
    assert "India" not in visitor.post(f"{place}/preview", {"kind": "taxonomy", "taxonomy.tree": TREE}).text
    answer = visitor.post(place, {"kind": "taxonomy", "taxonomy.tree": TREE})
    visitor.work()
    assert "They fit all 3 different values." in visitor.client.get(answer.headers["location"]).text
    other = f"/sources/{source}/levels/{number(visitor, source, 'ward')}"
    assert "w1" not in visitor.client.get(other).text
    assert visitor.client.get(f"/sources/{source}/levels/99").status_code == 404


def test_forms_become_settings():
    assert setting_of_form("redact", {"redact.side": "left"}) == {"redact": {"side": "left"}}
    assert setting_of_form("dates", {"dates.levels": "month,year"}) == {"dates": {"levels": ["month", "year"]}}
    assert setting_of_form("classification", {"classification.name": "icd-10"}) == {
        "classification": {"name": "icd-10"}
    }
    assert setting_of_form("rare", {"rare.minimum": "7"}) == {"rare": {"minimum": 7}}
    with pytest.raises(InputError):
        setting_of_form("taxonomy", {"taxonomy.tree": ""})
    assert tree_of_text("a\n  b\nc") == {"a": ["b"], "c": []}
    assert tried({"redact": {}}, "postal", ["411001", "411002"]).rows[0][-1] == "*"
