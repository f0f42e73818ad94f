"""A budget that is lost, put back from an old copy, exchanged or shared is not taken for an unspent one."""

from __future__ import annotations

import datetime
import shutil
from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest
from tests.curator.conftest import Describe
from tests.support.server_tables import without_tables

from shoal.curator import curator as curator_module
from shoal.curator.budget_ledger import BudgetLedger
from shoal.curator.budget_state import audited
from shoal.curator.budget_tables import budget_metadata
from shoal.curator.curator import Curator
from shoal.errors import BudgetExhausted, InputError, IntegrityError, SourceError
from shoal.ledger import chain

pytestmark = pytest.mark.requirement("C-02")

COUNT = "SELECT COUNT(*) AS n FROM t"
SUM = "SELECT SUM(age) AS s FROM t"


def without_budget(folder: Path) -> None:
    for path in folder.glob("people.budget*"):
        if path.suffix != ".budget-mark":
            path.unlink()


def test_a_lost_budget_is_not_begun_again(described: Describe, tmp_path: Path) -> None:
    description = described()
    Curator(description).query(COUNT, 1)
    without_budget(tmp_path)
    curator = Curator(description)
    for use in (curator.left, lambda: curator.price(SUM, 1), lambda: curator.query(SUM, 1), curator.ledger):
        with pytest.raises(SourceError, match="the budget is gone") as caught:
            use()
        assert caught.value.exit_code == 2
        assert "\n" not in str(caught.value)
    assert curator.begin(anew=True)
    assert curator.query(SUM, 1).epsilon_left == 0
    assert any("a budget of 3 entries was lost" in doubt for doubt in audited(description).doubts)


def test_an_old_copy_is_not_the_budget(described: Describe, tmp_path: Path) -> None:
    curator = Curator(described())
    curator.query(COUNT, "0.1")
    shutil.copy(tmp_path / "people.budget", tmp_path / "copy")
    curator.query(SUM, "0.9")
    without_budget(tmp_path)
    shutil.copy(tmp_path / "copy", tmp_path / "people.budget")
    with pytest.raises(IntegrityError, match="has 3 entries, and had 5"):
        curator.query("SELECT AVG(age) FROM t", "0.5")
    assert not curator.begin(anew=True)
    assert any("a budget of 5 entries was lost" in doubt for doubt in audited(curator.description).doubts)
    assert not curator.begin(anew=True), "nothing is lost any more"
    assert len(audited(curator.description).doubts) == 1


def test_another_budget_is_not_the_one_before(described: Describe, tmp_path: Path) -> None:
    Curator(described()).query(COUNT, 1)
    without_budget(tmp_path)
    BudgetLedger.begin(str(tmp_path / "people.budget"), "people", {}).__exit__(None, None, None)
    with pytest.raises(IntegrityError, match="another budget"):
        Curator(described()).query(SUM, 1)
    with pytest.raises(SourceError, match="gone"):
        Curator(described(ledger="elsewhere.budget")).query(SUM, 1)


def test_a_mark_that_can_not_be_read(described: Describe, tmp_path: Path) -> None:
    curator = Curator(described())
    curator.query(COUNT, "0.1")
    (tmp_path / "people.budget-mark").write_text("{")
    with pytest.raises(IntegrityError, match="mark"):
        curator.query(SUM, "0.1")


def test_a_description_in_no_file_leaves_its_mark_beside_the_ledger(
    described: Describe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And none in the folder that somebody happens to work in."""
    (tmp_path / "here").mkdir()
    (tmp_path / "kept").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    inside = Curator(described()).description.model_dump(mode="json", exclude_none=True)
    inside |= {"source": str(tmp_path / "people.csv"), "ledger": str(tmp_path / "kept" / "people.budget")}
    Curator(inside).query(COUNT, "0.1")
    assert not list((tmp_path / "here").iterdir())
    without_budget(tmp_path / "kept")
    with pytest.raises(SourceError, match="gone"):
        Curator(inside).query(SUM, "0.1")


def test_the_first_question_says_that_it_began_a_budget(described: Describe) -> None:
    curator = Curator(described())
    begun = "the budget was begun with this question"
    assert begun in curator.query(COUNT, "0.1").notes
    assert begun not in curator.query(SUM, "0.1").notes
    assert not curator.begin()


def test_what_was_spent_is_not_counted_in_another_unit(described: Describe) -> None:
    """ρ of a whole budget is a small number; as ε it would leave nearly all."""
    budget = {"epsilon": 1, "delta": 1e-6}
    Curator(described(budget=budget, accounting="zcdp")).query(COUNT, 1)
    with pytest.raises(InputError, match="counted in ρ"):
        Curator(described(budget=budget, accounting="approximate")).query(SUM, "0.9")


@pytest.mark.server
def test_several_datasets_in_one_database(described: Describe, postgres_url: str, tmp_path: Path) -> None:
    with (
        without_tables(postgres_url, budget_metadata("people")),
        without_tables(postgres_url, budget_metadata("towns")),
    ):
        people, towns = (Curator(described(name=name, ledger=postgres_url)) for name in ("people", "towns"))
        people.query(COUNT, "0.9")
        assert (people.left(), towns.left()) == (Decimal("0.1"), 1)
        assert not towns.query(COUNT, "0.3").kept
        with pytest.raises(BudgetExhausted):
            people.query(SUM, "0.5")
        for curator, entries in ((people, 4), (towns, 3)):
            with curator.ledger() as ledger:
                assert ledger.verify().entries == entries
        pl.DataFrame({"who": ["a"], "age": [1], "region": ["north"]}).write_csv(tmp_path / "other.csv")
        moved = Curator(described(name="towns", ledger=postgres_url, source="other.csv"))
        with pytest.raises(InputError, match="another source"):
            moved.query(COUNT, "0.1")
        assert not moved.begin(moved=True)
        assert moved.query(COUNT, "0.1").epsilon_left == pytest.approx(0.6)


@pytest.mark.parametrize("per", ["day", "month", "year"])
def test_a_clock_that_is_set_back_opens_no_budget_again(
    described: Describe, monkeypatch: pytest.MonkeyPatch, per: str
) -> None:
    now = datetime.datetime(2026, 3, 9, tzinfo=datetime.UTC)
    monkeypatch.setattr(curator_module, "now", lambda: now)
    curator = Curator(described(budget={"epsilon": 1, "per": per}))
    curator.query(COUNT, "0.5")
    now -= datetime.timedelta(days=366)
    with pytest.raises(IntegrityError, match="the clock says 2025") as caught:
        curator.query(SUM, "0.5")
    assert caught.value.exit_code == 2
    now += datetime.timedelta(days=366)
    assert curator.query(SUM, "0.5").epsilon_left == 0


def test_times_that_go_back_are_told_to_the_auditor(described: Describe, monkeypatch: pytest.MonkeyPatch) -> None:
    curator = Curator(described())
    curator.query(COUNT, "0.5")
    monkeypatch.setattr(chain, "now", lambda: datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC))
    curator.query(SUM, "0.5")
    assert audited(curator.description).doubts == (
        "entry 4 is of an earlier time than the one before it: the clock was set back",
    )


def test_changes_of_a_description_are_told_to_the_auditor(described: Describe, tmp_path: Path) -> None:
    Curator(described()).query(COUNT, "0.5")
    (tmp_path / "other.csv").write_text("who,age,region\na,3,north\n")
    Curator(described(budget={"epsilon": 3}, person=None, rows_per_person=None, source="other.csv")).query(SUM, 2)
    doubts = audited(described(budget={"epsilon": 3}, person=None, rows_per_person=None, source="other.csv")).doubts
    assert [doubt.split(": ", 1)[0] for doubt in doubts] == ["entry 4"] * 3
    assert '"epsilon": 1.0' in doubts[0]
    assert '"epsilon": 3.0' in doubts[0]
    assert "another source" in doubts[1]
    assert "who is protected" in doubts[2]


def test_what_one_analyst_asked_is_not_told_to_another(described: Describe) -> None:
    """Each pays, and nobody learns from `kept` what somebody else has asked."""
    curator = Curator(described(analysts={"asha": {"epsilon": 1}, "bo": {"epsilon": 1}}))
    first = curator.query(COUNT, "0.3", analyst="asha")
    second = curator.query(COUNT, "0.3", analyst="bo")
    assert not second.kept
    assert second.epsilon_spent == 0.3
    assert curator.query(COUNT, "0.3", analyst="asha").rows == first.rows
    assert curator.left() == Decimal("0.4")
