"""Pseudonyms out of the vault: issued ones, looked up or created in bulk; derived ones that are to be reversible."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from shoal.errors import DataError, InputError
from shoal.kernels.arrays import Integers
from shoal.pseudonyms import PseudonymFormat
from shoal.pseudonyms.issuance import pseudonyms_of
from shoal.schema.canonical_text import canonical_text
from shoal.vault import domains
from shoal.vault.domains import DERIVED, ISSUED, Domain, described
from shoal.vault.entries import CHUNK, DomainEntries, EntryLookup, packed, unpacked
from shoal.vault.entry_rows import EXPIRED
from shoal.vault.session import Session


def wanted(values: pl.Series) -> pl.Series:
    """Values as the texts that are pseudonymised; who is missing can't have a pseudonym."""
    texts = canonical_text(values)
    if texts.null_count():
        raise DataError("missing values have no pseudonym")
    return texts


def looked_up(session: Session, name: str, sought: EntryLookup) -> Integers:
    """The serials of those that have a valid pseudonym; 0 for the others, once it is certain that they have none."""
    domain = _of_kind(domains.usable(session, name), ISSUED)
    entries = DomainEntries(session, domain)
    found = entries.find(sought)
    absent = np.flatnonzero(found.serial == 0)
    if domain.entries and (len(absent) or domain.retired):
        entries.refuse_incomplete(sought.only(absent))
    found.serial[found.lacking(session.seconds)] = 0
    return found.serial


def surely_distinct(texts: pl.Series) -> bool:
    """Whether no value comes twice, told by their hashes alone, which takes a fraction of a look at the values."""
    hashes = np.sort(texts.hash().to_numpy())
    return bool((hashes[1:] != hashes[:-1]).all())


def known(session: Session, name: str, sought: EntryLookup, form: PseudonymFormat, *, trusted: bool) -> Integers:
    """The serials of those that have a valid pseudonym by now; 0 for who lacks one, or seems to."""
    domain = _of_kind(domains.usable(session, name), ISSUED)
    if domain.kind is not None:
        _refuse_other(domain, described(form))
    entries = DomainEntries(session, domain)
    if not trusted:
        entries.refuse_outdated()
    found = entries.find(sought)
    found.serial[found.lacking(session.seconds)] = 0
    return found.serial


def created(session: Session, name: str, sought: EntryLookup, form: PseudonymFormat, *, trusted: bool) -> Integers:
    """The serials of all, in a transaction that may write: looked up once more, then created where lacking."""
    domain = _settled(session, _of_kind(domains.usable(session, name), ISSUED), ISSUED, form)
    entries = DomainEntries(session, domain)
    found = entries.find(sought)
    if domain.entries and not trusted:
        entries.refuse_incomplete(sought.only(np.flatnonzero(found.serial == 0)))
    lacking = found.lacking(session.seconds)
    refuse_full(domain, form, len(lacking))
    ended = found.serial[lacking][found.serial[lacking] > 0]
    if len(ended):
        entries.retire(ended.tolist(), EXPIRED)
    serials = found.serial
    serials[lacking] = entries.create(sought if len(lacking) == len(sought) else sought.only(lacking))
    return serials


def remembered(
    session: Session, name: str, pseudonyms: pl.Series, values: pl.Series, also: Sequence[bytes] | None
) -> int:
    """Keep what derived pseudonyms stand for; the number of new ones. One pseudonym for two values is refused."""
    domain = _settled(session, _of_kind(domains.usable(session, name), DERIVED), DERIVED, None)
    entries = DomainEntries(session, domain)
    if pseudonyms.n_unique() < len(pseudonyms):
        raise _shared(name)
    beside: Sequence[bytes] = [b""] * len(pseudonyms) if also is None else also
    told = zip(wanted(values).cast(pl.Binary), wanted(pseudonyms).cast(pl.Binary), beside, strict=True)
    contents = pl.Series([packed(*one) for one in told], dtype=pl.Binary())
    sought = EntryLookup(pseudonyms, contents)
    found = entries.find(sought)
    if any(unpacked(held)[0] != unpacked(contents[place])[0] for place, held in found.contents.items()):
        raise _shared(name)
    lacking = np.flatnonzero(found.serial == 0)
    if domain.entries:
        entries.refuse_incomplete(sought.only(lacking))
    entries.create(sought.only(lacking), None if also is None else [also[at] for at in lacking.tolist()])
    return len(lacking)


def written(session: Session, name: str, serials: Integers) -> pl.Series:
    """Serials as pseudonyms; missing for 0."""
    domain = domains.usable(session, name)
    form = domain.format
    if form is None:
        return pl.Series([None] * len(serials), dtype=pl.String())
    key = domains.keys(session, domain).issue
    parts = (serials[start : start + CHUNK] for start in range(0, len(serials), CHUNK))
    texts = [pseudonyms_of(key, form, np.where(part > 0, part, 1)).set(pl.Series(part == 0), None) for part in parts]
    return pl.concat(texts) if texts else pl.Series([], dtype=form.storage)


def _shared(name: str) -> DataError:
    return DataError(f"domain '{name}': two people would have one pseudonym", advice="take a wider format")


def _settled(session: Session, domain: Domain, kind: str, form: PseudonymFormat | None) -> Domain:
    """The first use of a domain settles what its entries are and what its pseudonyms look like."""
    form_of = None if form is None else described(form)
    if domain.kind is None:
        return domains.change(session, domain, kind=kind, form=form_of)
    _refuse_other(domain, form_of)
    return domain


def _refuse_other(domain: Domain, form: str | None) -> None:
    if domain.form != form:
        raise InputError(
            f"domain '{domain.name}' issues pseudonyms of another format",
            advice="a person keeps one pseudonym in a domain: take its format, or another domain",
        )


def _of_kind(domain: Domain, kind: str) -> Domain:
    if domain.kind not in (None, kind):
        raise InputError(
            f"domain '{domain.name}' holds {domain.kind} pseudonyms", advice="take another domain for this method"
        )
    return domain


def refuse_full(domain: Domain, form: PseudonymFormat, more: int) -> None:
    if domain.next + more > form.size:
        left = max(0, form.size - domain.next)
        raise InputError(
            f"domain '{domain.name}': its format has {left:,} pseudonyms left, and none is used twice",
            advice="take a wider format in another domain",
        )
