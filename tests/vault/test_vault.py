"""The ordinary life of a vault, the same on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.vault.conftest import ANITA, FORM, MEI, QUICK, RAVI, REASON, Clock, Room

from shoal.errors import AccessError, DataError, InputError, IntegrityError, ShoalError, SourceError, TargetError
from shoal.pseudonyms import PseudonymFormat, pseudonym_formats
from shoal.pseudonyms.formats.base32 import Base32
from shoal.pseudonyms.formats.integer import Integer
from shoal.vault import Passphrase, Right, Vault, key_lifecycle

NAMES = pl.Series(["Asha", "Ravi Kumar", "Li Wei", "", "Zoë", "x" * 5000])


@pytest.mark.requirement("T-05", "V-04")
def test_a_person_keeps_one_pseudonym_in_a_domain_and_has_another_elsewhere(vault: Vault, room: Room) -> None:
    first = vault.issue("patients", NAMES, FORM)
    assert first.n_unique() == len(NAMES)
    assert first.null_count() == 0
    assert vault.issue("patients", NAMES[::-1], FORM).to_list() == first[::-1].to_list()
    assert room.open(MEI).issue("patients", NAMES, FORM).to_list() == first.to_list()
    vault.add_domain("staff")
    assert not set(vault.issue("staff", NAMES, FORM)) & set(first)
    assert vault.verify().entries == 2 * len(NAMES)


@pytest.mark.requirement("T-05")
def test_known_and_new_ones_in_one_call(vault: Vault) -> None:
    first = vault.issue("patients", NAMES[:3], FORM)
    mixed = vault.issue("patients", pl.Series(["new", *NAMES[:3], "newer"]), FORM)
    assert mixed[1:4].to_list() == first.to_list()
    assert mixed.n_unique() == 5
    assert [entry.details["pseudonyms"] for entry in vault.audit() if entry.action == "issue"] == [3, 2]


def test_a_value_that_comes_twice_in_a_call_has_one_pseudonym(vault: Vault) -> None:
    issued = vault.issue("patients", pl.Series(["a", "b", "a"]), FORM)
    assert issued[0] == issued[2] != issued[1]
    assert vault.verify().entries == 2
    assert vault.lookup("patients", ["b", "x", "b", "a"]) == [issued[1], None, issued[1], issued[0]]


def test_numbers_and_dates_are_the_same_people_as_their_texts(vault: Vault) -> None:
    assert vault.issue("patients", pl.Series([7, 8]), FORM).to_list() == (
        vault.issue("patients", pl.Series(["7", "8"]), FORM).to_list()
    )


def test_nothing_and_nobody(vault: Vault) -> None:
    assert vault.issue("patients", pl.Series([], dtype=pl.String()), FORM).to_list() == []
    assert vault.lookup("patients", []) == []
    assert vault.lookup("patients", ["Asha"]) == [None]
    with pytest.raises(DataError, match="missing"):
        vault.issue("patients", pl.Series(["a", None]), FORM)
    assert vault.verify().entries == 0


def test_letters_that_only_look_alike_are_different_values(vault: Vault) -> None:
    """A value is taken as it stands, as ``shoal.schema.canonical_text`` says."""
    assert vault.issue("patients", pl.Series(["Zoe\u0308", "Zo\u00eb", "zoë", "Zoë "]), FORM).n_unique() == 4


@pytest.mark.parametrize("name", pseudonym_formats.names())
@pytest.mark.requirement("T-05")
def test_every_format_is_issued_once_and_found_again(name: str, file_room: Room) -> None:
    wanted = pseudonym_formats.get(name)
    assert wanted is not None
    form: PseudonymFormat = wanted(may_be_issued=True) if "may_be_issued" in wanted.model_fields else wanted()
    vault = file_room.create()
    vault.add_domain("patients")
    people = pl.Series([f"person {number}" for number in range(300)])
    issued = vault.issue("patients", people, form)
    assert vault.issue("patients", people, form).to_list() == issued.to_list()
    if not getattr(form, "distinct", True):
        return
    assert issued.n_unique() == 300
    asked = vault.ask("patients", [issued[17], issued[3]], REASON)
    assert [one.value for one in vault.reveal(asked.id)] == [people[17], people[3]]


def test_a_domain_has_one_format_and_one_method(vault: Vault) -> None:
    vault.issue("patients", NAMES, FORM)
    with pytest.raises(InputError, match="another format"):
        vault.issue("patients", NAMES, Integer(digits=9))
    with pytest.raises(InputError, match="another format"):
        vault.issue("patients", pl.Series(["new"]), Integer(digits=9))
    with pytest.raises(InputError, match="holds issued pseudonyms"):
        vault.remember("patients", pl.Series(["p"]), pl.Series(["v"]))
    vault.add_domain("derived")
    vault.remember("derived", pl.Series(["p"]), pl.Series(["v"]))
    with pytest.raises(InputError, match="holds derived pseudonyms"):
        vault.issue("derived", NAMES, FORM)
    with pytest.raises(InputError, match="no pseudonyms that could be revoked"):
        vault.revoke("derived", ["p"], REASON)


@pytest.mark.requirement("T-05")
def test_a_narrow_format_ends_before_a_pseudonym_is_used_twice(vault: Vault) -> None:
    one_digit = Integer(digits=1)
    people = pl.Series([f"p{number}" for number in range(9)])
    issued = vault.issue("patients", people[:8], one_digit)
    assert issued.n_unique() == 8
    with pytest.raises(InputError, match="0 pseudonyms left"):
        vault.issue("patients", people, one_digit)
    assert vault.issue("patients", people[:8], one_digit).to_list() == issued.to_list()
    with pytest.raises(InputError, match="0 pseudonyms left"):
        vault.reissue("patients", REASON)
    assert vault.issue("patients", people[:8], one_digit).to_list() == issued.to_list()
    assert vault.verify().entries == 8


@pytest.mark.requirement("V-04")
def test_a_pseudonym_ends_with_its_period(clock: Clock, room: Room) -> None:
    vault = room.create()
    vault.add_domain("visits", validity_days=30)
    first = vault.issue("visits", NAMES, FORM)
    clock.turn(days=29)
    assert vault.issue("visits", NAMES, FORM).to_list() == first.to_list()
    clock.turn(days=1)
    assert vault.lookup("visits", ["Asha"]) == [None]
    second = vault.issue("visits", NAMES, FORM)
    assert not set(first) & set(second)
    assert vault.issue("visits", NAMES, FORM).to_list() == second.to_list()
    asked = vault.ask("visits", [first[0], second[0]], REASON)
    assert [(one.value, one.state) for one in vault.reveal(asked.id)] == [("Asha", "expired"), ("Asha", "valid")]
    assert vault.verify().entries == 2 * len(NAMES)


@pytest.mark.requirement("V-04")
def test_a_clock_that_goes_backwards_gives_nobody_a_second_pseudonym(clock: Clock, room: Room) -> None:
    vault = room.create()
    vault.add_domain("visits", validity_days=30)
    first = vault.issue("visits", NAMES, FORM)
    clock.turn(days=-400)
    assert vault.issue("visits", NAMES, FORM).to_list() == first.to_list()
    clock.turn(days=431)
    second = vault.issue("visits", NAMES, FORM)
    clock.turn(days=-431)
    assert vault.issue("visits", NAMES, FORM).to_list() == second.to_list()
    vault.verify()


@pytest.mark.requirement("V-04")
def test_a_revoked_pseudonym_is_never_given_again(vault: Vault, revealed: Callable[[Vault, str], str]) -> None:
    first = vault.issue("patients", NAMES, FORM)
    assert vault.revoke("patients", [first[0], first[1], first[0]], "the card was lost") == 2
    assert vault.revoke("patients", [first[0]], "the card was lost") == 0
    assert vault.lookup("patients", NAMES[:3].to_list()) == [None, None, first[2]]
    second = vault.issue("patients", NAMES, FORM)
    assert second[2:].to_list() == first[2:].to_list()
    assert not set(second[:2]) & set(first)
    assert revealed(vault, first[0]) == revealed(vault, second[0]) == "Asha"
    with pytest.raises(InputError, match="never issued"):
        vault.revoke("patients", [second[0], "0" * 26], "the card was lost")
    with pytest.raises(InputError, match="never issued"):
        vault.revoke("patients", ["not even of the format"], "the card was lost")
    assert vault.lookup("patients", ["Asha"]) == [second[0]]


@pytest.mark.requirement("V-03")
def test_everybody_is_given_a_new_pseudonym_after_a_loss(vault: Vault, revealed: Callable[[Vault, str], str]) -> None:
    first = vault.issue("patients", NAMES, FORM)
    vault.revoke("patients", [first[1]], "the card was lost")
    key = vault.key("patients", "pseudonymise")
    assert vault.reissue("patients", "the mapping table was lost") == len(NAMES) - 1
    second = vault.issue("patients", NAMES, FORM)
    assert not set(first) & set(second)
    assert vault.key("patients", "pseudonymise") != key
    assert revealed(vault, first[0]) == revealed(vault, second[0]) == "Asha"
    assert vault.verify().entries == 2 * len(NAMES)


@pytest.mark.requirement("V-03")
def test_a_reissue_in_many_batches(file_room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_lifecycle, "BATCH", 7)
    vault = file_room.create()
    vault.add_domain("patients")
    people = pl.Series([f"p{number}" for number in range(100)])
    first = vault.issue("patients", people, FORM)
    assert vault.reissue("patients", REASON) == 100
    assert vault.reissue("patients", REASON) == 100
    third = vault.issue("patients", people, FORM)
    assert not set(first) & set(third)
    assert third.n_unique() == 100
    assert vault.verify().entries == 300


@pytest.mark.requirement("V-01")
def test_rotation_changes_every_sealed_value_and_no_pseudonym(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_lifecycle, "BATCH", 2)
    first = vault.issue("patients", NAMES, FORM)
    vault.revoke("patients", [first[5]], "the card was lost")
    before = stored(vault)
    told: list[tuple[int, int]] = []
    vault.rotate("patients", lambda done, total: told.append((done, total)))
    after = stored(vault)
    assert told[-1] == (6, 6)
    assert len(before) == len(after) == len(NAMES)
    assert not {place for place, _ in before} & {place for place, _ in after}
    assert not {sealed for _, sealed in before} & {sealed for _, sealed in after}
    assert vault.issue("patients", NAMES[:5], FORM).to_list() == first[:5].to_list()
    with vault._reading() as session:
        held = key_lifecycle.domains.keys(session, key_lifecycle.domains.get(session, "patients"))
        assert list(held.data) == [2]
    vault.verify()


def stored(vault: Vault) -> list[tuple[bytes, bytes]]:
    with vault._store.reading() as connection:
        rows = connection.exec_driver_sql("SELECT place, sealed FROM shoal_entry").all()
    return [(bytes(place), bytes(sealed)) for place, sealed in rows]


@pytest.mark.requirement("V-01")
def test_a_rotation_that_was_cut_short_hinders_nobody_and_goes_on(
    vault: Vault, room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_lifecycle, "BATCH", 2)
    first = vault.issue("patients", NAMES, FORM)

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        vault.rotate("patients", stop)
    other = room.open(MEI)
    assert other.issue("patients", NAMES, FORM).to_list() == first.to_list()
    new = other.issue("patients", pl.Series(["came later"]), FORM)
    asked = other.ask("patients", first.to_list(), REASON)
    room.open(RAVI).approve(asked.id)
    assert [one.value for one in other.reveal(asked.id)] == NAMES.to_list()
    other.verify()
    assert vault.revoke("patients", [first[0], first[5]], "two cards were lost") == 2
    vault.rotate("patients")
    assert vault.issue("patients", NAMES[1:5], FORM).to_list() == first[1:5].to_list()
    assert vault.lookup("patients", ["came later"]) == new.to_list()
    assert [entry.action for entry in vault.audit() if entry.action.startswith("rotat")] == ["rotate", "rotated"]
    vault.verify()


@pytest.mark.requirement("V-01")
def test_others_work_while_keys_are_rotated(vault: Vault, room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_lifecycle, "BATCH", 1)
    first = vault.issue("patients", NAMES, FORM)
    other, given = room.open(MEI), []

    def meanwhile(done: int, total: int) -> None:
        assert other.issue("patients", NAMES, FORM).to_list() == first.to_list()
        given.append(other.issue("patients", pl.Series([f"meanwhile {done}"]), FORM)[0])

    vault.rotate("patients", meanwhile)
    assert len(given) == len(set(given)) == len(NAMES)
    names = [f"meanwhile {done}" for done in range(1, 1 + len(NAMES))]
    assert vault.lookup("patients", names) == given
    assert vault.verify().entries == 2 * len(NAMES)


@pytest.mark.requirement("V-01")
def test_a_new_master_key_reaches_everybody_who_is_admitted(vault: Vault, room: Room) -> None:
    first = vault.issue("patients", NAMES, FORM)
    asked = vault.ask("patients", [first[0]], REASON)
    other, approver = room.open(MEI), room.open(RAVI)
    trail = vault.audit()
    vault.change_master()
    assert other.issue("patients", NAMES, FORM).to_list() == first.to_list()
    approver.approve(asked.id)
    assert vault.reveal(asked.id)[0].value == "Asha"
    assert vault.audit()[: len(trail)] == trail
    assert room.open(RAVI).verify().entries == len(NAMES)


@pytest.mark.requirement("V-02")
def test_who_was_dismissed_is_out_at_once(vault: Vault, room: Room) -> None:
    first = vault.issue("patients", NAMES, FORM)
    other = room.open(MEI)
    asked, own = other.ask("patients", [first[0]], REASON), vault.ask("patients", [first[1]], REASON)
    room.open(RAVI).approve(own.id)
    vault.dismiss("mei")
    with pytest.raises(AccessError, match="nobody called 'mei'"):
        other.issue("patients", NAMES, FORM)
    with pytest.raises(AccessError, match="nobody called 'mei'"):
        room.open(MEI)
    assert asked.id not in {one.id for one in vault.requests()}
    vault.dismiss("ravi")
    with pytest.raises(AccessError, match="0 of the 1 approvals"):
        vault.reveal(own.id)
    vault.admit(Passphrase("ravi", "another person, the same name", QUICK), [Right.USE])
    vault.admit(Passphrase("mei", "another person, the same name", QUICK), [Right.REVEAL, Right.APPROVE])
    with pytest.raises(AccessError, match="0 of the 1 approvals"):
        vault.reveal(own.id)
    with pytest.raises(AccessError, match="expired"):
        room.open(Passphrase("mei", "another person, the same name")).reveal(asked.id)
    with pytest.raises(AccessError, match="last person who may manage"):
        vault.dismiss("anita")
    with pytest.raises(InputError, match="nobody called"):
        vault.dismiss("nobody")
    vault.verify()


@pytest.mark.requirement("V-02")
def test_rights(vault: Vault, room: Room) -> None:
    approver, user = room.open(RAVI), room.open(MEI)
    first = user.issue("patients", NAMES, FORM)
    mine = user.ask("patients", [first[0]], REASON)
    refused: list[Callable[[], object]] = [
        lambda: approver.issue("patients", NAMES, FORM),
        lambda: approver.key("patients", "encrypt"),
        lambda: approver.lookup("patients", ["Asha"]),
        lambda: approver.remember("patients", NAMES, NAMES),
        lambda: approver.ask("patients", [first[0]], REASON),
        lambda: approver.reveal(mine.id),
        lambda: approver.matching("patients", "x", REASON),
        lambda: approver.key_for_decryption("patients", "encrypt", REASON),
        lambda: user.approve(mine.id),
        lambda: user.add_domain("own"),
        lambda: user.admit(Passphrase("friend", "a long enough phrase", QUICK), [Right.USE]),
        lambda: user.dismiss("ravi"),
        lambda: user.rotate("patients"),
        user.change_master,
        lambda: user.revoke("patients", [first[0]], REASON),
        lambda: user.reissue("patients", REASON),
        lambda: user.shred("patients", REASON),
        lambda: user.backup("nowhere"),
    ]
    before = vault.audit()
    for deed in refused:
        with pytest.raises(AccessError, match="may not do this"):
            deed()
    assert vault.audit() == before
    assert not Path("nowhere").exists()
    assert vault.issue("patients", NAMES, FORM).to_list() == first.to_list()


@pytest.mark.requirement("V-02", "S-10")
def test_a_request_its_approval_its_answer_and_their_audit_entries(vault: Vault, room: Room, clock: Clock) -> None:
    first = vault.issue("patients", NAMES, FORM)
    with pytest.raises(InputError, match="reason in words"):
        vault.ask("patients", [first[0]], "because ")
    with pytest.raises(InputError, match="20 at most"):
        vault.ask("patients", [f"p{number}" for number in range(21)], REASON)
    with pytest.raises(InputError, match="20 at most"):
        vault.ask("patients", [], REASON)
    for hours in (0, 721):
        with pytest.raises(InputError, match="an hour at least and for 720"):
            vault.ask("patients", [first[0]], REASON, hours=hours)
    asked = vault.ask("patients", [first[0], first[2], first[0]], REASON, hours=48)
    with pytest.raises(AccessError, match="0 of the 1 approvals"):
        vault.reveal(asked.id)
    with pytest.raises(AccessError, match="their own request"):
        vault.approve(asked.id)
    approver = room.open(RAVI)
    assert approver.requests() == (asked,)
    assert approver.approve(asked.id, hours=1).approved_by == ("ravi",)
    with pytest.raises(InputError, match="already"):
        approver.approve(asked.id)
    with pytest.raises(AccessError, match="another person's"):
        room.open(MEI).reveal(asked.id)
    clock.turn(minutes=59)
    assert [one.value for one in vault.reveal(asked.id)] == ["Asha", "Li Wei"]
    clock.turn(minutes=1)
    with pytest.raises(AccessError, match="0 of the 1 approvals"):
        vault.reveal(asked.id)
    approver.approve(asked.id, hours=720)
    clock.turn(hours=47)
    with pytest.raises(AccessError, match="expired"):
        vault.reveal(asked.id)
    with pytest.raises(AccessError, match="expired"):
        approver.approve(asked.id)
    assert vault.requests() == ()
    with pytest.raises(InputError, match="no request 99"):
        vault.reveal(99)
    told = [(entry.person, entry.action) for entry in vault.audit()][-4:]
    assert told == [("anita", "ask"), ("ravi", "approve"), ("anita", "reveal"), ("ravi", "approve")]
    answered = next(entry for entry in vault.audit() if entry.action == "reveal")
    assert answered.details == {
        "request": asked.id,
        "reason": REASON,
        "approved_by": ["ravi"],
        "pseudonyms": [first[0], first[2]],
    }


@pytest.mark.requirement("V-02")
def test_two_approvals_by_two_people(vault: Vault, room: Room) -> None:
    vault.add_domain("hiv", approvals=2)
    vault.admit(Passphrase("om", "om's long passphrase", QUICK), [Right.APPROVE])
    first = vault.issue("hiv", NAMES, FORM)
    asked = vault.ask("hiv", [first[0]], REASON)
    room.open(RAVI).approve(asked.id)
    with pytest.raises(InputError, match="already"):
        room.open(RAVI).approve(asked.id)
    with pytest.raises(AccessError, match="1 of the 2"):
        vault.reveal(asked.id)
    room.open(Passphrase("om", "om's long passphrase")).approve(asked.id)
    assert vault.reveal(asked.id)[0].value == "Asha"


@pytest.mark.requirement("V-02")
def test_pseudonyms_that_nobody_has(vault: Vault, room: Room) -> None:
    first = vault.issue("patients", NAMES, FORM)
    asked = vault.ask("patients", [first[0], "7" * 26, "no pseudonym at all"], REASON)
    room.open(RAVI).approve(asked.id)
    with pytest.raises(InputError, match="2 of the pseudonyms were never issued"):
        vault.reveal(asked.id)
    assert vault.audit()[-1].action == "approve"


@pytest.mark.requirement("S-10", "V-02")
def test_derived_pseudonyms_lead_back_and_are_found_by_what_was_kept_beside_them(vault: Vault, room: Room) -> None:
    codes, people = pl.Series(["c1", "c2", "c3"]), pl.Series(["Asha", "Ravi", "Li"])
    also = [b"31 | f", b"31 | f", b"40 | m"]
    vault.remember("patients", codes, people, also)
    vault.remember("patients", codes, people, also)
    vault.remember("patients", pl.Series(["c4", "c1"]), pl.Series(["Om", "Asha"]), [b"40 | m", b"31 | f"])
    assert vault.verify().entries == 4
    assert vault.matching("patients", "31 | f", REASON) == ["c1", "c2"]
    vault.rotate("patients")
    assert vault.matching("patients", "40 | m", REASON) == ["c3", "c4"]
    assert vault.matching("patients", "40 | f", REASON) == []
    with pytest.raises(InputError, match="reason in words"):
        vault.matching("patients", "31 | f", "")
    asked = vault.ask("patients", ["c4"], REASON)
    room.open(RAVI).approve(asked.id)
    assert vault.reveal(asked.id)[0].value == "Om"
    with pytest.raises(DataError, match="two people"):
        vault.remember("patients", pl.Series(["c1"]), pl.Series(["somebody else"]))
    with pytest.raises(DataError, match="two people"):
        vault.remember("patients", pl.Series(["c9", "c9"]), pl.Series(["a", "b"]))
    assert vault.verify().entries == 4


@pytest.mark.requirement("V-01", "V-02")
def test_keys_of_a_domain(vault: Vault) -> None:
    vault.add_domain("open")
    one = vault.key("open", "encrypt")
    assert one == vault.key("open", "encrypt") == vault.key_for_decryption("open", "encrypt", REASON)
    assert one not in (vault.key("open", "pseudonymise"), vault.key("patients", "encrypt"))
    assert vault.audit()[-1].action == "decrypt"
    with pytest.raises(InputError, match="reason in words"):
        vault.key_for_decryption("open", "encrypt", "")
    with pytest.raises(AccessError, match="asks for approvals"):
        vault.key_for_decryption("patients", "encrypt", REASON)
    vault.rotate("open")
    vault.change_master()
    assert vault.key("open", "encrypt") == one


@pytest.mark.requirement("V-01")
def test_what_was_shredded_is_gone_for_good(vault: Vault, room: Room) -> None:
    vault.add_domain("staff")
    kept = vault.issue("staff", NAMES, FORM)
    first = vault.issue("patients", NAMES, FORM)
    proof = vault.shred("patients", "the period of retention is over")
    assert (proof.domain, proof.entries, len(proof.keys)) == ("patients", len(NAMES), 2)
    assert not vault._store.holds(proof.wrapped)
    (entry,) = [entry for entry in vault.audit() if entry.action == "shred"]
    assert entry.number == proof.audit
    assert entry.details["keys"] == list(proof.keys)
    deeds: list[Callable[[], object]] = [
        lambda: vault.issue("patients", NAMES, FORM),
        lambda: vault.lookup("patients", ["Asha"]),
        lambda: vault.key("patients", "encrypt"),
        lambda: vault.ask("patients", [first[0]], REASON),
        lambda: vault.rotate("patients"),
        lambda: vault.reissue("patients", REASON),
    ]
    for deed in deeds:
        with pytest.raises(AccessError, match="was shredded"):
            deed()
    with pytest.raises(InputError, match="already"):
        vault.add_domain("patients")
    assert vault.shred("patients", "once more").to_dict() == proof.to_dict()
    assert vault.issue("staff", NAMES, FORM).to_list() == kept.to_list()
    assert vault.verify().entries == len(NAMES)


@pytest.mark.requirement("V-01")
def test_a_backup_is_restored_without_a_pseudonym_being_used_twice(vault: Vault, room: Room, tmp_path: Path) -> None:
    first = vault.issue("patients", NAMES, FORM)
    vault.backup(tmp_path / "backup")
    later = vault.issue("patients", pl.Series([f"later {number}" for number in range(50)]), FORM)
    with pytest.raises(IntegrityError, match="is a backup"):
        Vault.open(tmp_path / "backup", ANITA, state=room.state)
    restored = Vault.restore(tmp_path / "backup", tmp_path / "restored", ANITA, state=room.state)
    assert restored.issue("patients", NAMES, FORM).to_list() == first.to_list()
    others = restored.issue("patients", pl.Series([f"other {number}" for number in range(100)]), FORM)
    assert not set(others) & (set(later) | set(first))
    restored.verify()
    with pytest.raises(IntegrityError, match="older copy"):
        vault.issue("patients", NAMES, FORM)


@pytest.mark.requirement("V-01")
def test_a_machine_that_never_saw_the_vault_has_to_be_told_how_many_to_skip(
    vault: Vault, room: Room, tmp_path: Path
) -> None:
    first = vault.issue("patients", NAMES, FORM)
    vault.backup(tmp_path / "backup")
    later = vault.issue("patients", pl.Series([f"later {number}" for number in range(50)]), FORM)
    elsewhere = tmp_path / "another machine"
    with pytest.raises(IntegrityError, match="is a backup"):
        Vault.open(tmp_path / "backup", ANITA, state=elsewhere)
    with pytest.raises(InputError, match="never seen the vault"):
        Vault.restore(tmp_path / "backup", tmp_path / "restored", ANITA, state=elsewhere)
    for skip in (-1, 10**13):
        with pytest.raises(InputError, match="can be skipped"):
            Vault.restore(tmp_path / "backup", tmp_path / "restored", ANITA, state=elsewhere, skip=skip)
    with pytest.raises(AccessError, match="manage"):
        Vault.restore(tmp_path / "backup", tmp_path / "restored", RAVI, state=elsewhere, skip=50)
    restored = Vault.restore(tmp_path / "backup", tmp_path / "restored", ANITA, state=elsewhere, skip=50)
    others = restored.issue("patients", pl.Series([f"other {number}" for number in range(100)]), FORM)
    assert not set(others) & (set(later) | set(first))
    assert restored.reissue("patients", REASON) == 106
    restored.verify()


@pytest.mark.requirement("V-01")
def test_a_backup_does_not_bring_back_what_was_shredded(vault: Vault, room: Room, tmp_path: Path) -> None:
    vault.issue("patients", NAMES, FORM)
    vault.backup(tmp_path / "backup")
    vault.shred("patients", "the period of retention is over")
    restored = Vault.restore(tmp_path / "backup", tmp_path / "restored", ANITA, state=room.state)
    with pytest.raises(AccessError, match="was shredded"):
        restored.issue("patients", NAMES, FORM)
    restored.verify()


def test_a_backup_overwrites_nothing(vault: Vault, tmp_path: Path) -> None:
    (tmp_path / "there").write_text("something else")
    with pytest.raises(TargetError, match="exists already"):
        vault.backup(tmp_path / "there")
    assert (tmp_path / "there").read_text() == "something else"


def test_a_second_vault_in_the_same_place_is_refused(vault: Vault, room: Room) -> None:
    with pytest.raises(TargetError, match="already"):
        room.create()
    assert vault.verify().domains == 1


def test_two_vaults_of_one_owner_are_not_taken_for_each_other(file_room: Room, tmp_path: Path) -> None:
    file_room.create()
    other = Room(str(tmp_path / "other.vault"), file_room.state)
    other.create()
    Path(other.place).replace(file_room.place)
    with pytest.raises(IntegrityError, match="another vault"):
        file_room.open()


def test_opening_makes_no_file_and_changes_none(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no such vault"):
        Vault.open(tmp_path / "absent", ANITA, state=tmp_path / "state")
    (tmp_path / "text").write_text("no database at all, but long enough to look at as one\n" * 100)
    (tmp_path / "empty").touch()
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for name in before:
        with pytest.raises(IntegrityError, match="not a vault"):
            Vault.open(tmp_path / name, ANITA, state=tmp_path / "state")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_names_and_numbers_that_can_not_be(vault: Vault) -> None:
    wrong: list[Callable[[], object]] = [
        lambda: vault.add_domain("Patients!"),
        lambda: vault.add_domain("x", approvals=-1),
        lambda: vault.add_domain("x", approvals=10**12),
        lambda: vault.add_domain("x", validity_days=0),
        lambda: vault.add_domain("x", validity_days=10**12),
        lambda: vault.admit(Passphrase("ravi", "a long enough phrase", QUICK), [Right.USE]),
        lambda: vault.admit(Passphrase("new", "short", QUICK), [Right.USE]),
        lambda: vault.admit(Passphrase("new\n", "a long enough phrase", QUICK), [Right.USE]),
        lambda: vault.admit(Passphrase("new", "a long enough phrase", QUICK), []),
        lambda: vault.admit(Passphrase("new", "a long enough phrase", QUICK), ["everything"]),  # type: ignore[list-item]
        lambda: vault.issue("patiens", NAMES, FORM),
    ]
    for deed in wrong:
        with pytest.raises(InputError) as told:
            deed()
        assert type(told.value) is InputError
    assert [one.name for one in vault.people()] == ["anita", "mei", "ravi"]
    assert vault.verify().domains == 1


def test_a_step_that_fails_leaves_nothing_behind(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    first = vault.issue("patients", NAMES, FORM)
    trail = vault.audit()

    def fail(*_: object, **__: object) -> None:
        raise ShoalError("in the middle")

    monkeypatch.setattr("shoal.vault.vault.audit.record", fail)
    with pytest.raises(ShoalError, match="in the middle"):
        vault.issue("patients", pl.Series(["new"]), FORM)
    monkeypatch.undo()
    assert vault.audit() == trail
    assert vault.lookup("patients", ["new"]) == [None]
    assert vault.lookup("patients", ["Asha"]) == [first[0]]
    vault.verify()


@pytest.mark.requirement("T-05")
def test_pseudonyms_in_bulk_over_several_chunks(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.vault.entries.CHUNK", 700)
    monkeypatch.setattr("shoal.vault.entry_rows._AT_ONCE", 300)
    monkeypatch.setattr("shoal.vault.entry_rows._FETCHED", 400)
    vault = room.create()
    vault.add_domain("patients", validity_days=1)
    people = pl.Series([f"person {number}" for number in range(5000)])
    first = vault.issue("patients", people[:3000], Base32())
    both = vault.issue("patients", people, Base32())
    assert both[:3000].to_list() == first.to_list()
    assert both.n_unique() == 5000
    order = np.random.default_rng(1).permutation(5000)
    again = vault.issue("patients", people.gather(order), Base32())
    assert again.to_list() == both.gather(order).to_list()
    assert vault.verify().entries == 5000
