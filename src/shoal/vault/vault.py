"""The vault as people and runs use it: open it, do one thing, and that thing is done whole or not at all."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Self, TypeVar

import numpy as np
import polars as pl
from sqlalchemy import Connection, insert

from shoal.crypto import Key
from shoal.errors import AccessError, FieldName, FieldText, InputError, IntegrityError, SourceError
from shoal.kernels.arrays import places_among
from shoal.pseudonyms import PseudonymFormat
from shoal.randomness import now
from shoal.schema.progress import Progress
from shoal.vault import audit, backup_copy, domains, issuance, key_lifecycle, migration, reidentification
from shoal.vault.admission import OpenedBox, everybody, opened_box, person_named
from shoal.vault.audit import AuditEntry
from shoal.vault.credentials import Credential, Person, Right, VaultKeys
from shoal.vault.database import VaultDatabase
from shoal.vault.domains import Domain
from shoal.vault.entries import DomainEntries, EntryLookup, unpacked
from shoal.vault.entry_rows import scan_also
from shoal.vault.key_lifecycle import ShredCertificate
from shoal.vault.reidentification import RevealedIdentity, RevealRequest
from shoal.vault.rollback_guard import Anchor, VaultState
from shoal.vault.session import Session, head_row, read_head, refuse_altered, seal_head
from shoal.vault.tables import FORMAT, head, person
from shoal.vault.verification import VerificationResult, verify

DAY_HOURS = 24
MOST_SKIPPED = 10**12
T = TypeVar("T")


class Vault(AbstractContextManager["Vault"]):
    """An opened vault. ``Vault.create`` makes one, ``Vault.open`` opens it as one person."""

    lasting: ClassVar[bool] = True

    def __init__(self, store: VaultDatabase, way: Credential, box: OpenedBox, anchor: Anchor, name: str) -> None:
        self.name = name
        self._store = store
        self._way = way
        self._box = box
        self._anchor = anchor
        self._complete: dict[str, int] = {}

    @classmethod
    def create(cls, place: str | Path, way: Credential, *, state: Path | None = None) -> Self:
        """A new vault with one person, who may do everything."""
        store, held, name = VaultDatabase(str(place)), VaultKeys.new(), uuid.uuid4().hex
        first = way.admitted(held, Right)
        with store.filling() as connection:
            connection.execute(insert(head).values(id=1, format=FORMAT, vault=name, generation=0, backup=0, check=b""))
            connection.execute(insert(person).values(first.row()))
            audit.begin_epoch(connection, held.master)
            session = Session(connection, held, name, 0, first, now())
            audit.record(session, "init", way=first.way)
            seal_head(session)
        Anchor.of(name, state).stands_at(store.place)
        return cls.open(place, way, state=state)

    @classmethod
    def open(cls, place: str | Path, way: Credential, *, state: Path | None = None) -> Self:
        """As one person. A vault of an older format is brought to the present one first."""
        store = VaultDatabase(str(place))
        migration.upgrade(store, way, state)
        with store.reading() as connection:
            box = opened_box(connection, way)
            refuse_altered(connection, box.held.master)
            backup_copy.refuse_backup(connection)
            name = read_head(connection).vault
        anchor = Anchor.of(name, state)
        anchor.refuse_other(store.place)
        opened = cls(store, way, box, anchor, name)
        with opened._reading() as session:
            seen = backup_copy.seen_in(session.connection)
        anchor.remember(seen)
        anchor.stands_at(store.place)
        return opened

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._store.close()

    # What a run may know (shoal.pseudonyms.secrets.Secrets).

    def key(self, domain: str, purpose: str) -> Key:
        with self._reading(Right.USE) as session:
            found = domains.usable(session, domain)
            return domains.keys(session, found).root.derive("use", purpose, str(found.epoch))

    def issue(self, domain: str, values: pl.Series, form: PseudonymFormat) -> pl.Series:
        """The pseudonym of each value: the one it has in the domain, or a new one."""
        texts = issuance.wanted(values)
        if not issuance.surely_distinct(texts):
            distinct = texts.unique(maintain_order=True)
            if len(distinct) < len(texts):
                return self.issue(domain, distinct, form).gather(places_among(texts, distinct))
        sought = EntryLookup(texts)
        with self._reading(Right.USE) as session:
            serials = issuance.known(session, domain, sought, form, trusted=self._trusts(session, domain))
        lacking = np.flatnonzero(serials == 0)
        if len(lacking):
            new = sought if len(lacking) == len(texts) else sought.only(lacking)
            with self._writing(Right.USE) as session:
                serials[lacking] = issuance.created(session, domain, new, form, trusted=self._trusts(session, domain))
                audit.record(session, "issue", domain, pseudonyms=len(new))
            self._complete[domain] = session.generation + 1
            del new
        del sought
        with self._reading(Right.USE) as session:
            return issuance.written(session, domain, serials)

    def _trusts(self, session: Session, domain: str) -> bool:
        """This object has looked at all entries of the domain, and nobody has written to the vault since."""
        return self._complete.get(domain) == session.generation

    def remember(
        self, domain: str, pseudonyms: pl.Series, values: pl.Series, also: Sequence[bytes] | None = None
    ) -> None:
        with self._writing(Right.USE) as session:
            new = issuance.remembered(session, domain, pseudonyms, values, also)
            audit.record(session, "remember", domain, pseudonyms=new)

    # People and domains.

    def people(self) -> tuple[Person, ...]:
        with self._reading() as session:
            return everybody(session.connection)

    def admit(self, way: Credential, rights: Iterable[Right]) -> None:
        with self._writing(Right.MANAGE) as session:
            try:
                admitted = way.admitted(session.held, [Right(right) for right in rights])
            except ValueError:
                raise InputError(f"the rights are {', '.join(Right)}") from None
            if not admitted.rights:
                raise InputError(f"give {admitted.name} a right: {', '.join(Right)}")
            if any(known.name == admitted.name for known in everybody(session.connection)):
                raise InputError(f"'{admitted.name}' is admitted already")
            session.connection.execute(insert(person).values(admitted.row()))
            audit.record(session, "admit", person=admitted.name, rights=sorted(admitted.rights), way=admitted.way)

    def dismiss(self, name: str) -> None:
        """And give everybody who stays a new master key."""
        self._in_one(Right.MANAGE, lambda session: key_lifecycle.dismiss(session, name), new_master=True)

    def domains(self) -> tuple[Domain, ...]:
        with self._reading() as session:
            return domains.everyone(session)

    def add_domain(self, name: str, *, approvals: int = 0, validity_days: int | None = None) -> Domain:
        with self._writing(Right.MANAGE) as session:
            made = domains.add(session, name, approvals=approvals, validity_days=validity_days)
            audit.record(session, "add domain", name, approvals=approvals, validity_days=validity_days)
            return made

    # Looking up and revealing.

    def lookup(self, domain: str, values: Sequence[str]) -> list[str | None]:
        """The valid pseudonyms of these values; None for who has none. Nothing is created."""
        with self._writing(Right.USE) as session:
            texts = issuance.wanted(pl.Series(values, dtype=pl.String()))
            distinct = texts.unique(maintain_order=True)
            serials = issuance.looked_up(session, domain, EntryLookup(distinct))
            audit.record(session, "lookup", domain, values=len(distinct), found=int((serials > 0).sum()))
            return issuance.written(session, domain, serials).gather(places_among(texts, distinct)).to_list()

    def matching(self, domain: str, text: str, reason: str) -> list[str]:
        """Derived pseudonyms that were kept beside this text, as the concatenated quasi-identifiers of a person."""
        with self._writing(Right.REVEAL) as session:
            reidentification.need_reason(reason)
            found = domains.usable(session, domain)
            entries = DomainEntries(session, found)
            entries.refuse_incomplete()
            pseudonyms = [
                unpacked(content)[1].decode()
                for mark in entries.also_marks(text.encode())
                for content in scan_also(session.connection, found.id, mark).unsealed(found.id, entries.keys)
            ]
            audit.record(session, "match", domain, reason=reason, found=len(pseudonyms))
            return sorted(pseudonyms)

    def ask(self, domain: str, pseudonyms: Sequence[str], reason: str, *, hours: int = DAY_HOURS) -> RevealRequest:
        with self._writing() as session:
            return reidentification.ask(session, domain, pseudonyms, reason, hours)

    def requests(self) -> tuple[RevealRequest, ...]:
        with self._reading() as session:
            return reidentification.waiting(session)

    def approve(self, request: int, *, hours: int = DAY_HOURS) -> RevealRequest:
        with self._writing() as session:
            return reidentification.approve(session, request, hours)

    def reveal(self, request: int) -> list[RevealedIdentity]:
        """The answer to a request that was granted. It is in the audit trail before it is given."""
        with self._writing() as session:
            return reidentification.answer(session, request)

    def key_for_decryption(self, domain: str, purpose: str, reason: str) -> Key:
        """The key that a column was encrypted with, for a reason that is in the audit trail before the key is given.

        It opens every value of the column. Where the domain asks for approvals, single values are revealed instead.
        """
        with self._writing(Right.REVEAL) as session:
            found = domains.usable(session, domain)
            if found.approvals:
                raise AccessError(f"domain '{domain}' asks for approvals, and a whole column can't be approved")
            reidentification.need_reason(reason)
            audit.record(session, "decrypt", domain, reason=reason, purpose=purpose)
            return domains.keys(session, found).root.derive("use", purpose, str(found.epoch))

    # Care.

    def rotate(self, domain: str, progress: Progress | None = None) -> None:
        """A new data key, while others go on working. One that was cut short is taken up again."""
        self._in_one(Right.MANAGE, lambda session: key_lifecycle.begin_rotation(session, domain))
        last = 1
        while last:
            last = self._in_one(Right.MANAGE, partial(key_lifecycle.rotate_some, name=domain, after=last - 1))
            if progress and last:
                with self._reading() as session:
                    progress(last, domains.get(session, domain).next - 1)

    def change_master(self) -> None:
        self._in_one(Right.MANAGE, lambda _: None, new_master=True)

    def revoke(self, domain: str, pseudonyms: Sequence[str], reason: str) -> int:
        return self._in_one(Right.MANAGE, lambda session: key_lifecycle.revoke(session, domain, pseudonyms, reason))

    def reissue(self, domain: str, reason: str) -> int:
        return self._in_one(Right.MANAGE, lambda session: key_lifecycle.reissue(session, domain, reason))

    def shred(self, domain: str, reason: str) -> ShredCertificate:
        """And look whether anything of its keys is left in the file. One that was cut short is taken up again."""
        with self._reading(Right.MANAGE) as session:
            before = key_lifecycle.shredded_before(session, domain)
        done = before or self._in_one(Right.MANAGE, lambda session: key_lifecycle.shred(session, domain, reason))
        self._anchor.remember(VaultState(shredded=frozenset(done.keys)))
        self._store.forget()
        if self._store.holds(done.wrapped):
            raise SourceError(
                "the keys are destroyed, but a copy is left in the log while another program reads the vault",
                advice="shred the domain once more when it has ended",
            )
        return done

    def verify(self) -> VerificationResult:
        if not self._store.sound():
            raise IntegrityError(f"{self._store.label}: the database's own check finds it damaged")
        with self._reading() as session:
            return verify(session)

    def audit(self) -> list[AuditEntry]:
        with self._reading() as session:
            return list(audit.entries(session))

    def backup(self, path: str | Path) -> int:
        """A copy of everything, sealed as it is; how many rows."""
        copy = VaultDatabase(str(path))
        with self._writing(Right.MANAGE) as session:
            audit.record(session, "backup", to=Path(copy.label).name)
        with self._reading(Right.MANAGE) as source, copy.filling() as target:
            rows = backup_copy.copy_all(source.connection, target)
            seal_head(replace(source, connection=target, generation=source.generation - 1), backup=True)
        copy.close()
        return rows

    @classmethod
    def restore(
        cls,
        backup: str | Path,
        place: str | Path,
        way: Credential,
        *,
        skip: int | None = None,
        state: Path | None = None,
    ) -> Self:
        """A vault from a backup. Serials that may have been used since then are stepped over.

        What this machine saw shredded stays so. People who were dismissed since then are admitted again, as they were
        when the backup was made.
        """
        source, target = VaultDatabase(str(backup)), VaultDatabase(str(place))
        with source.reading() as connection:
            box = opened_box(connection, way)
            migration.refuse_altered_backup(connection, box.held.master)
            name = head_row(connection).vault
            acting = person_named(connection, way.name)
            seen = Anchor.of(name, state).seen()
            if seen is None and skip is None:
                raise InputError(
                    "this machine has never seen the vault, so it can't know how many pseudonyms were issued since",
                    advice=FieldText("say with ", FieldName("skip"), " how many at most"),
                )
            if skip is not None and not 0 <= skip <= MOST_SKIPPED:
                raise InputError(f"between 0 and {MOST_SKIPPED:,} pseudonyms can be skipped")
            with target.filling() as fresh:
                session = Session(fresh, box.held, name, head_row(connection).generation, acting, now())
                session.need(Right.MANAGE)
                migration.copy_here(connection, session)
                backup_copy.step_over(fresh, seen, skip or 0)
                session = replace(session, generation=read_head(fresh).generation)
                audit.record(session, "restore", skipped=skip or 0)
                again = key_lifecycle.shred_again(session, seen.shredded) if seen else 0
                seal_head(session)
            if again:
                target.forget()
        Anchor.of(name, state).stands_at(target.place)
        return cls.open(place, way, state=state)

    # Transactions.

    def _in_one(self, right: Right, work: Callable[[Session], T], *, new_master: bool = False) -> T:
        with self._writing(right, new_master=new_master) as session:
            return work(session)

    @contextmanager
    def _reading(self, right: Right | None = None) -> Iterator[Session]:
        # What was seen is read first: somebody may write, and remember it, after this moment of the vault was taken.
        seen = self._anchor.seen()
        with self._store.reading() as connection:
            yield self._session(connection, right, seen)

    @contextmanager
    def _writing(self, right: Right | None = None, *, new_master: bool = False) -> Iterator[Session]:
        with self._store.writing() as connection:
            session = self._session(connection, right, self._anchor.seen())
            yield session
            if new_master:
                session = replace(session, held=key_lifecycle.change_master(session))
            seal_head(session)
            seen = backup_copy.seen_in(connection)
        self._anchor.remember(seen)

    def _session(self, connection: Connection, right: Right | None, seen: VaultState | None) -> Session:
        row = read_head(connection)
        acting = person_named(connection, self._way.name)
        if acting.box != self._box.closed:
            self._box = opened_box(connection, self._way)
        refuse_altered(connection, self._box.held.master)
        if row.vault != self.name:
            raise IntegrityError("another vault stands here than before")
        backup_copy.refuse_backup(connection)
        backup_copy.refuse_older(connection, seen)
        session = Session(connection, self._box.held, row.vault, row.generation, acting, now())
        if right is not None:
            session.need(right)
        return session
