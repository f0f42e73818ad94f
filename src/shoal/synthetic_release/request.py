"""What a synthesis is asked for: the same fields for Python, the command line and whatever else starts one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Protocol

from pydantic import ConfigDict, Field, SkipValidation

from shoal.errors import FieldName, FieldText, InputError
from shoal.io.withdrawn_people import WithdrawnPeople
from shoal.policy.edit_rules import EditRule
from shoal.randomness import Randomness
from shoal.schema.progress import Monitor
from shoal.schema.requests import UseCaseRequest
from shoal.synth.method import FitOptions, SynthesisMethod, synthesis_method
from shoal.synth.table_coding import TableDescription

MOST_ROWS = 10**12
MIXED = ("partial", "hybrid")
"""Methods that change a real table record by record, instead of drawing another."""
_ONLY_DRAWN = ("rows", "epsilon", "delta", "where", "balance", "from_model", "save_model")
_RISKY = FieldName("risky", "5")
_ONLY_OF: Mapping[str, tuple[str, ...]] = {
    "columns": ("partial",),
    "quasi": ("partial",),
    "risky": ("partial",),
    "weight": ("hybrid",),
}


class JudgedRequest(Protocol):
    @property
    def control(self) -> object: ...
    @property
    def require(self) -> Mapping[str, float]: ...
    @property
    def evidence(self) -> bool: ...


def refuse_without_evidence(asked: JudgedRequest) -> None:
    """What only evidence can tell is not asked for without it."""
    if asked.evidence:
        return
    if asked.control is not None:
        raise InputError("there is nothing to compare with it: no evidence is asked for", field="control")
    if asked.require:
        raise InputError("what is required has to be measured", field="require")


class SynthesisRequest(UseCaseRequest):
    """One synthetic table. No error and no ``repr`` shows data.

    >>> SynthesisRequest(method="sequental").chosen
    Traceback (most recent call last):
    shoal.errors.InputError: method: unknown method of synthesis 'sequental'; did you mean 'sequential'?
    """

    model_config = ConfigDict(hide_input_in_errors=True, defer_build=True)

    data: Annotated[Any, SkipValidation] = Field(default=None, repr=False)
    """A ``Source``, a path, or a table in memory; None for methods and models that need none."""
    method: str = "sequential"
    rows: int | None = Field(default=None, ge=1, le=MOST_ROWS)
    """As many as the source has, if nothing is said; by a private model, about as many."""
    epsilon: float | None = None
    delta: float | None = None
    description: Annotated[Any, SkipValidation] = Field(default=None, repr=False)
    """What is known of the columns: the path of a file, its text, a mapping, or what the method takes."""
    where: str | None = None
    """A condition that all records meet."""
    balance: str | None = None
    """A column of which each value is to be equally frequent."""
    edit_rules: tuple[EditRule, ...] = ()
    """What never holds of a record: counted in the source and in what is drawn."""
    targets: tuple[str, ...] = ()
    """Columns that are going to be predicted from the others."""
    rows_per_person: int = Field(default=1, ge=1)
    from_model: Path | None = None
    """A model that was kept: nothing is learnt."""
    save_model: bool = False
    """The model is put beside the data."""
    control: Annotated[Any, SkipValidation] = Field(default=None, repr=False)
    """People who are not in the data, to compare attacks with: then the release itself is attacked."""
    require: Mapping[str, float] = Field(default_factory=dict)
    """By figure or attack, what it may come to at most."""
    evidence: bool = True
    """Whether it is measured how alike the table is, and attacked."""
    seed: int | None = None
    """Makes the draw repeatable: for tests. Noise that protects is never repeated."""
    output: Path | None = None
    """The release folder; none gives a table in memory."""
    force: bool = False
    """Replaces the release that is there."""
    name: str | None = None
    withdrawn: Annotated[WithdrawnPeople | None, SkipValidation] = Field(default=None, repr=False)
    """People from whose records nothing is learnt."""
    columns: tuple[str, ...] = ()
    """Of a partial synthesis, what is drawn; all else stays real."""
    quasi: tuple[str, ...] = ()
    """Of the same, the quasi-identifiers by which records are risky; drawn too where no column is named."""
    risky: int | None = Field(default=None, ge=2)
    """Of the same: only records whose quasi-identifiers fewer than so many people share."""
    weight: float | None = Field(default=None, gt=0, lt=1)
    """Of a hybrid table, the share of the real record; a half if not said."""
    dataset: Annotated[Any, SkipValidation] = Field(default=None, repr=False)
    """A dataset's description: the curator's budget pays, and the data is its own."""
    analyst: str | None = None
    """Whose part of that budget."""
    table: str | None = None
    """Which of the dataset's tables, where it has several."""

    @property
    def is_mixed(self) -> bool:
        """Whether rows are those of real people, partly drawn."""
        return self.method in MIXED

    @property
    def chosen(self) -> SynthesisMethod:
        try:
            return synthesis_method(self.method)
        except InputError as error:
            raise InputError(error.message, field="method") from None

    def refuse_contradictions(self) -> None:
        """What can be known to be wrong before anything is read."""
        refuse_without_evidence(self)
        for name, methods in _ONLY_OF.items():
            if getattr(self, name) and self.method not in methods:
                raise InputError(f"is for the method {' or '.join(methods)}", field=name)
        if self.dataset is not None or self.analyst is not None or self.table is not None:
            self._refuse_with_dataset()
        if self.is_mixed:
            self._refuse_mixed()
            return
        method = self.chosen
        if self.from_model is not None:
            self._refuse_with_model()
            return
        if self.data is None and self.dataset is None and method.needs_data:
            raise InputError(f"'{self.method}' learns from data, and none is named")
        if method.is_private and (self.epsilon is not None or not method.budget_optional):
            self._budget(FitOptions()).private_budget()
        elif self.epsilon is not None or self.delta is not None:
            raise InputError(
                f"'{self.method}' is not differentially private: it can't keep to one",
                field="epsilon" if self.epsilon is not None else "delta",
                advice="leave it out, or choose a private method",
            )

    def _refuse_mixed(self) -> None:
        """There is a row for each of the source, so none can be chosen or added."""
        for name in _ONLY_DRAWN:
            if getattr(self, name):
                raise InputError(f"does not go with '{self.method}', whose rows are those of the source", field=name)
        if any(rule.suppresses for rule in self.edit_rules):
            raise InputError(
                f"on_violation: suppress draws again, and rows of '{self.method}' are those of the source",
                field="edit_rules",
                advice="report or refuse",
            )
        if self.data is None:
            raise InputError(f"'{self.method}' changes a table, and none is named")
        if self.method == "partial" and not (self.columns or self.quasi):
            raise InputError("name the columns that are to be drawn, separated by commas", field="columns")
        if self.quasi and self.risky is None:
            raise InputError("are what makes records risky", field="quasi", advice=FieldText("give ", _RISKY, " too"))

    def _refuse_with_dataset(self) -> None:
        if self.dataset is None:
            raise InputError("goes with a dataset's description", field="table" if self.analyst is None else "analyst")
        if self.data is not None:
            raise InputError("names the data itself: leave the other out", field="dataset")
        if self.is_mixed or not self.chosen.is_private:
            raise InputError(f"pays for private methods only, and '{self.method}' is none", field="dataset")
        if self.from_model is not None:
            raise InputError("a model that was kept costs nothing", field="dataset")
        for name in ("control", "require"):
            if getattr(self, name):
                raise InputError("asks for figures of the real table, which no budget pays for", field=name)

    def _refuse_with_model(self) -> None:
        if self.withdrawn is not None:
            raise InputError("people withdrew, and it may have been learnt from them: learn anew", field="from_model")
        given = {"epsilon": self.epsilon, "delta": self.delta, "description": self.description}
        for name, value in given.items():
            if value is not None:
                raise InputError("is part of the model that is drawn from", field=name)

    def _budget(self, options: FitOptions) -> FitOptions:
        return replace(options, epsilon=self.epsilon, delta=options.delta if self.delta is None else self.delta)

    def fit_options(self, randomness: Randomness, monitor: Monitor) -> FitOptions:
        """What the method is told."""
        told = FitOptions(
            rows_per_person=self.rows_per_person, targets=self.targets, randomness=randomness, monitor=monitor
        )
        told = told if self.description is None else replace(told, description=self.described())
        return self._budget(told)

    def described(self) -> Any:
        """The description as the method takes it."""
        from shoal.synth.description_files import read_description

        kind = TableDescription if self.is_mixed else self.chosen.description_type
        return read_description(self.description, kind)


def default_method(dataset: object) -> str:
    """Where nobody says which: what is closest, or what a budget can pay for."""
    return "sequential" if dataset is None else "marginals"
