"""The report of a real release: that its figures are there and are those of the right thing, and that it goes on."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.assess.reassess.reassessment import Reassessment
from shoal.assess.reassess.request import ReassessRequest
from shoal.errors import InputError
from shoal.measurement.risk.attacker_risks import Basis
from shoal.release.history import keep_history, reassess_release
from shoal.results.history import HISTORY, load_history

POLICY = """\
shoal: 1
name: staff
attributes:
  age: {role: quasi, hierarchy: {intervals: {widths: [10, 20, 40]}}}
  sex: {role: quasi}
  city: {role: sensitive}
privacy: [{k_anonymity: {k: 4}}]
solve: {recoding: local, suppression_limit: 0.05}
"""


def staff(number: int = 400) -> pl.DataFrame:
    """Few ages, both sexes at all of them, and a centenarian who has to be suppressed."""
    places = pl.Series(range(number))
    table = pl.DataFrame({"age": 30 + places % 20, "sex": (places // 20 % 2).cast(pl.String), "city": "C"})
    return pl.concat([table, pl.DataFrame({"age": [104], "sex": ["0"], "city": ["C"]})])


def released(folder: Path, policy: str = POLICY) -> Path:
    staff().write_csv(folder / "staff.csv")
    shoal.anonymise(folder / "staff.csv", shoal.Policy.from_text(policy), output=folder / "out", seed=1)
    return folder / "out"


def row(report: Path | str, head: str) -> list[str]:
    """The cells of the row with this head in the tables of attackers and attributes, as text."""
    html = report if isinstance(report, str) else report.read_text()
    section = html[html.index('aria-labelledby="attackers"' if head[0].isupper() else 'aria-labelledby="attributes"') :]
    found = re.search(rf">{head}</(?:bdi|code)></th>(.*?)</tr>", section)
    assert found is not None
    return [re.sub(r"<[^>]+>", " ", cell).strip() for cell in re.findall(r"<td.*?</td>", found.group(1))]


@pytest.mark.requirement("R-01")
def test_each_attacker_has_the_figures_and_the_basis_that_are_their_own() -> None:
    html = shoal.anonymise(staff(), shoal.Policy.from_text(POLICY), seed=1).html
    prosecutor, journalist, marketer = (row(html, name) for name in ("Prosecutor", "Journalist", "Marketer"))
    assert (marketer[0], marketer[2]) == ("–", "–")
    assert marketer[1] == journalist[1]
    assert prosecutor[:3] == journalist[:3]
    assert "population" in prosecutor[3]
    assert "upper bound" not in prosecutor[3]
    assert journalist[3] == marketer[3] == Basis.TABLE.words


@pytest.mark.requirement("R-10")
def test_an_attribute_is_recoded_only_if_a_cell_of_it_was_raised(tmp_path: Path) -> None:
    """A star in a suppressed record is no level of a hierarchy; where such records are left out, nothing is starred."""
    report = released(tmp_path) / "report.html"
    assert row(report, "sex")[1:3] == ["starred in suppressed records, 0.2%", "ISO/IEC 20889, 9.3.4"]
    assert "level 0" not in report.read_text().partition('id="attributes"')[2].partition("</section>")[0]
    (tmp_path / "dropped").mkdir()
    policy = POLICY.replace("suppression_limit", "drop_suppressed: true, suppression_limit")
    assert row(released(tmp_path / "dropped", policy) / "report.html", "sex")[1] == "left as it is"


@pytest.mark.requirement("R-09", "R-10")
def test_a_later_look_is_in_the_owners_report_and_only_there(tmp_path: Path) -> None:
    out = released(tmp_path)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    assert b"Nobody has looked at the release again" in before["report.html"]
    pl.DataFrame({"age": [35, 36], "sex": ["0", "1"]}).write_csv(tmp_path / "outside.csv")
    found = reassess_release(str(out), ReassessRequest(auxiliary=str(tmp_path / "outside.csv")))
    report = (out / "report.html").read_text()
    assert f"{found.fitting} fit; the fewest that one of them could be: {found.fewest}; nobody is among fewer" in report
    assert "linked by age, sex" in report
    changed = {path.name for path in out.iterdir() if path.read_bytes() != before.get(path.name)}
    assert changed == {HISTORY, "report.html"}


@pytest.mark.requirement("R-09", "R-10")
def test_a_release_that_no_longer_holds_says_so_first(tmp_path: Path) -> None:
    out = released(tmp_path)
    told = json.loads((out / "release.json").read_text())
    (out / "release.json").write_text(json.dumps(told | {"risk": told["risk"] | {"k": 1000}}))
    pl.DataFrame({"age": [35]}).write_csv(tmp_path / "outside.csv")
    assert reassess_release(str(out), ReassessRequest(auxiliary=str(tmp_path / "outside.csv"))).below == 1
    report = (out / "report.html").read_text()
    assert report.index("UTC: no longer holds") < report.index("The privacy model is met")
    assert "no longer holds" not in (out / "recipient.html").read_text()


@pytest.mark.requirement("R-09", "R-10")
@pytest.mark.parametrize(
    ("known", "told"),
    [
        ({"perhaps_below": 3}, "3 may be among fewer than the 4 promised"),
        ({"unread_labels": 2}, "labels that can&#39;t be read leave it open"),
    ],
)
def test_a_look_that_leaves_it_open_is_not_told_as_a_good_one(tmp_path: Path, known: dict[str, int], told: str) -> None:
    out = released(tmp_path)
    counts = {"people": 9, "fitting": 9, "fewest": 4, "k": 4, "below": 0, **known}
    found = Reassessment.model_validate({"when": "2027-01-09T08:00:00+00:00", "attributes": ("age",), **counts})
    keep_history(str(out), [found.result()])
    report = (out / "report.html").read_text()
    assert report.index("not shown to hold") < report.index("The privacy model is met")
    assert told in report


@pytest.mark.requirement("R-09")
def test_a_report_without_a_place_for_it_stays_as_it_is(tmp_path: Path) -> None:
    out = released(tmp_path)
    pl.DataFrame({"age": [35]}).write_csv(tmp_path / "outside.csv")
    (out / "report.html").write_bytes(b"<p>an older report \xff</p>")
    reassess_release(str(out), ReassessRequest(auxiliary=str(tmp_path / "outside.csv")))
    assert (out / "report.html").read_bytes() == b"<p>an older report \xff</p>"
    (out / "report.html").unlink()
    reassess_release(str(out), ReassessRequest(auxiliary=str(tmp_path / "outside.csv")))
    assert len(load_history(out)) == 2
    assert not (out / "report.html").exists()


@pytest.mark.requirement("R-09")
@pytest.mark.parametrize("entry", [{}, {"when": "yesterday"}, {"people": "many"}])
def test_entries_that_can_not_be_told_are_refused_before_anything_is_written(
    tmp_path: Path, entry: dict[str, str]
) -> None:
    out = released(tmp_path)
    pl.DataFrame({"age": [35]}).write_csv(tmp_path / "outside.csv")
    reassess_release(str(out), ReassessRequest(auxiliary=str(tmp_path / "outside.csv")))
    (good,) = [one.to_dict() for one in load_history(out)]
    (out / HISTORY).write_text(json.dumps([good | entry if entry else {}]))
    before = [(out / name).read_bytes() for name in (HISTORY, "report.html")]
    with pytest.raises(InputError, match="is not the history"):
        reassess_release(str(out), ReassessRequest(auxiliary=str(tmp_path / "outside.csv")))
    assert [(out / name).read_bytes() for name in (HISTORY, "report.html")] == before


@pytest.mark.requirement("R-09")
def test_what_an_interrupt_left_out_of_the_report_is_in_it_after_the_next_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = released(tmp_path)
    pl.DataFrame({"age": [35]}).write_csv(tmp_path / "outside.csv")
    replace = Path.replace

    def interrupted(path: Path, target: Path) -> Path:
        if target.name == "report.html":
            raise KeyboardInterrupt
        return replace(path, target)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Path, "replace", interrupted)
        reassess_release(str(out), ReassessRequest(auxiliary=str(tmp_path / "outside.csv")))
    assert not list(out.glob(".*"))
    reassess_release(str(out), ReassessRequest(auxiliary=str(tmp_path / "outside.csv")))
    looks = (out / "report.html").read_text().partition("Later looks at the release")[2].partition("</table>")[0]
    assert looks.count('class="result') == 2
