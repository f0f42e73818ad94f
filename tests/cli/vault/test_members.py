"""``shoal run --members`` and ``--after RELEASE=LIST``: who is in a release, kept by its owner."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..conftest import Call
from .conftest import refused

pytestmark = pytest.mark.requirement("R-08")

POLICY = """
shoal: 1
name: monthly
person: id
attributes:
  id: {role: direct, technique: suppress}
  age: {role: quasi, hierarchy: {intervals: {widths: [10, 100]}}}
  ill: {role: insensitive}
privacy: [{k_anonymity: {k: 3}}]
solve: {suppression_limit: 0.9, drop_suppressed: true}
"""


@pytest.fixture
def month(tmp_path: Path) -> Path:
    rows = [f"P-{person},{20 + person % 30},x" for person in range(60)]
    (tmp_path / "march.csv").write_text("\n".join(["id,age,ill", *rows]) + "\n")
    (tmp_path / "policy.yaml").write_text(POLICY)
    return tmp_path


def test_month_after_month(made: Call, month: Path) -> None:
    run = ("run", "policy.yaml", "--input", "march.csv")
    first = made(*run, "-o", "march", "--members", "march.members")
    assert first.code == 0, first.stderr
    assert "march.members" not in (month / "march" / "release.json").read_text()
    assert not any(path.suffix == ".members" for path in (month / "march").iterdir())
    (month / "april.csv").write_text((month / "march.csv").read_text() + "P-90,25,y\n")
    second = made(
        "run",
        "policy.yaml",
        "--input",
        "april.csv",
        "-o",
        "april",
        "--after",
        "march=march.members",
        "--members",
        "april.members",
        "--json",
    )
    assert second.found["earlier"]["names"] == ["march"]
    third = made(*run, "-o", "may", "--after", "march=march.members", "--after", "april=april.members", "--json")
    assert third.found["earlier"]["names"] == ["march", "april"]
    assert third.found["earlier"]["k"] >= 3
    assert refused(made(*run, "-o", "june", "--after", "march=april.members"), "another release")
    assert refused(made(*run, "-o", "june", "--after", "march=none.members"), "no such list")
    assert refused(made(*run, "-o", "june", "--members", "march.members"), "already")
    assert not (month / "june").exists()


def test_a_list_needs_a_vault(call: Call, month: Path) -> None:
    run = ("run", "policy.yaml", "--input", "march.csv", "-o", "march", "--members", "march.members")
    assert refused(call(*run), "no such vault")
    assert not (month / "march").exists() and not (month / "march.members").exists()
