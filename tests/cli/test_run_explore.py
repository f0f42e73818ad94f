"""``shoal run`` and what it says: the frontier in the owner's report, and figures that are not rounded to others."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.conftest import Call

POLICY = """\
shoal: 1
name: clinic
source: clinic.csv
attributes:
  age: {role: quasi, hierarchy: {intervals: {widths: [10, 20, 40]}}}
  diagnosis: {role: sensitive}
privacy:
  - k_anonymity: {k: 3}
"""


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    lines = ["age,diagnosis", *(f"{20 + n * n * 7 % 61},d{n % 3}" for n in range(200))]
    (tmp_path / "clinic.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "policy.yaml").write_text(POLICY)
    return tmp_path


@pytest.mark.requirement("S-11", "R-10")
def test_the_frontier_is_in_the_owners_report_only(clinic: Path, call: Call) -> None:
    assert call("run", "policy.yaml", "--output", "out", "--explore", "--seed", "1").code == 0
    owner, recipient = ((clinic / "out" / f"{name}.html").read_text() for name in ("report", "recipient"))
    assert "Privacy against usefulness" in owner
    assert owner.count('<svg class="frontier"') == 2
    assert "What the policy asks for (k=3, nothing suppressed, global)" in owner
    for secret in ("Privacy against usefulness", 'class="frontier"', "What the policy asks for", "recoding: loss"):
        assert secret not in recipient


@pytest.mark.requirement("S-11")
def test_without_the_wish_nothing_is_explored(clinic: Path, call: Call) -> None:
    assert call("run", "policy.yaml", "--output", "out", "--seed", "1").code == 0
    assert 'class="frontier"' not in (clinic / "out" / "report.html").read_text()
    assert call("run", "policy.yaml", "--output", "again", "--seed", "1", "--explore").code == 0
    assert (clinic / "again" / "data.csv").read_bytes() == (clinic / "out" / "data.csv").read_bytes()


@pytest.mark.requirement("S-11")
def test_what_can_not_be_explored_is_refused_and_leaves_nothing(clinic: Path, call: Call) -> None:
    elsewhere = call("run", "policy.yaml", "--output", "out", "--explore", "--engine", "spark")
    assert (elsewhere.code, "--explore: tries are made on this machine" in elsewhere.stderr) == (2, True)
    (clinic / "policy.yaml").write_text(
        POLICY.replace("quasi, hierarchy", "insensitive, hierarchy").split("privacy")[0]
    )
    assert call("run", "policy.yaml", "--output", "out", "--explore").code == 2
    (clinic / "several.yaml").write_text(
        "shoal: 1\nname: several\ntables:\n  clinic: {source: clinic.csv, attributes: {age: {role: sensitive}}}\n"
    )
    several = call("run", "several.yaml", "--output", "out", "--explore")
    assert (several.code, "--explore: tries are of one table" in several.stderr) == (2, True)
    assert not (clinic / "out").exists()


def test_small_risks_are_not_rounded_up_on_the_terminal(clinic: Path, call: Call) -> None:
    (clinic / "clinic.csv").write_text("age,diagnosis\n" + "30,d\n" * 2000)
    done = call("run", "policy.yaml", "--output", "out", "--seed", "1")
    assert "highest risk 0.0005\n" in done.stdout
