"""A policy to start from for tables that belong together.

Inside the house keys get the same pseudonyms in all tables. Data that leaves it loses them, because joined tables say
more of a person than k counts in each; unless the tables are asked to stay joinable.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from shoal.discover.suggestion.one_table import Suggestion, TablePolicyDraft, draft_for, notes_of, table_lines
from shoal.discover.suggestion.policy_yaml import comment, setting
from shoal.discover.table_links import LinkableTable, TableColumn, domains, in_telling_order
from shoal.errors import DataError, FieldName, FieldStyle, FieldText, styled
from shoal.policy import PRESETS, UseCase
from shoal.policy.multi_table import EXTERNAL_USE_CASES

ASKED = (
    "Joined by their keys, the tables have to have the k that each of them has, or the run stops.",
    "It can be accepted that they don't, with a reason that the report shows:",
)
IN_ORDER = "the order of its records could tell which are of one person, as the keys did"


def suggest_tables(  # noqa: PLR0913  # one argument per part of the policy
    tables: Mapping[str, LinkableTable],
    *,
    name: str,
    use_case: UseCase,
    sources: Mapping[str, object],
    source: object = None,
    constrained: Iterable[tuple[TableColumn, TableColumn]] = (),
    keep_joinable: bool = False,
    style: FieldStyle = FieldName.keyword,
) -> Suggestion:
    """A policy of several tables. ``source`` is the database of all; ``sources`` says where each one is otherwise.

    Comments of the policy name inputs in the given style.
    """
    if not tables:
        raise DataError("there are no tables to suggest a policy for")
    joined = domains(tables, constrained)
    joinable = keep_joinable or use_case not in EXTERNAL_USE_CASES
    wanted = {key: _drafts(table, use_case, joined[key], joinable=joinable) for key, table in tables.items()}
    notes = [styled(note, style) for note in _notes(wanted, joined, joinable=joinable)]
    title = PRESETS[use_case].title.lower()
    lines = [f"# A policy to start from: {title}. Read each line, and change what is not so.", *map(comment, notes), ""]
    lines += ["shoal: 1", f"name: {setting(name)}", f"use_case: {use_case}"]
    lines += [] if source is None else [f"source: {setting(source)}"]
    if any(joined.values()) and joinable and use_case in EXTERNAL_USE_CASES:
        lines += ["", *map(comment, ASKED), '# joined: {accept: "who gets the tables, and why that is safe"}']
    lines += ["", "tables:"]
    shuffled = () if joinable else in_telling_order(tables, joined)
    for key, one in wanted.items():
        lines += [f"  {setting(key)}:"]
        if key in shuffled and not one.quasi:
            lines += [f"    shuffle_rows: true      {comment(IN_ORDER)}"]
        lines += [f"    source: {setting(sources[key])}"] if key in sources else []
        lines += [*table_lines(one, "    "), ""]
    choices = {f"{key}.{column}": choice for key, one in wanted.items() for column, choice in one.choices.items()}
    return Suggestion("\n".join(lines), choices, None, tuple(notes))


def _drafts(table: LinkableTable, use_case: UseCase, keys: Mapping[str, str], *, joinable: bool) -> TablePolicyDraft:
    wanted = draft_for(table.profile, use_case=use_case, keys=keys, joinable=joinable)
    return wanted.without_quasi() if wanted.too_few else wanted


def _notes(
    wanted: Mapping[str, TablePolicyDraft], joined: Mapping[str, Mapping[str, str]], *, joinable: bool
) -> list[str]:
    notes = [f"{key}: {note}" for key, one in wanted.items() for note in notes_of(one)]
    keys = ", ".join(f"{table}.{column}" for table, columns in joined.items() for column in columns)
    if keys and joinable:
        notes.append(
            "Who joins the tables by their pseudonyms learns more of a person than k counts; "
            "if nobody has to, suppress the keys."
        )
    elif keys:
        notes.append(
            FieldText(
                f"The tables could be joined by {keys}: as keys they are taken out, because together the tables say "
                "more of a person than each alone. ",
                FieldName("keep_joinable"),
                " keeps them as pseudonyms.",
            )
        )
    return notes
