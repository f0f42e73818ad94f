"""A policy to start from: a technique for each attribute, by the use case and the kind of attribute (PDPC, annex B).

It runs as it is. Every quasi-identifier can be generalised to ``*``, so k is met wherever there are k people; what says
the same as another attribute is taken out, because it costs detail and gives nothing. Each choice has its reason as a
comment, for a person to agree with or to change.

Of tables that belong together, keys get the same pseudonyms in all of them inside the house. Data that leaves it loses
them, because joined tables say more of a person than k counts in each; unless the tables are asked to stay joinable.

>>> import polars as pl
>>> from shoal.discover.table_profile import profile
>>> table = pl.LazyFrame({"name": ["Asha Rao", "Ravi Nair", "Meera Das"], "age": [34, 41, 37]})
>>> print(suggest(profile(table), name="staff", use_case=UseCase.INTERNAL_ANONYMISED).text.split("attributes:")[1])
<BLANKLINE>
  # a person's name: it hardly ever changes, and everybody knows it
  name: {role: direct, technique: suppress}
  # an age: it can be foreseen for life, and be told by sight
  age: {role: quasi, hierarchy: {intervals: {widths: [5, 10, 20, 40]}}}
<BLANKLINE>
privacy:
  - k_anonymity: {k: 3}      # everybody looks like at least 2 others in age
<BLANKLINE>
solve:
  recoding: local            # each record is generalised as far as it has to be; global is easier to analyse
  suppression_limit: 0.34    # at most this share of the records is starred out because they are too rare
<BLANKLINE>
read_back: {found: suppress} # cells of other columns that would give back what was generalised are starred
shuffle_rows: true           # the order of the records may tell what was generalised
<BLANKLINE>
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from shoal.discover.column_profile import ColumnProfile, Profile
from shoal.discover.recognisers import Setting
from shoal.discover.role_resolution import person_in
from shoal.discover.suggestion.policy_yaml import attribute_lines, comment, comments, setting
from shoal.discover.suggestion.purpose import StatedPurpose, read_purpose
from shoal.discover.suggestion.technique_choice import TechniqueChoice, choose, needed_only, without_quasi
from shoal.discover.table_links import LinkableTable, TableColumn, domains, in_telling_order
from shoal.errors import DataError, FieldName, FieldStyle, FieldText, InputError, styled
from shoal.policy import PRESETS, Policy, UseCase
from shoal.policy.multi_table import EXTERNAL_USE_CASES
from shoal.schema import Role
from shoal.schema.notebook_html import card, listing, preformatted, short
from shoal.schema.registry import did_you_mean

SUPPRESSION_LIMIT = 0.05
MOST_VALUES = 1000
MOST_PROTECTED = 8
"""Sensitive attributes that are asked for at once."""
MANY_AMOUNTS = 10
CLOSE = 0.4
MOST_GROUPS = 6
MINIMISE = FieldText(
    "Say what the data is for with ",
    FieldName("purpose"),
    ": what that does not need is left out, and the rest keeps more detail.",
)
AGGREGATES = "Counts by group instead of records: this line does it, and the levels of privacy and solve still hold."
ALIKE_DIFFER = "those who look alike do not all have the same"
NAMED = 5
"""Quasi-identifiers that are named in a comment; of more, only the number."""


@dataclass(frozen=True)
class Suggestion:
    """A policy of one table, as text; nothing in it is a value of the table."""

    text: str
    choices: Mapping[str, TechniqueChoice]
    person: str | None = None
    notes: tuple[str, ...] = field(default=())
    protectable: tuple[str, ...] = ()
    """Sensitive attributes that l-diversity or t-closeness could be asked for."""

    @property
    def policy(self) -> Policy:
        """The draft as a policy of one table, ready for a run."""
        return Policy.from_text(self.text)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        roles = Counter(str(one.role) for one in self.choices.values())
        return short("Suggestion", "", {role: str(number) for role, number in roles.items()})

    def _repr_html_(self) -> str:
        return card("A policy to start from", {}, preformatted(self.text), listing("Notes", self.notes))


@dataclass(frozen=True)
class PolicyWishes:
    """What a person decided before the draft is made; what is not said goes by the profile and the use case."""

    roles: Mapping[str, Role] = field(default_factory=dict)
    k: int | None = None
    suppression_limit: float | None = None
    hierarchies: Mapping[str, Setting] = field(default_factory=dict)
    """Levels of columns, as a policy names them; they count where the column is a quasi-identifier."""

    def __post_init__(self) -> None:
        if self.k is not None and self.k < 2:
            raise InputError("has to be 2 or more: among one, nobody hides", field="k")
        if self.suppression_limit is not None and not 0 <= self.suppression_limit <= 1:
            raise InputError("what may be suppressed has to be a share between 0 and 1")

    def applied_to(self, profile: Profile) -> Profile:
        """The profile as if it had proposed the roles that were decided."""
        names = tuple(column.name for column in profile.columns)
        for name in (*self.roles, *self.hierarchies):
            if name not in names:
                raise DataError(f"the table has no column '{name}'{did_you_mean(name, names)}")
        return replace(profile, columns=tuple(self._decided(column) for column in profile.columns))

    def _decided(self, column: ColumnProfile) -> ColumnProfile:
        return self._with_levels(self._with_role(column))

    def _with_levels(self, column: ColumnProfile) -> ColumnProfile:
        levels = self.hierarchies.get(column.name)
        if levels is None or column.proposal.role is not Role.QUASI:
            return column
        reasons = (*column.proposal.reasons, "a person chose its levels")
        proposal = replace(column.proposal, hierarchy=levels, technique=None, reasons=reasons)
        return replace(column, proposal=proposal, identifier=None)

    def _with_role(self, column: ColumnProfile) -> ColumnProfile:
        role = self.roles.get(column.name)
        if role is None or role is column.proposal.role:
            return column
        reason = f"a person decided that it is {role}; {column.proposal.role} was proposed"
        keeps_levels = role is Role.QUASI
        hierarchy = column.proposal.hierarchy if keeps_levels else None
        proposal = replace(column.proposal, role=role, reasons=(reason,), technique=None, hierarchy=hierarchy)
        return replace(column, proposal=proposal, identifier=None)


NO_WISHES: Final = PolicyWishes()


@dataclass(frozen=True)
class TablePolicyDraft:
    """One table's part of a policy: what is chosen, and who is counted."""

    profile: Profile
    use_case: UseCase
    person: str | None
    choices: dict[str, TechniqueChoice]
    purpose: StatedPurpose | None = None
    protected: tuple[str, ...] = ()
    """Sensitive attributes of which those who look alike have to differ."""
    further_notes: tuple[str, ...] = ()
    wishes: PolicyWishes = field(default_factory=lambda: NO_WISHES)

    @property
    def k(self) -> int | None:
        """None where the use case asks for none: then nobody's wish for one is heard."""
        preset = PRESETS[self.use_case].k
        return preset if preset is None or self.wishes.k is None else self.wishes.k

    @property
    def protectable(self) -> tuple[str, ...]:
        """Sensitive attributes that are released and have several values, those with the fewest first."""
        spreads = {name: self.profile[name].spread.distinct for name, one in self.choices.items() if _is_kept(one)}
        names = [name for name, distinct in spreads.items() if 2 <= distinct <= MOST_VALUES]
        return tuple(sorted(names, key=lambda name: spreads[name]))[:MOST_PROTECTED]

    @property
    def quasi(self) -> tuple[str, ...]:
        return tuple(name for name, one in self.choices.items() if one.role is Role.QUASI and not one.suppressed)

    @property
    def people(self) -> int:
        return self.profile.rows if self.person is None else self.profile[self.person].spread.distinct

    @property
    def too_few(self) -> bool:
        """Whether nobody could hide, whatever is generalised."""
        return self.k is not None and bool(self.quasi) and self.people < self.k

    def without_quasi(self) -> TablePolicyDraft:
        why = f"with {self.people} people in the table nobody could hide by it"
        return replace(self, choices=without_quasi(self.choices, why))


def suggest(  # noqa: PLR0913  # one argument per part of the policy
    profile: Profile,
    *,
    name: str,
    use_case: UseCase,
    source: object = None,
    person: str | None = None,
    recognisers: Sequence[str] = (),
    purpose: str | None = None,
    protected: Iterable[str] = (),
    notes: Iterable[str] = (),
    wishes: PolicyWishes = NO_WISHES,
) -> Suggestion:
    """A policy for a table of which this is the profile; ``person`` names the person, if that is known.

    ``recognisers`` are files, as the policy names them, that the profile was made with. Of a ``purpose`` such as
    "diabetes by age" only the columns that it names are kept. Those who look alike have to differ in the attributes
    that are ``protected``. ``notes`` are added to its own. ``wishes`` go before what would be chosen.
    """
    wanted = draft_for(wishes.applied_to(profile), use_case=use_case, person=person, purpose=purpose)
    wanted = replace(wanted, protected=tuple(protected), further_notes=tuple(notes), wishes=wishes)
    if wanted.too_few:
        advice = "combine it with other data, or aggregate it"
        raise DataError(f"{use_case} asks for k = {wanted.k}, and there are {wanted.people} people", advice=advice)
    lines = [*_heading(wanted), "shoal: 1", f"name: {setting(name)}", f"use_case: {use_case}"]
    lines += [] if source is None else [f"source: {setting(source)}"]
    lines += [f"recognisers: {setting(list(recognisers))}"] if recognisers else []
    lines += table_lines(wanted)
    protectable = wanted.protectable if wanted.quasi and wanted.k is not None else ()
    text = "\n".join(lines) + "\n"
    return Suggestion(text, wanted.choices, wanted.person, tuple(notes_of(wanted)), protectable)


def draft_for(  # noqa: PLR0913  # one argument per wish
    profile: Profile,
    *,
    use_case: UseCase,
    person: str | None = None,
    keys: Mapping[str, str] | None = None,
    joinable: bool = True,
    purpose: str | None = None,
) -> TablePolicyDraft:
    """What is chosen for a table; ``keys`` are columns that join it with other tables, by domain."""
    names = tuple(column.name for column in profile.columns)
    if person is not None and person not in names:
        raise DataError(f"the table has no column '{person}' that could name the person{did_you_mean(person, names)}")
    if not names:
        raise DataError("the table has no columns")
    found = person or _repeated_person(profile)
    chosen = choose(profile, use_case, found, keys or {}, joinable=joinable)
    if purpose is None:
        return TablePolicyDraft(profile, use_case, found, chosen)
    wanted = read_purpose(purpose, names)
    return TablePolicyDraft(profile, use_case, found, needed_only(chosen, wanted.needs), wanted)


def _repeated_person(profile: Profile) -> str | None:
    """The column that names the person, where somebody has several records."""
    name = person_in(profile.columns)
    if name is None:
        return None
    spread = profile[name].spread
    return name if spread.distinct < spread.values else None


def table_lines(wanted: TablePolicyDraft, indent: str = "") -> list[str]:
    """What a policy says of one table, but for its name and source."""
    lines = []
    if wanted.person is not None:
        lines += [f"person: {setting(wanted.person)}      # k counts people, not records: some have several records"]
    lines += ["", "attributes:", *attribute_lines(wanted.choices), *_aggregate_lines(wanted)]
    k = wanted.k
    if k is not None and wanted.quasi:
        by = ", ".join(wanted.quasi) if len(wanted.quasi) <= NAMED else f"all {len(wanted.quasi)} quasi-identifiers"
        alike = comment(f"everybody looks like at least {k - 1} others in {by}")
        lines += ["", "privacy:", f"  - k_anonymity: {{k: {k}}}      {alike}", *_further(wanted), "", *_solving(wanted)]
    return [f"{indent}{line}" if line else "" for line in lines]


def _aggregate_lines(wanted: TablePolicyDraft) -> list[str]:
    """Counts by group instead of records, as a comment that only has to be uncommented."""
    purpose = wanted.purpose
    if purpose is None or not purpose.aggregates_suffice:
        return []
    by = [name for name in purpose.needs if not wanted.choices[name].suppressed][:MOST_GROUPS]
    counted = setting({"by": by, "measures": {"people": "people" if wanted.person else "count"}, "minimum": 5})
    return ["", comment(AGGREGATES), f"# aggregate: {counted}"] if by else []


def _further(wanted: TablePolicyDraft) -> list[str]:
    """What is asked beyond k; as a comment where it costs more detail than was found to be worth it."""
    if wanted.protected:
        return [f"  - {_model(wanted, name)}      {comment(ALIKE_DIFFER)}" for name in wanted.protected]
    return [f"  # - {_model(wanted, name)}      # those who look alike would differ" for name in wanted.protectable[:1]]


def _model(wanted: TablePolicyDraft, name: str) -> str:
    """t-closeness for amounts, of which a class has many different ones anyway; l-diversity for the rest."""
    one, starred = wanted.profile[name], "suppress_rare" in str(wanted.choices[name].technique)
    if one.column.is_number and one.spread.distinct > MANY_AMOUNTS and not starred:
        return f"t_closeness: {{attribute: {setting(name)}, t: {CLOSE}, distance: ordered}}"
    return f"l_diversity: {{attribute: {setting(name)}, l: 2, kind: distinct}}"


def _is_kept(one: TechniqueChoice) -> bool:
    return one.role is Role.SENSITIVE and not one.suppressed


def _solving(wanted: TablePolicyDraft) -> list[str]:
    """Of a small table, one person who is like nobody else may be starred out too."""
    limit = max(SUPPRESSION_LIMIT, math.ceil(100 / wanted.people) / 100) if wanted.people else SUPPRESSION_LIMIT
    limit = limit if wanted.wishes.suppression_limit is None else wanted.wishes.suppression_limit
    return [
        "solve:",
        "  recoding: local            # each record is generalised as far as it has to be; global is easier to analyse",
        f"  suppression_limit: {limit}    # at most this share of the records is starred out because they are too rare",
        "",
        "read_back: {found: suppress} # cells of other columns that would give back what was generalised are starred",
        "shuffle_rows: true           # the order of the records may tell what was generalised",
    ]


def _heading(wanted: TablePolicyDraft) -> list[str]:
    preset = PRESETS[wanted.use_case]
    lines = [f"# A policy to start from: {preset.title.lower()}. Read each line, and change what is not so."]
    return [*lines, *(line for note in notes_of(wanted) for line in comments(note)), ""]


def notes_of(wanted: TablePolicyDraft) -> list[str]:
    """What a person should know before running it."""
    profile, notes = wanted.profile, [*wanted.further_notes]
    if notes and wanted.purpose is None:
        notes.append(MINIMISE)
    if wanted.purpose is not None and wanted.purpose.aggregates_suffice:
        notes.append(
            f"For '{' '.join(wanted.purpose.text.split())}' counts by group would do, and they give away less than "
            "records (ISO/IEC 20889, 11.3): see the line aggregate."
        )
    if profile.sampled:
        notes.append(f"Forms were looked at in {profile.rows_seen:,} of {profile.rows:,} records.")
    if wanted.person is None and wanted.quasi and person_in(profile.columns) is None:
        notes.append(
            "Every record is taken for one person; if somebody has several, say which column names the person."
        )
    if wanted.person is not None and not wanted.choices[wanted.person].suppressed:
        notes.append("Records of one person stay together under a pseudonym; k does not count what they tell together.")
    gone = {name for name, one in wanted.choices.items() if one.suppressed}
    hidden = {name for name in gone if not wanted.choices[name].redundant}
    told = [one for one in profile.inferences if one.in_table and one.gives in hidden and not set(one.columns) & gone]
    return notes + [f"{_listed(one.columns)} may still tell what '{one.gives}' said: {one.reason}." for one in told]


def _listed(names: tuple[str, ...]) -> str:
    return " and ".join(f"'{name}'" for name in names)


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
    lines = [f"# A policy to start from: {title}. Read each line, and change what is not so."]
    lines += [*(line for note in notes for line in comments(note)), ""]
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
