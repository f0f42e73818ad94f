"""Scrubbing of remarks inside a table: within one run, counted by type in the report."""

from __future__ import annotations

import pickle

import polars as pl
import pytest
from pydantic import ValidationError
from tests.text.known_forms import annotator

import shoal
from shoal.errors import DataError, InputError
from shoal.plan.text_scrubbers import ScrubberFactory
from shoal.pseudonyms.run_secrets import RehearsalSecrets, RunSecrets
from shoal.randomness import Randomness
from shoal.schema import ROW, Column, Counts
from shoal.techniques import Context
from shoal.techniques.free_text.scrub import Scrub, ScrubStep

pytestmark = pytest.mark.requirement("X-08")

REMARKS = ["Asha Rao called, mail a@b.in", "nothing", None, "Rao again", "nothing", "Asha Rao called, mail a@b.in"]


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.scrub.scrubber.standard_annotator", lambda *_, **__: annotator())


def table(values, dtype=pl.String) -> pl.DataFrame:
    column = pl.Series("remark", values, dtype=dtype)
    return pl.DataFrame([column, pl.Series(ROW, range(len(column)), dtype=pl.UInt64)])


def bound(values, *, secrets=None, dtype=pl.String, **parameters) -> ScrubStep:
    technique = Scrub.model_validate(parameters)
    counted = table(values, dtype).group_by("remark").len("records")
    secrets = secrets or RunSecrets(Randomness(1))
    context = Context(
        {},
        Randomness(1).stream("scrub"),
        {("remark",): Counts.from_frame(counted, ("remark",), "records")},
        secrets=secrets,
        scrubber=ScrubberFactory(secrets),
    )
    return technique.bind(Column("remark"), context)


def scrubbed(values, **choices) -> list[str | None]:
    return bound(values, **choices).apply(table(values, choices.get("dtype", pl.String)))["remark"].to_list()


def test_labels_in_every_record_and_missing_stays_missing():
    once = "[PERSON] called, mail [EMAIL]"
    assert scrubbed(REMARKS) == [once, "nothing", None, "[PERSON] again", "nothing", once]


def test_masks_and_types():
    assert scrubbed(["Asha Rao, a@b.in"], replace="mask", char="#") == ["########, ######"]
    assert scrubbed(["Asha Rao, a@b.in"], types=["email"]) == ["Asha Rao, [EMAIL]"]
    assert scrubbed(["Asha Rao"], replace="mask", keep_length=False) == ["*****"]


def test_stand_ins_are_the_same_in_every_record_of_the_domain():
    first, other = scrubbed(["Asha Rao is here", "here is Asha Rao"], replace="pseudonym")
    assert first is not None
    assert other is not None
    assert first.removesuffix(" is here") == other.removeprefix("here is ")


def test_what_was_found_is_told_by_type_over_all_records():
    assert bound(REMARKS).report_note == "found 2 email + 3 person in 3 records"
    assert bound(["nothing", None]).report_note == "found nothing"
    assert bound(["Rao"], replace="pseudonym").report_note.endswith("stand-ins are of this run only")
    assert "run only" not in bound(["Rao"], replace="pseudonym", secrets=RehearsalSecrets(Randomness(1))).report_note


@pytest.mark.parametrize("values", [[], [None, None], ["Rao"]])
def test_small_columns(values):
    assert len(scrubbed(values)) == len(values)


def test_numbers_are_read_as_text():
    assert scrubbed([234567890124, None, 5], dtype=pl.Int64) == ["[AADHAAR]", None, "5"]


def test_a_value_that_was_not_counted_is_refused_without_being_shown():
    with pytest.raises(DataError, match="column 'remark'") as raised:
        bound(["Rao"]).apply(table(["Lim"]))
    assert "Lim" not in str(raised.value)


def test_the_step_travels():
    step = pickle.loads(pickle.dumps(bound(REMARKS, replace="pseudonym")))  # noqa: S301
    assert step.apply(table(REMARKS))["remark"].to_list() == scrubbed(REMARKS, replace="pseudonym")


@pytest.mark.parametrize(
    "wrong",
    [
        {"char": "#"}, {"keep_length": False}, {"domain": "a"}, {"replace": "mask", "char": "  "}, {"types": []},
        {"replace": "hide"}, {"replace": "pseudonym", "domain": "Ä"}, {"dates": "x"},
    ],
)  # fmt: skip
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(ValidationError):
        Scrub.model_validate(wrong)


def test_an_unknown_type_is_named():
    with pytest.raises(InputError, match="did you mean 'email'"):
        bound(["Rao"], types=["emial"])


POLICY = """
shoal: 1
name: visits
attributes:
  name: {role: direct, technique: suppress}
  age: {role: quasi, hierarchy: {intervals: {widths: [10, 20]}}}
  remark: {role: sensitive, technique: {scrub: {replace: %s}}}
privacy: [{k_anonymity: {k: 2}}]
"""


@pytest.mark.parametrize("engine_batches", [1, 40])
def test_remarks_inside_a_run(engine_batches, tmp_path):
    visits = pl.DataFrame(
        {
            "name": ["Asha Rao", "Ravi Lim", "Zoë Phang", "Asha Lim"] * engine_batches,
            "age": [31, 34, 52, 57] * engine_batches,
            "remark": ["Asha Rao came", None, "mail to a@b.in", "Rao is late"] * engine_batches,
        }
    )
    (tmp_path / "visits.csv").write_text(visits.write_csv(), encoding="utf-8")
    policy = shoal.Policy.from_text(POLICY % "label")
    release = shoal.anonymise(tmp_path / "visits.csv", policy, output=tmp_path / "release", seed=1)
    data = pl.read_csv(tmp_path / "release" / "data.csv")
    assert sorted(data["remark"].drop_nulls().unique()) == ["[PERSON] came", "[PERSON] is late", "mail to [EMAIL]"]
    assert data["remark"].null_count() == engine_batches
    assert release.risk.k >= 2
    page = (tmp_path / "release" / "report.html").read_text(encoding="utf-8")
    times = engine_batches
    assert f"found {times} email + {2 * times} person in {3 * times} records" in page
    everything = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "release").glob("*.*"))
    assert "Asha" not in everything
    assert "a@b.in" not in everything


def test_with_lasting_secrets_stand_ins_last():
    visits = pl.DataFrame({"name": ["a", "b"], "age": [31, 32], "remark": ["Asha Rao came", "x"]})
    policy = shoal.Policy.from_text(POLICY % "pseudonym")
    secrets = RehearsalSecrets(Randomness(5))
    one, other, strange = (
        shoal.anonymise(visits, policy, vault=vault).data["remark"].to_list() for vault in (secrets, secrets, None)
    )
    assert one == other
    assert one != strange
