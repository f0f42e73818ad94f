"""What a run is asked for: the same fields for Python, the command line and whatever else starts runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import ConfigDict, Field, SkipValidation

from shoal.assess.evidence.study import EvidenceStudy, study_for
from shoal.engine import Engine
from shoal.io import ReaderOptions, Source
from shoal.io.withdrawn_people import WithdrawnPeople
from shoal.plan.hidden_columns.earlier_class import EarlierClasses
from shoal.policy import Policy
from shoal.policy.multi_table import MultiTablePolicy
from shoal.pseudonyms import Secrets
from shoal.release.membership import MembershipTarget
from shoal.schema.requests import UseCaseRequest


class RunOptions(UseCaseRequest):
    """What runs of one table and of several have in common. No error and no ``repr`` shows data."""

    model_config = ConfigDict(hide_input_in_errors=True, defer_build=True)

    output: Path | None = None
    """The folder of the release; named after the policy if none is given."""
    force: bool = False
    """Replaces the release that is there."""
    engine: Annotated[str | Engine[Any], SkipValidation] = "polars"
    master: str | None = None
    """Where Spark runs."""
    parts: bool | None = None
    """Whether the data is a folder of parts; else the policy says it."""
    seed: int | None = None
    """Makes the run repeatable: for tests."""
    evidence: bool = False
    """The release is attacked and compared with the original; some use cases demand it in any case."""
    pdf: bool = False
    """The reports as PDF too."""
    secrets: Annotated[Secrets | None, SkipValidation] = Field(default=None, repr=False)
    """A vault, whose pseudonyms and keys last; without one they are of this run only."""
    withdrawn: Annotated[WithdrawnPeople | None, SkipValidation] = Field(default=None, repr=False)
    """People whose records are left out before anything is counted."""

    def for_table(  # noqa: PLR0913  # what a run of one table may be asked for
        self,
        policy: Policy,
        data: object = None,
        *,
        source: Source | None = None,
        control: object = None,
        explore: bool = False,
        earlier: EarlierClasses | None = None,
        members: MembershipTarget | None = None,
    ) -> RunRequest:
        """A request with these options."""
        further = {"data": data, "source": source, "control": control, "explore": explore, "earlier": earlier}
        return RunRequest(**dict(self), policy=policy, members=members, **further)

    def for_tables(
        self, policy: MultiTablePolicy, data: Path | None = None, reader: ReaderOptions | None = None
    ) -> MultiTableRunRequest:
        """A request with these options."""
        return MultiTableRunRequest(**dict(self), policy=policy, data=data, reader=reader)


class RunRequest(RunOptions):
    """A run of one table.

    >>> policy = Policy.from_text("shoal: 1\\nname: staff\\nattributes: {age: {role: insensitive}}")
    >>> RunRequest(policy=policy, data="staff.csv").folder
    PosixPath('staff-release')
    """

    policy: Annotated[Policy, SkipValidation] = Field(repr=False)
    data: Annotated[Any, SkipValidation] = Field(default=None, repr=False)
    """A path, or a table in memory or on a cluster; what the policy says if None."""
    source: Annotated[Source | None, SkipValidation] = Field(default=None, repr=False)
    """The same, where it has been opened already."""
    control: Annotated[Any, SkipValidation] = Field(default=None, repr=False)
    """People who are not in the data, to compare attacks with (a Polars frame); goes with evidence in any case."""
    explore: bool = False
    """What privacy costs is tried out, and shown in the report."""
    earlier: Annotated[EarlierClasses | None, SkipValidation] = Field(default=None, repr=False)
    """Who is in which classes of earlier releases: the models then hold with these in view (``earlier_classes``)."""
    members: Annotated[MembershipTarget | None, SkipValidation] = Field(default=None, repr=False)
    """Where the owner keeps who is in the release, for later runs to have it in view."""
    shared: Path | None = None
    """Of a Spark frame: the folder for the result, which all machines of the cluster see."""

    @property
    def folder(self) -> Path:
        return self.output or Path(f"{self.policy.name}-release")

    def study(self) -> EvidenceStudy | None:
        """What the full evidence needs, where it is asked for or the use case demands it."""
        asked = self.evidence or self.control is not None
        return study_for(self.policy, EvidenceStudy(self.control) if asked else None)


class MultiTableRunRequest(RunOptions):
    """A run of several tables that belong together."""

    policy: Annotated[MultiTablePolicy, SkipValidation] = Field(repr=False)
    data: Path | None = None
    """The folder that relative paths of sources are taken from, instead of the policy's."""
    reader: ReaderOptions | None = None
    """How their files are to be read, before what the policy says."""

    @property
    def folder(self) -> Path:
        return self.output or Path(f"{self.policy.name}-release")
