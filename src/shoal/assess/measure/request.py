"""What is asked of a table that is to be measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from shoal.assess.comparison.compatibility import ReleaseProvenance
from shoal.assess.comparison.counting_unit import DeclaredPeople
from shoal.assess.measure.linear_sensitivity import parse_rule
from shoal.assess.measure.risk_assessment import AssessmentOptions
from shoal.assess.measure.thresholds import FigureThreshold
from shoal.errors import FieldName, FieldText, InputError
from shoal.measurement.read_back import ReadBack
from shoal.measurement.risk.linear_sensitivity import SensitivityRule
from shoal.policy import Policy, UseCase
from shoal.privacy import PrivacyModel
from shoal.results.record_counts import RecordCounts
from shoal.results.release_folder import names_in
from shoal.schema import Role


@dataclass(frozen=True)
class MeasureRequest:
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...] = ()
    person: str | None = None
    models: tuple[PrivacyModel, ...] = ()
    require: tuple[FigureThreshold, ...] = ()
    policy: Policy | None = None
    wanted: AssessmentOptions = field(default_factory=AssessmentOptions)
    rules: tuple[SensitivityRule, ...] = ()
    """Of linear sensitivity, for sums of the sensitive numbers."""
    making: ReleaseProvenance = field(default_factory=ReleaseProvenance)
    """How the table was made, where it is a release."""
    population: str | None = None
    """Where a table of the population lies; else the policy may say."""
    told: DeclaredPeople | None = None
    """What the manifest says of people, where the table is a release."""
    records: RecordCounts | None = None
    """What the manifest says of the source's records, where the table is a release."""
    by_records: bool = False
    """Whether records are to be counted although somebody may have several."""
    read_back: ReadBack | None = None
    """What the manifest says that other columns tell, where the table is a release."""

    @classmethod
    def of(  # noqa: PLR0913  # one argument per option of `shoal measure`
        cls,
        *,
        policy: Path | None,
        qi: str | None,
        sensitive: str | None = None,
        person: str | None = None,
        require: Sequence[str] = (),
        wanted: AssessmentOptions | None = None,
        rules: Sequence[str] = (),
        population: str | None = None,
        by_records: bool = False,
    ) -> MeasureRequest:
        thresholds = tuple(FigureThreshold.parse(text) for text in require)
        judged = tuple(dict.fromkeys(parse_rule(text) for text in rules))
        if (policy is None) == (qi is None):
            raise InputError(
                FieldText(
                    "say which attributes are quasi-identifiers: either ",
                    FieldName("policy", "POLICY"),
                    " or ",
                    FieldName("quasi", "a,b,c"),
                )
            )
        if qi is not None and not names_in(qi):
            raise InputError(FieldText(FieldName("quasi"), " names no column"))
        if by_records and person is not None:
            raise InputError(
                FieldText("counts records, ", FieldName("person"), " counts people: give one of them"),
                field="by_records",
            )
        wanted = wanted or AssessmentOptions()
        if policy is None:
            wanted.need_harm()
            found = cls(names_in(qi), names_in(sensitive), person, (), thresholds, None, wanted, judged)
            return replace(found, population=population, by_records=by_records)
        found = cls.by(Policy.load(policy), sensitive, person, thresholds, wanted, judged)
        return replace(found, population=population, by_records=by_records)

    @classmethod
    def by(  # noqa: PLR0913, PLR0917  # what is asked besides
        cls,
        chosen: Policy,
        sensitive: str | None = None,
        person: str | None = None,
        thresholds: tuple[FigureThreshold, ...] = (),
        wanted: AssessmentOptions | None = None,
        rules: tuple[SensitivityRule, ...] = (),
    ) -> MeasureRequest:
        """What a policy says of its table, and what is asked besides."""
        listed = tuple(dict.fromkeys((*(names_in(sensitive) or chosen.with_role(Role.SENSITIVE)), *chosen.modelled)))
        wanted = replace(
            (wanted or AssessmentOptions()).within(chosen.assess), public=chosen.use_case is UseCase.PUBLIC
        )
        wanted.need_harm()
        quasi, person = chosen.quasi_identifiers, person or chosen.person
        return cls(quasi, listed, person, chosen.models, thresholds, chosen, wanted, rules)
