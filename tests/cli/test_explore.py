"""``shoal explore`` as users call it: a table, JSON, a page; clear refusals; and what was tried when interrupted."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.commands import Call, Ended
from tests.support.policies import policy_text

from shoal.assess.exploration import ExplorationSetting, PolicyExplorer
from shoal.results.exploration import ExplorationTrial

pytestmark = pytest.mark.requirement("S-11")

POLICY = policy_text(
    "clinic.csv",
    "privacy: [{k_anonymity: {k: 3}}]\nsolve: {suppression_limit: 0.1}\n",
    direct="name",
    quasi="age pin",
    sensitive="diagnosis",
)

SHY = "Zyxwvut"
"""A value that stands in the data and must never stand in any output."""


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    lines = ["name,age,pin,diagnosis"]
    lines += [f"{SHY}{n},{20 + n * n * 7 % 61},{560001 + n * n % 23},{SHY}" for n in range(200)]
    (tmp_path / "clinic.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "policy.yaml").write_text(POLICY)
    return tmp_path


@pytest.fixture
def shoal(clinic: Path, call: Call) -> Call:
    def call_in_clinic(*arguments: str) -> Ended:
        ended = call(*arguments)
        assert SHY not in ended.stdout + ended.stderr
        return ended

    return call_in_clinic


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_json_holds_every_try(clinic: Path, shoal: Call) -> None:
    before = files(clinic)
    done = shoal("explore", "policy.yaml", "--k", "2,500", "--limit", "0,0.2", "--json")
    assert (done.code, done.stderr) == (0, "")
    said = json.loads(done.stdout)
    assert (said["policy"], said["data"], said["records"], said["complete"]) == ("clinic", "clinic.csv", 200, True)
    tries = said["tries"]
    assert len(tries) == 9
    assert set(tries[0]) == {
        "k", "limit", "recoding", "levels", "loss", "objective", "suppressed", "suppressed_share", "smallest_class",
        "average_class_size", "prosecutor_max", "prosecutor_average", "optimal", "seconds", "feasible", "reason",
        "pareto", "policy",
    }  # fmt: skip
    assert [(one["k"], one["limit"]) for one in tries if one["policy"]] == [(3, 0.1)]
    for one in tries:
        assert one["feasible"] == (one["k"] != 500) == (one["reason"] is None) == (one["loss"] is not None)
        if one["feasible"]:
            assert one["smallest_class"] >= one["k"]
            assert one["prosecutor_max"] == 1 / one["smallest_class"]
            assert one["suppressed"] <= one["limit"] * 200
        else:
            assert not one["pareto"]
    best = [(one["k"], one["loss"]) for one in tries if one["pareto"]]
    assert best
    assert not any(
        one["feasible"] and one["k"] >= k and one["loss"] <= loss and (one["k"], one["loss"]) != (k, loss)
        for one in tries
        for k, loss in best
    )
    assert any("costs" in sentence for sentence in said["advice"])
    assert files(clinic) == before


def test_the_table_shows_every_try_and_advice(clinic: Path, shoal: Call) -> None:
    done = shoal("explore", "policy.yaml", "--k", "3,5,500", "--limit", "0.1", "--recoding", "global")
    assert (done.code, done.stderr) == (0, "")
    rows = [line.split() for line in done.stdout.splitlines() if "10%" in line and re.match(r"^ +[→●\d]", line)]
    assert [row[:3] for row in rows] == [["→●", "3", "10%"], ["●", "5", "10%"], ["500", "10%", "–"]]
    assert "not reachable: k=500, at most 10% suppressed, global: no generalisation" in done.stdout
    assert "levels: age, pin" in done.stdout
    assert re.search(r"from k=3 to k=5 costs \d\.\d{3} loss", done.stdout)
    assert "is on the frontier" in done.stdout


def test_a_narrow_terminal_shows_the_essential(shoal: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    done = shoal("explore", "policy.yaml", "--k", "3", "--limit", "0.1", "--recoding", "global")
    said = re.sub(r"\x1b\[\d*m", "", done.stdout)
    assert re.search(r"k +limit +loss +suppressed +class ≥ +risk ≤ +levels *$", said, re.MULTILINE)
    assert re.search(r"→● +3 +10% +0\.\d{3} +\d+ \([\d.]+%\) +\d+ +0\.\d{3} +\d \d *$", said, re.MULTILINE)


def test_the_page_is_one_file_that_asks_for_nothing(clinic: Path, shoal: Call) -> None:
    (clinic / "chart.html").write_text("an older one")
    done = shoal("explore", "policy.yaml", "--k", "2,3,5,500", "--limit", "0,0.1", "--html", "chart.html", "--json")
    assert done.code == 0
    page = (clinic / "chart.html").read_text(encoding="utf-8")
    assert SHY not in page
    assert not re.findall(r"https?://|\bsrc\s*=|@import|url\(|<script|<iframe|<object", page, re.IGNORECASE)
    tries = json.loads(done.stdout)["tries"]
    found = [one for one in tries if one["feasible"]]
    assert page.count("<title>k=") == len(found)
    assert page.count('class="try best ') == sum(one["pareto"] for one in tries)
    assert page.count('class="ring"') == 1
    assert page.count('<svg class="frontier"') == 2
    assert page.count("not reachable</td>") == len(tries) - len(found) == 4
    assert [name for name in files(clinic) if name.startswith(".")] == []


def test_where_nothing_is_found_there_is_no_chart(clinic: Path, shoal: Call) -> None:
    (clinic / "policy.yaml").write_text(POLICY.replace("k: 3", "k: 300"))
    assert shoal("explore", "policy.yaml", "--k", "400", "--limit", "0", "--html", "chart.html").code == 0
    page = (clinic / "chart.html").read_text(encoding="utf-8")
    assert '<svg class="frontier"' not in page
    assert "nor can any other that was tried" in page
    assert page.count("not reachable</td>") == 3


def test_points_lie_where_their_figures_are(clinic: Path, shoal: Call) -> None:
    done = shoal("explore", "policy.yaml", "--k", "2,4,8", "--limit", "0.1", "--html", "chart.html", "--json")
    drawn = {
        (recoding, int(k)): (float(x), float(y))
        for k, recoding, x, y in re.findall(
            r'<title>k=(\d+), [^,]*, (\w+):.*?<svg x="([\d.]+)%" y="([\d.]+)"', (clinic / "chart.html").read_text()
        )
    }
    places = [drawn["global", k][0] for k in (2, 4, 8)]
    assert places[1] - places[0] == pytest.approx(places[2] - places[1], abs=0.02)
    assert places == sorted(places)
    by_loss = sorted((one["loss"], drawn[one["recoding"], one["k"]][1]) for one in json.loads(done.stdout)["tries"])
    heights = [height for _, height in by_loss]
    assert heights == sorted(heights, reverse=True)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--k", "0"], "k: 0 is too low"),
        (["--k", "-1"], "k: -1 is too low"),
        (["--k", "five"], "--k: 'five' is not a whole number"),
        (["--k", "2.5"], "--k: '2.5' is not a whole number"),
        (["--k", " , "], "--k: the list is empty"),
        (["--limit", "1.5"], "limit: 1.5 is not a share"),
        (["--limit", "nan"], "limit: nan is not a share"),
        (["--limit", "5%"], "--limit: '5%' is not a number"),
        (["--limit", ""], "--limit: the list is empty"),
        (["--recoding", "lokal"], "unknown kind 'lokal'; did you mean 'local'?"),
        (["--recoding", ","], "--recoding: the list is empty"),
        (["--input", "absent.csv"], "absent.csv"),
        (["--html", "policy.yaml"], "has to end in .html"),
        (["--html", "absent/chart.html"], "its folder does not exist"),
    ],
)
def test_wrong_input_is_refused_in_one_line(clinic: Path, shoal: Call, arguments: list[str], says: str) -> None:
    before = files(clinic)
    done = shoal("explore", "policy.yaml", *arguments)
    assert (done.code, done.stdout) == (2, "")
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert files(clinic) == before
    assert (clinic / "policy.yaml").read_text() == POLICY


@pytest.fixture
def interrupted_at(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Ctrl-C while the so-many-th try is on its way."""
    attempt = PolicyExplorer.attempt

    def arrange(number: int) -> None:
        made: list[ExplorationSetting] = []

        def attempting(self: PolicyExplorer, setting: ExplorationSetting) -> ExplorationTrial:
            made.append(setting)
            if len(made) == number:
                raise KeyboardInterrupt
            return attempt(self, setting)

        monkeypatch.setattr(PolicyExplorer, "attempt", attempting)

    return arrange


def test_an_interrupt_shows_what_was_tried(clinic: Path, shoal: Call, interrupted_at: Callable[[int], None]) -> None:
    interrupted_at(3)
    done = shoal("explore", "policy.yaml", "--html", "chart.html")
    assert done.code == 130
    assert "2 tries, then interrupted" in done.stdout
    assert len(re.findall(r"^ +[→●]* +2 +\d+%", done.stdout, re.MULTILINE)) == 2
    assert "interrupted: nothing was written" in done.stderr
    assert not (clinic / "chart.html").exists()


def test_an_interrupt_leaves_json_that_says_so(shoal: Call, interrupted_at: Callable[[int], None]) -> None:
    interrupted_at(4)
    done = shoal("explore", "policy.yaml", "--json")
    said = json.loads(done.stdout)
    assert (done.code, said["complete"], len(said["tries"])) == (130, False, 3)


def test_an_interrupt_before_the_first_try(shoal: Call, interrupted_at: Callable[[int], None]) -> None:
    interrupted_at(1)
    done = shoal("explore", "policy.yaml")
    assert (done.code, done.stdout) == (130, "")


@pytest.mark.parametrize("terminal", [True, False])
def test_a_run_says_on_a_terminal_how_it_was_solved(
    shoal: Call, monkeypatch: pytest.MonkeyPatch, terminal: bool
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    done = shoal("run", "policy.yaml", "--output", "out", "--json")
    solution, suppressed = json.loads(done.stdout)["solution"], json.loads(done.stdout)["suppressed"]["records"]
    looked = f"{solution['nodes_checked']:,} of {solution['nodes_total']:,} nodes looked at"
    expected = f"solved: global, {looked}, optimal, loss {solution['loss']:.3g}, {suppressed:,} suppressed"
    assert done.stderr.endswith(f"{expected}\n") == terminal
    assert ("solved" in done.stderr) == terminal


def test_small_risks_are_not_rounded_to_others(clinic: Path, shoal: Call) -> None:
    people = [f"n{number},30,560001,{SHY}" for number in range(2000)]
    (clinic / "clinic.csv").write_text("\n".join(["name,age,pin,diagnosis", *people]) + "\n")
    done = shoal("explore", "policy.yaml", "--k", "3", "--limit", "0.1", "--recoding", "global", "--html", "chart.html")
    assert " 0.0005 " in done.stdout
    assert ">0.0005<" in (clinic / "chart.html").read_text()
