"""Texts, documents and text columns without what they say of people."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, get_args, overload

import polars as pl

from shoal import documents
from shoal.api.arguments import Data, choice_from, instance_from, names_from
from shoal.errors import InputError
from shoal.io.frames import as_lazy, like
from shoal.pseudonyms import Secrets
from shoal.schema.registry import did_you_mean
from shoal.scrub.account import ScrubAccount
from shoal.scrub.choices import Ages, Dates, Replace, refuse_unknown_types
from shoal.scrub.files import FileScrubber
from shoal.scrub.outcome import ScrubOutcome
from shoal.scrub.scrubber import DOMAIN, Scrubber, TextAnnotator, standard_annotator

Names = str | Iterable[str]


@overload
def scrub(
    data: str,
    *,
    replace: Replace = "label",
    types: Names | None = None,
    dates: Dates | None = None,
    ages: Ages | None = None,
    vault: Secrets | None = None,
    domain: str = DOMAIN,
    annotator: TextAnnotator | None = None,
) -> ScrubOutcome: ...


@overload
def scrub(
    data: Path,
    *,
    output: str | Path,
    replace: Replace = "label",
    types: Names | None = None,
    dates: Dates | None = None,
    ages: Ages | None = None,
    vault: Secrets | None = None,
    domain: str = DOMAIN,
    annotator: TextAnnotator | None = None,
) -> ScrubAccount: ...


@overload
def scrub(
    data: Data,
    *,
    columns: Names | None = None,
    replace: Replace = "label",
    types: Names | None = None,
    dates: Dates | None = None,
    ages: Ages | None = None,
    vault: Secrets | None = None,
    domain: str = DOMAIN,
    annotator: TextAnnotator | None = None,
) -> Any: ...


def scrub(  # noqa: PLR0913  # one argument per wish
    data: Data,
    *,
    output: str | Path | None = None,
    columns: Names | None = None,
    replace: Replace = "label",
    types: Names | None = None,
    dates: Dates | None = None,
    ages: Ages | None = None,
    vault: Secrets | None = None,
    domain: str = DOMAIN,
    annotator: TextAnnotator | None = None,
) -> Any:
    """Take out of a text, a file or text columns what they say of people.

    Args:
        data: a text (a string), a file (a `Path`), or a pandas, Polars or PyArrow table.
        output: of a file, where the scrubbed one goes.
        columns: of a table, its text columns that are scrubbed; else all of them.
        replace: what is written instead: `label`, `mask` or `pseudonym`.
        types: only these kinds, as `email`; else all.
        dates: `shift`, `label` or `keep`; if nothing is said, shifted where stand-ins are written.
        ages: `generalise`, `label` or `keep`; if nothing is said, generalised where stand-ins are written.
        vault: keeps the keys of stand-ins and shifts; without one they are of this call only.
        domain: whose texts share stand-ins.
        annotator: what finds; else the finders that Shoal comes with. To make one takes longer than to read a page:
            who scrubs often makes one `standard_annotator()` and gives it each time.

    Returns:
        Of a text a `ScrubOutcome`, whose `text` it is; of a file what was replaced in it; of a table the same kind of
        table. Each cell is a text of its own.

    Examples:
        >>> scrub("Write to asha@clinic.in today.").text
        'Write to [EMAIL] today.'
    """
    scrubber = _scrubber(replace, types, dates, ages, vault, domain, annotator)
    if isinstance(data, Path):
        return _scrub_file(data, output, scrubber)
    if output is not None:
        raise InputError("goes with the path of a file", field="output")
    return scrubber.scrub(data) if isinstance(data, str) else _scrub_table(data, columns, scrubber)


def _scrubber(  # noqa: PLR0913, PLR0917  # what can be chosen of a scrubbing
    replace: Replace,
    types: Names | None,
    dates: Dates | None,
    ages: Ages | None,
    vault: Secrets | None,
    domain: str,
    annotator: TextAnnotator | None,
) -> Scrubber:
    choice_from(replace, get_args(Replace), "replace")
    for argument, given, choices in (("dates", dates, get_args(Dates)), ("ages", ages, get_args(Ages))):
        if given is not None:
            choice_from(given, choices, argument)
    kinds = None if types is None else frozenset(name.casefold() for name in names_from(types, "types"))
    refuse_unknown_types(kinds or ())
    if vault is not None and not hasattr(vault, "key"):
        raise InputError("has to be a Vault", field="vault")
    if annotator is not None and not hasattr(annotator, "annotate"):
        raise InputError("has to be an Annotator", field="annotator")
    if not instance_from(domain, str, "a name", "domain"):
        raise InputError("has to be a name", field="domain")
    finds = standard_annotator() if annotator is None else annotator
    return Scrubber(finds, replace, vault, domain, types=kinds, dates=dates, ages=ages)


def _scrub_file(path: Path, output: str | Path | None, scrubber: Scrubber) -> ScrubAccount:
    if output is None:
        raise InputError("say where the scrubbed file goes", field="output")
    account = ScrubAccount()
    FileScrubber(scrubber, account, carrier=documents.open).clean(path, Path(output))
    return account


def _scrub_table(data: Data, columns: Names | None, scrubber: Scrubber) -> Any:
    try:
        frame = as_lazy(data).collect(engine="streaming")
    except InputError as error:
        raise InputError(error.message, field="data", advice="give a text, a Path or a table") from None
    texts = tuple(name for name, kind in frame.schema.items() if kind == pl.String())
    chosen = texts if columns is None else names_from(columns, "columns")
    for name in chosen:
        if name not in texts:
            raise InputError(f"the table has no text column '{name}'{did_you_mean(name, texts)}", field="columns")
    return like(data, frame.with_columns(_scrub_column(frame[name], scrubber) for name in chosen))


def _scrub_column(column: pl.Series, scrubber: Scrubber) -> pl.Series:
    """Each distinct text once; a missing one stays missing."""
    distinct = column.drop_nulls().unique(maintain_order=True)
    scrubbed = pl.Series([done.text for done in scrubber.scrub_many(distinct)], dtype=pl.String)
    return column.replace_strict(distinct, scrubbed, default=None, return_dtype=pl.String)
