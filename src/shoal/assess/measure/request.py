"""What is asked of a table that is to be measured."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import Field, SkipValidation

from shoal.assess.measure.linear_sensitivity import parse_rule
from shoal.assess.measure.options import AssessmentOptions
from shoal.assess.measure.thresholds import FigureThreshold
from shoal.errors import FieldName, FieldText, InputError
from shoal.io import Source
from shoal.measurement.risk.linear_sensitivity import SensitivityRule
from shoal.policy import Policy, UseCase
from shoal.privacy import PrivacyModel
from shoal.results.release_folder import ReleaseFolder, names_in
from shoal.schema import Role
from shoal.schema.requests import UseCaseRequest


class MeasureRequest(UseCaseRequest):
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...] = ()
    person: str | None = None
    by_records: bool = False
    """Whether records are to be counted although somebody may have several."""
    policy: Policy | None = None
    """Its models are measured too, and its hierarchies say what labels stand for."""
    require: tuple[FigureThreshold, ...] = ()
    rules: tuple[SensitivityRule, ...] = ()
    """Of linear sensitivity, for sums of the sensitive numbers."""
    population: str | SkipValidation[Source] | None = None
    """Where a table of the population lies; else the policy may say."""
    options: AssessmentOptions = Field(default_factory=AssessmentOptions)

    @property
    def models(self) -> tuple[PrivacyModel, ...]:
        return () if self.policy is None else self.policy.models

    @classmethod
    def parse(  # noqa: PLR0913  # one argument per option of `shoal measure`
        cls,
        *,
        policy: Path | None = None,
        quasi: str | None = None,
        sensitive: str | None = None,
        person: str | None = None,
        by_records: bool = False,
        require: Sequence[str] = (),
        rules: Sequence[str] = (),
        population: str | Source | None = None,
        options: AssessmentOptions | None = None,
        release: ReleaseFolder | None = None,
    ) -> MeasureRequest:
        """From text: names separated by commas, ``k=5`` for what is required, ``dominance=1,0.8`` for a rule.

        Where neither a policy nor quasi-identifiers are named, a release knows its own.
        """
        asked = {
            "require": tuple(FigureThreshold.parse(text) for text in require),
            "rules": tuple(dict.fromkeys(parse_rule(text) for text in rules)),
            "population": population,
            "by_records": by_records,
        }
        known = _roles_of(release) if policy is None and quasi is None else {}
        if not known:
            _need_quasi(policy, quasi)
        if by_records and person is not None:
            raise InputError(
                FieldText("counts records, ", FieldName("person"), " counts people: give one of them"),
                field="by_records",
            )
        if policy is not None:
            return cls.by_policy(Policy.load(policy), names_in(sensitive), person, options).model_copy(update=asked)
        options = options or AssessmentOptions()
        options.need_harm()
        attributes = known.get(Role.QUASI) or names_in(quasi)
        wanted = names_in(sensitive) or known.get(Role.SENSITIVE, ())
        return cls(quasi=attributes, sensitive=wanted, person=person, options=options, **asked)

    @classmethod
    def by_policy(
        cls,
        policy: Policy,
        sensitive: tuple[str, ...] = (),
        person: str | None = None,
        options: AssessmentOptions | None = None,
    ) -> MeasureRequest:
        """What a policy says of its table, and what is asked besides."""
        listed = tuple(dict.fromkeys((*(sensitive or policy.with_role(Role.SENSITIVE)), *policy.modelled)))
        within = (options or AssessmentOptions()).within(policy.assess)
        within = within.model_copy(update={"public": policy.use_case is UseCase.PUBLIC})
        within.need_harm()
        return cls(
            quasi=policy.quasi_identifiers,
            sensitive=listed,
            person=person or policy.person,
            policy=policy,
            options=within,
        )


def _roles_of(release: ReleaseFolder | None) -> dict[Role, tuple[str, ...]]:
    """What the manifest says; nothing where it names no quasi-identifier."""
    manifest = None if release is None else release.manifest
    quasi = () if manifest is None else manifest.with_role(Role.QUASI)
    if manifest is None or not quasi:
        return {}
    return {Role.QUASI: quasi, Role.SENSITIVE: manifest.with_role(Role.SENSITIVE)}


def _need_quasi(policy: Path | None, quasi: str | None) -> None:
    if (policy is None) == (quasi is None):
        raise InputError(
            FieldText(
                "say which attributes are quasi-identifiers: either ",
                FieldName("policy", "POLICY"),
                " or ",
                FieldName("quasi", "a,b,c"),
            )
        )
    if quasi is not None and not names_in(quasi):
        raise InputError(FieldText(FieldName("quasi"), " names no column"))
