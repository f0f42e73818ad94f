"""Any sequence of issuing, revoking, re-issuing and rotating, against a plain dictionary that does the same."""

from __future__ import annotations

import tempfile
from pathlib import Path

import polars as pl
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tests.vault.conftest import ANITA, FORM, REASON, Room

from shoal.vault import Right, Vault, key_lifecycle
from shoal.vault.backup_copy import seen_in

PEOPLE = st.lists(st.text(max_size=3), min_size=1, max_size=6)


class Machine(RuleBasedStateMachine):
    """``owner`` is who was ever given a pseudonym, ``valid`` the pseudonym that each person has now."""

    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="shoal-vault-")
        self.room = Room(str(Path(self.folder.name) / "v"), Path(self.folder.name) / "state")
        self.vault = self.room.create()
        self.vault.add_domain("people")
        self.owner: dict[str, str] = {}
        self.valid: dict[str, str] = {}
        self.rotating = False

    @rule(people=PEOPLE, by_another=st.booleans())
    def issue(self, people: list[str], by_another: bool) -> None:
        vault = self.room.open() if by_another else self.vault
        for person, pseudonym in zip(people, vault.issue("people", pl.Series(people), FORM), strict=True):
            if person in self.valid:
                assert pseudonym == self.valid[person]
            assert self.owner.setdefault(pseudonym, person) == person
            self.valid[person] = pseudonym

    @rule(data=st.data())
    def revoke(self, data: st.DataObject) -> None:
        if not self.owner:
            return
        some = data.draw(st.lists(st.sampled_from(sorted(self.owner)), min_size=1, max_size=4))
        current = set(some) & set(self.valid.values())
        assert self.vault.revoke("people", some, REASON) == len(current)
        self.valid = {person: code for person, code in self.valid.items() if code not in current}

    @rule()
    def reissue(self) -> None:
        assert self.vault.reissue("people", REASON) == len(self.valid)
        people = sorted(self.valid)
        new = self.vault.lookup("people", people)
        assert not set(new) & set(self.owner)
        self.valid = dict(zip(people, map(str, new), strict=True))
        self.owner |= {code: person for person, code in self.valid.items()}

    @rule()
    def rotate(self) -> None:
        self.vault.rotate("people")

    @rule()
    def rotate_in_part(self) -> None:
        self.vault._in_one(Right.MANAGE, lambda session: key_lifecycle.begin_rotation(session, "people"))
        self.vault._in_one(Right.MANAGE, lambda session: key_lifecycle.rotate_some(session, "people"))

    @rule()
    def change_master(self) -> None:
        self.vault.change_master()

    @rule()
    def restore(self) -> None:
        """From a backup that is up to date: nothing changes but the place."""
        number = len(list(Path(self.folder.name).iterdir()))
        backup, place = (Path(self.folder.name) / f"{name}{number}" for name in ("backup", "vault"))
        self.vault.backup(backup)
        self.vault = Vault.restore(backup, place, ANITA, state=self.room.state)
        self.room = Room(str(place), self.room.state)

    @invariant()
    def all_is_as_the_model_says(self) -> None:
        if not hasattr(self, "vault"):
            return
        people = sorted(self.valid)
        with self.vault._reading() as session:
            seen = seen_in(session.connection)
        assert self.vault.lookup("people", people) == [self.valid[person] for person in people]
        assert self.vault.verify().entries == len(self.owner) < seen.next[1]
        asked = sorted(self.owner)[:20]
        if asked:
            found = self.vault.reveal(self.vault.ask("people", asked, REASON).id)
            assert [one.value for one in found] == [self.owner[code] for code in asked]
            assert [one.state == "valid" for one in found] == [code in self.valid.values() for code in asked]

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            self.folder.cleanup()


@pytest.mark.requirement("T-05", "V-03", "V-04")
def test_one_valid_pseudonym_per_person_and_none_for_two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_lifecycle, "BATCH", 3)
    case = Machine.TestCase
    case.settings = settings(max_examples=8, stateful_step_count=10, deadline=None, derandomize=True)
    case().runTest()
