"""What the user wants, as frozen models: the YAML of a policy file, one field per key."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, PrivateAttr, model_validator

from shoal.io import SourceOptions, TargetOptions, parse_target
from shoal.policy.assessment import Assess
from shoal.policy.choices import OneHierarchy, OneModel, TableTechniques, TechniqueList
from shoal.policy.default_attribute import EVERYTHING_ELSE
from shoal.policy.differential_privacy import guarantee_of, with_sampling
from shoal.policy.edit_rules import EditRule
from shoal.policy.load import policy_from_text, read_given, read_policy
from shoal.policy.presets import PRESETS, Preset, UseCase
from shoal.policy.read_back_rules import ReadBackRules
from shoal.policy.release_kind import ReleaseKind
from shoal.policy.source_mapping import MergeOptions, parse_policy_source
from shoal.privacy import PrivacyModel
from shoal.privacy.models.k_anonymity import KAnonymity
from shoal.privacy.sampling_guarantee import SamplingGuarantee
from shoal.schema import Column, Role, ValueType
from shoal.schema.parameters import Parameters
from shoal.techniques import TableTechnique, Technique, table_techniques
from shoal.techniques.suppression.suppress import Suppress
from shoal.techniques.synthetic.decoys import Decoys


def _without_password(place: str) -> str:
    if re.search(r"://[^/@]*:[^/]*@", place):
        raise ValueError("a password doesn't stand in a policy; leave it to PGPASSWORD or a .pgpass file")
    return place


def _one_line(text: str) -> str:
    if not text.isprintable():
        raise ValueError("one line of text, without line breaks")
    return text


OneLine = Annotated[str, Field(min_length=3, max_length=300), AfterValidator(_one_line)]


class Attribute(Parameters):
    """One column: its role, what is done to it, how it may be generalised."""

    role: Role
    technique: TechniqueList = ()
    hierarchy: OneHierarchy | None = None
    type: ValueType | None = Field(default=None, description="Declares the value type instead of having it found.")
    format: str | None = Field(default=None, description="strftime pattern of dates that are stored as text.")
    weight: float = Field(default=1.0, gt=0, description="How much its loss counts against the others'.")
    because: str | None = Field(
        default=None,
        min_length=3,
        max_length=500,
        description="Why its role is weaker than that of what it is made of.",
    )

    @model_validator(mode="before")
    @classmethod
    def _shorthand(cls, value: object) -> object:
        return {"role": Role.DIRECT, "technique": "suppress"} if value == "suppress" else value

    @property
    def steps(self) -> tuple[Technique, ...]:
        """What is done to it before anything is solved. A direct identifier with nothing said is suppressed."""
        return (Suppress(),) if self.role is Role.DIRECT and not self.technique else self.technique

    @property
    def is_suppressed(self) -> bool:
        return any(isinstance(step, Suppress) for step in self.steps)

    @property
    def is_released(self) -> bool:
        """Whether its column is in the released table, in whatever form."""
        return not any(step.removes for step in self.steps)

    def declared(self, name: str) -> Column | None:
        """The column as the policy declares it, where it does."""
        if self.type is None and self.format is None:
            return None
        kind = self.type or (ValueType.DATETIME if "%H" in str(self.format) else ValueType.DATE)
        return Column(name, kind, date_format=self.format)


class Solve(Parameters):
    """How the privacy models are to be reached."""

    recoding: Literal["global", "local", "cells", "rare", "clustered"] = Field(
        default="global",
        description="global: one level per attribute; local: levels differ between classes; cells: single cells are "
        "suppressed; rare: only rare combinations are generalised; clustered: sorted, clustered in two passes.",
    )
    starred: Literal["value", "wildcard"] = Field(
        default="value",
        description="How a suppressed cell counts with recoding: cells. value: as a value of its own; wildcard: as one "
        "that matches anything, which takes fewer stars and protects less.",
    )
    suppression_limit: float = Field(default=0.0, ge=0, le=1, description="Share of records that may be suppressed.")
    utility: Literal[
        "loss", "geometric_loss", "precision", "discernibility", "average_class_size", "entropy", "ambiguity"
    ] = Field(default="loss", description="What is minimised.")
    time_limit: float | None = Field(
        default=None,
        gt=0,
        description="Seconds of work after which the best solution so far is taken, and said to be that; 600 without.",
    )
    levels: dict[str, Annotated[tuple[int, int], BeforeValidator(lambda v: (v, v) if isinstance(v, int) else v)]] = (
        Field(default_factory=dict, description="Bounds on the level per attribute.")
    )
    decoys: Decoys | None = Field(
        default=None, description="Fill classes up with invented records instead of suppressing them."
    )
    drop_suppressed: bool = Field(default=False, description="Leave suppressed records out instead of starring them.")


class Output(Parameters):
    """How the data lie in the release folder."""

    parts: bool = Field(
        default=False,
        description="As a folder of parts, data.parquet/part-00000.parquet and so on, instead of one file.",
    )
    escape_formulas: bool = Field(
        default=False,
        description="In CSV, an apostrophe before cells that a spreadsheet would run: =, @, a sign without a number.",
    )


class Policy(Parameters):
    """A whole policy. ``Policy.load`` reads a file and reports every problem at once."""

    shoal: Literal[1]
    name: str = Field(pattern=r"^[\w][\w .-]{0,99}$")
    use_case: UseCase | None = None
    purpose: OneLine | None = Field(default=None, description="What the release is for, in words; reports show it.")
    responsible: OneLine | None = Field(
        default=None, description="Who answers for the release: a person or an office; reports show it."
    )
    source: (
        Annotated[
            SourceOptions | MergeOptions,
            BeforeValidator(parse_policy_source, json_schema_input_type=str | SourceOptions | MergeOptions),
        ]
        | None
    ) = None
    target: (
        Annotated[TargetOptions, BeforeValidator(parse_target, json_schema_input_type=str | TargetOptions)] | None
    ) = None
    output: Output = Field(default_factory=Output)
    vault: Annotated[str, AfterValidator(_without_password)] | None = Field(
        default=None, min_length=1, description="Where lasting keys and pseudonyms come from: a file, or postgresql://…"
    )
    recognisers: Annotated[tuple[str, ...], BeforeValidator(lambda v: (v,) if isinstance(v, str) else v)] = Field(
        default=(), description="Files of recognisers of one's own, used beside those that come with Shoal."
    )
    shred_on: date | None = Field(
        default=None, description="When keys and mappings that lead back to people are to be destroyed."
    )
    person: str | None = None
    attributes: dict[str, Attribute] = Field(min_length=1)
    privacy: tuple[OneModel, ...] = ()
    solve: Solve = Field(default_factory=Solve)
    read_back: ReadBackRules = Field(default_factory=ReadBackRules)
    assess: Assess = Field(default_factory=Assess)
    rules: tuple[EditRule, ...] = Field(default=(), description="What never holds of a record, looked at afterwards.")
    table: TableTechniques = Field(default_factory=TableTechniques)

    _text: str = PrivateAttr(default="")
    _folder: Path = PrivateAttr(default_factory=Path)

    @model_validator(mode="before")
    @classmethod
    def _gather_table_techniques(cls, value: object) -> object:
        """Table techniques stand beside ``attributes`` in the file and together in the model."""
        if not isinstance(value, Mapping) or "table" in value:
            return value
        table = {key: value[key] for key in table_techniques.names() if key in value and value[key] is not False}
        rest = {key: given for key, given in value.items() if key not in table_techniques.names()}
        return {**rest, "table": table}

    @classmethod
    def of(cls, given: object) -> Self:
        """A policy as a caller has it: one that was read, the path of its file, its text, or a mapping.

        >>> Policy.of({"shoal": 1, "name": "staff", "attributes": {"age": {"role": "insensitive"}}})
        <Policy staff: 1 insensitive>
        """
        return given if isinstance(given, cls) else read_given(given, cls.from_text)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """The policy in a file; a PolicyError has all that is wrong with it, by line."""
        path = Path(path)
        return cls.from_text(read_policy(path), source=str(path), folder=path.parent)

    @classmethod
    def from_text(cls, text: str, *, source: str = "policy", folder: Path | None = None) -> Self:
        """The policy in a YAML text; ``source`` is what errors call it, ``folder`` where its relative paths begin."""
        return policy_from_text(cls, text, source=source, folder=folder or Path())

    def placed(self, text: str, folder: Path) -> Self:
        self._text, self._folder = text, folder
        return self

    def __repr__(self) -> str:
        """Short, and without what may be a secret, as the address of a source."""
        roles = Counter(str(attribute.role) for attribute in self.attributes.values())
        asked = [f"{model.key} {model.required:g}" for model in self.models]
        return f"<Policy {self.name}: {', '.join([*(f'{number} {role}' for role, number in roles.items()), *asked])}>"

    @property
    def text(self) -> str:
        """The policy as it was written (what its checksum is taken of)."""
        return self._text or self.model_dump_json(exclude={"source", "target"})

    @property
    def recogniser_files(self) -> tuple[Path, ...]:
        return tuple(self.folder / Path(path).expanduser() for path in self.recognisers)

    @property
    def folder(self) -> Path:
        """Relative paths in the policy are relative to this folder."""
        return self._folder

    @property
    def preset(self) -> Preset | None:
        return PRESETS[self.use_case] if self.use_case else None

    @property
    def models(self) -> tuple[PrivacyModel, ...]:
        """The privacy models to reach: those of the policy, else the use case's k."""
        if self.privacy or not self.preset or self.preset.k is None or not self.quasi_identifiers:
            return self.privacy
        return (KAnonymity(k=self.preset.k),)

    @property
    def required_k(self) -> int:
        """The k that has to hold by all quasi-identifiers; 1 where none is asked for."""
        return max((model.k for model in self.models if isinstance(model, KAnonymity) and model.plain), default=1)

    @property
    def modelled(self) -> tuple[str, ...]:
        """The sensitive attributes that the privacy models look at."""
        return tuple(dict.fromkeys(name for model in self.models for name in model.sensitive))

    @property
    def population(self) -> str | None:
        """The table of the population, where a privacy model compares with one."""
        return next((model.population_table for model in self.models if model.population_table is not None), None)

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        return self.with_role(Role.QUASI)

    def with_role(self, role: Role) -> tuple[str, ...]:
        return tuple(
            name
            for name, attribute in self.attributes.items()
            if attribute.role is role and name != EVERYTHING_ELSE and attribute.is_released
        )

    @property
    def kind(self) -> ReleaseKind:
        """What kind of release comes of it."""
        left = all(technique.leaves_records for technique in self.table_steps.values())
        return ReleaseKind.RECORDS if left else ReleaseKind.AGGREGATE

    @property
    def table_steps(self) -> dict[str, TableTechnique]:
        """Those of the policy, and those that differential privacy brings along."""
        chosen = {key: getattr(self.table, key) for key in table_techniques.names()}
        own = {key: technique for key, technique in chosen.items() if technique is not None}
        return own if self.guarantee is None else with_sampling(own, self.guarantee)

    @property
    def guarantee(self) -> SamplingGuarantee | None:
        """What the release is to be made by, where differential privacy is asked for."""
        return guarantee_of(self.models)

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """JSON Schema for editors, in the shape of the file."""
        schema = cls.model_json_schema()
        table = schema["$defs"].pop("TableTechniques")
        schema["properties"].pop("table")
        schema["properties"].update(table["properties"])
        schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
        return schema
