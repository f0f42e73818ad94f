"""What data holds, and a policy to start from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path

from shoal.api.arguments import Data, choice_from, flag_from, is_place, recognisers_from, share_from, source_from
from shoal.discover.column_profile import Profile
from shoal.discover.recognisers import RecogniserSet
from shoal.discover.suggestion.policy_draft import Suggestion
from shoal.discover.suggestion.policy_draft import suggest as suggest_for
from shoal.discover.suggestion.rule_proposals import with_rules
from shoal.discover.table_profile import SAMPLE
from shoal.discover.table_profile import profile as profile_frame
from shoal.discover.text_mentions import Annotate
from shoal.errors import InputError
from shoal.io import Source, explained
from shoal.policy import UseCase
from shoal.release.suggestion_trial import try_out
from shoal.scan.annotators import THRESHOLD, annotate_by
from shoal.scan.findings import Scan
from shoal.scan.policy_suggestion import (
    holds_tables,
    policy_name,
    profile_tables_at,
    profiled,
    suggest_multi_table,
)
from shoal.scan.source_walk import scan_places
from shoal.scan.table_findings import scan_table

Places = Data | Iterable[str | Path]
"""A table in memory, a path or an address, or several of the latter."""


def profile(
    data: Data,
    *,
    sample: int | None = SAMPLE,
    annotate: Annotate | None = None,
    recognisers: RecogniserSet | None = None,
) -> Profile:
    """What a table holds: value types, recognised identifiers, a proposed role for each column, and why.

    Args:
        data: a table in memory, a path, or the address of a table in a database.
        sample: from how many records it is found out, at most; `None` for all.
        annotate: what reads free text; else the finders that Shoal comes with.
        recognisers: what values are recognised by; else those that Shoal comes with.

    Returns:
        The profile, without a value of the table.

    Examples:
        >>> import polars as pl
        >>> found = profile(pl.DataFrame({"pan": ["ACUPA7085R", "AAPPV8261K"], "age": ["34", "41"]}))
        >>> {column.name: str(column.proposal.role) for column in found.columns}
        {'pan': 'direct', 'age': 'quasi'}
    """
    if sample is not None and (isinstance(sample, bool) or not isinstance(sample, int) or sample < 1):
        raise InputError("has to be a whole number from 1 on, or None for all records", field="sample")
    if annotate is not None and not callable(annotate):
        raise InputError("has to be a function from a text to what it found", field="annotate")
    source = source_from(data, "data")
    reads = annotate or annotate_by(recognisers=recognisers_from(recognisers))
    with explained(source):
        return profile_frame(source.scan(), sample=sample, annotate=reads, recognisers=recognisers)


def suggest(  # noqa: PLR0913  # one argument per wish
    data: Data | Profile,
    *,
    use_case: UseCase | str = UseCase.EXTERNAL_SHARING,
    name: str | None = None,
    person: str | None = None,
    purpose: str | None = None,
    source: object = None,
    rules: bool = False,
) -> Suggestion:
    """A policy that runs as it is: a role and a technique for each column, with the reason as a comment.

    Args:
        data: a table in memory, a path, a database's address, a folder of tables, or a `Profile`.
        use_case: what the release is for, a `UseCase` or its name.
        name: what the policy is called; else by the data.
        person: the column that names the person, where it is not found.
        purpose: what the data is for, as in "diabetes by age": what that needs is kept, the rest is left out.
        source: what the policy is to say of where the data is; else the path that was given.
        rules: adds edit rules: values that many people have, and nobody together. They name such values.

    Returns:
        The draft: `text` as YAML, `policy` ready for `anonymise`. It has been tried on the table, unless that is large
        or only its profile was given: what it costs stands in its head.
    """
    case = UseCase(choice_from(use_case, map(str, UseCase), "use_case"))
    for argument, given in {"name": name, "person": person, "purpose": purpose}.items():
        if given is not None and not isinstance(given, str):
            raise InputError("has to be text", field=argument)
    if flag_from(rules, "rules") and isinstance(data, Profile):
        raise InputError("are found in a table, and this is its profile", field="rules")
    found = _suggested(data, case, name, source, {"person": person, "purpose": purpose})
    if not rules:
        return found
    if is_place(data) and holds_tables(str(data)):
        raise InputError("is about one table, and there are several", field="rules")
    table = source_from(data, "data")
    with explained(table):
        return with_rules(found, table.scan(), case)


def _suggested(
    data: Data | Profile, case: UseCase, name: str | None, source: object, of_one_table: Mapping[str, str | None]
) -> Suggestion:
    if isinstance(data, str | Path):
        return _suggest_at(str(data), case, name, source, of_one_table)
    found, table = (data, None) if isinstance(data, Profile) else (profile(data), source_from(data, "data"))
    settings = partial(suggest_for, found, name=name or "table", use_case=case, source=source)
    return _tried(partial(settings, **of_one_table), table)


def _suggest_at(
    place: str, case: UseCase, name: str | None, source: object, of_one_table: Mapping[str, str | None]
) -> Suggestion:
    title, here = name or policy_name(place), Path().resolve()
    if holds_tables(place):
        for argument, given in of_one_table.items():
            if given is not None:
                raise InputError("is about one table, and there are several", field=argument)
        return suggest_multi_table(profile_tables_at(place), title, case, here)
    table = profiled(place)
    said = table.source_setting(here) if source is None else source
    draft = partial(suggest_for, table.profile, name=title, use_case=case, source=said)
    return _tried(partial(draft, **of_one_table), table.source)


def _tried(draft: Callable[..., Suggestion], source: Source | None) -> Suggestion:
    if source is None:
        return draft()
    return try_out(draft(), draft, source)


def scan(
    data: Places,
    *,
    threshold: float = THRESHOLD,
    everything: bool = False,
    recognisers: RecogniserSet | None = None,
) -> Scan:
    """Find personal data: what, where, how many, how sure. No value is in the result.

    Args:
        data: a table in memory; or where to look: a file, a folder, a database's address, or a list of them.
        threshold: how sure a finding in text must be, from 0 to 1.
        everything: read large texts whole instead of pieces of them.
        recognisers: what values are recognised by; else those that Shoal comes with.

    Examples:
        >>> import polars as pl
        >>> [one.type for one in scan(pl.DataFrame({"mail": ["a@b.org", "c@d.org"]})).by_type]
        ['email']
    """
    reads = annotate_by(share_from(threshold, "threshold"), recognisers_from(recognisers))
    whole, places = flag_from(everything, "everything"), _places(data)
    if places:
        return scan_places(places, reads, everything=whole, recognisers=recognisers)
    source = source_from(data, "data")
    with explained(source):
        findings, looked = scan_table(source.label, source.scan(), reads, recognisers)
    return Scan(tuple(findings), (looked,), ())


def _places(data: Places) -> list[str]:
    """Where to look; nothing where it is a table itself."""
    if is_place(data):
        return [str(data)]
    if not isinstance(data, list | tuple | set | frozenset):
        return []
    if not data or not all(map(is_place, data)):
        raise InputError("a list has to hold paths or addresses, one at least", field="data")
    return [str(place) for place in data]
