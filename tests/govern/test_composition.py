"""The composition check: planted attacks are caught, what is safe passes, and nothing leaves without it."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.govern.conftest import AGREEMENT, FORM, Clock, Do, complete_steps, open_project
from tests.results.test_schemas import validator
from tests.support.planted_releases import bands, k_anonymous, write_release

from shoal.assess.composition.composing import compose
from shoal.assess.composition.request import ComposeRequest, HeldRelease
from shoal.assess.composition.shared_files import SharedFile, import_arx, import_file
from shoal.errors import DataError, InputError, IntegrityError
from shoal.govern.composition_check import check_composition, record_composition
from shoal.govern.composition_rules import judged
from shoal.govern.kinds.release import ReleaseState
from shoal.govern.registration import Registration
from shoal.govern.registry import GovernanceRegistry
from shoal.policy import Policy
from shoal.policy.multi_table import MultiTablePolicy, any_from_text
from shoal.release.multi_table.run import MultiTableRun
from shoal.release.request import MultiTableRunRequest, RunRequest
from shoal.release.run import Run
from shoal.results.composition_result import CompositionBasis, CompositionOutcome, CompositionResult
from shoal.schema import Role

QUASI, SENSITIVE = Role.QUASI, Role.SENSITIVE
ILL = ["flu", "gout", "asthma", "none"]
PEOPLE = 1500
UNIQUE = 0.3
"""The share of people whom the planted releases give away together."""


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Fifteen hundred people, whose attributes have nothing to do with each other."""
    draw = np.random.default_rng(20)

    def column(values: list[str]) -> list[str]:
        return draw.choice(values, PEOPLE).tolist()

    frame = pl.DataFrame(
        {
            "id": [str(place) for place in range(PEOPLE)],
            "age": draw.integers(20, 80, PEOPLE),
            "sex": column(["f", "m"]),
            "town": column(["a", "b", "c", "d", "e"]),
            "work": column(["w1", "w2", "w3", "w4", "w5", "w6"]),
            "ill": column(ILL),
        }
    )
    path = tmp_path_factory.mktemp("people") / "people.csv"
    frame.write_csv(path)
    return path


def release(folder: Path, people: Path, age: pl.Expr, *others: str, k: int = 5) -> Path:
    frame = pl.read_csv(people, schema_overrides={"id": pl.String}).select(age, *others, "ill")
    quasi = ["age", *others]
    roles = {**dict.fromkeys(quasi, QUASI), "ill": SENSITIVE}
    return write_release(folder, k_anonymous(frame, quasi, k), roles, kept=others)


def together(new: Path, *earlier: Path, **asked: Any) -> CompositionResult:
    held = [HeldRelease(name=one.name, folder=one) for one in (new, *earlier)]
    return judged(compose(ComposeRequest(release=held[0], earlier=tuple(held[1:]), **{"k": 5, **asked})))


@pytest.mark.requirement("R-08")
@pytest.mark.parametrize("seen", ["original", "alone"])
def test_two_releases_that_are_safe_alone_are_caught(tmp_path: Path, people: Path, seen: str) -> None:
    first = release(tmp_path / "first", people, bands("age", 5), "sex", "town")
    second = release(tmp_path / "second", people, bands("age", 5, 2), "work")
    found = together(second, first, original=str(people) if seen == "original" else "")
    assert found.release.k is not None
    assert min(found.release.k, found.earlier[0].k or 0) >= 5
    assert found.effective_k == 1
    assert float(found.unique) > UNIQUE
    assert found.outcome is CompositionOutcome.BLOCK
    assert found.exact == (seen == "original")
    validator("composition").validate(found.to_dict())
    told = found.to_json()
    assert not any(f'"{word}"' in told for word in (*ILL, "w1", "20-29"))


@pytest.mark.requirement("R-08")
@pytest.mark.parametrize("seen", ["original", "alone"])
def test_three_releases_of_different_columns_are_caught(tmp_path: Path, people: Path, seen: str) -> None:
    made = [release(tmp_path / name, people, bands("age", 30), name) for name in ("sex", "town", "work")]
    original = str(people) if seen == "original" else ""
    three = together(made[2], *made[:2], original=original, k=20)
    assert three.effective_k is not None
    assert three.effective_k < 20
    assert three.outcome is CompositionOutcome.BLOCK
    two = together(made[1], made[0], original=original, k=20)
    assert two.effective_k is not None
    assert two.effective_k > three.effective_k


@pytest.mark.requirement("R-08")
@pytest.mark.parametrize("seen", ["original", "alone"])
def test_a_coarser_release_passes(tmp_path: Path, people: Path, seen: str) -> None:
    first = release(tmp_path / "first", people, bands("age", 20), "sex")
    second = release(tmp_path / "second", people, bands("age", 40, 20), "sex")
    found = together(second, first, original=str(people) if seen == "original" else "")
    assert found.effective_k is not None
    assert found.effective_k >= 5
    assert found.outcome in {CompositionOutcome.PASS, CompositionOutcome.WARN}
    assert float(found.below) == 0


@pytest.mark.requirement("R-08")
def test_the_same_table_a_month_later_is_caught(tmp_path: Path, people: Path) -> None:
    """Two people leave, one comes: by their key it is seen who is alone in what changed."""
    frame = pl.read_csv(people, schema_overrides={"id": pl.String})
    later = pl.concat([frame.filter(~pl.col("id").is_in(["3", "4"])), frame.head(1).with_columns(id=pl.lit("x"))])
    later.write_csv(tmp_path / "later.csv")
    first = release(tmp_path / "first", people, bands("age", 20), "sex")
    second = release(tmp_path / "second", tmp_path / "later.csv", bands("age", 20), "sex")
    held = [
        HeldRelease(name="second", folder=second, original=str(tmp_path / "later.csv")),
        HeldRelease(name="first", folder=first, original=str(people)),
    ]
    found = judged(compose(ComposeRequest(release=held[0], earlier=(held[1],), k=5, person="id")))
    assert found.basis is CompositionBasis.PERSON
    assert found.effective_k == 1
    assert found.joint is not None
    assert (found.joint.unique, found.joint.left_out, found.joint.left_out_below) == (1, 2, 2)
    assert found.outcome is CompositionOutcome.BLOCK


@pytest.mark.requirement("R-08")
def test_pseudonyms_that_both_releases_have_link_them(tmp_path: Path, people: Path) -> None:
    frame = pl.read_csv(people, schema_overrides={"id": pl.String})
    made = []
    for name, quasi in (("one", "town"), ("two", "work")):
        shown = k_anonymous(frame.select("id", quasi), [quasi], 5)
        made.append(write_release(tmp_path / name, shown, {"id": Role.DIRECT, quasi: QUASI}))
    found = together(made[1], made[0], k=200)
    assert found.basis is CompositionBasis.PERSON
    pairs = frame.group_by("town", "work").len()["len"]
    assert found.effective_k == pairs.min()


KEYS = {
    "number": pl.col("id").cast(pl.Int64),
    "zeros": pl.col("id").str.zfill(8),
    "decimal": pl.col("id").cast(pl.Float64),
    "letters": pl.format(" {} ", "id"),
}


@pytest.mark.requirement("R-08")
@pytest.mark.parametrize("written", KEYS)
def test_a_key_that_is_written_otherwise_is_the_same(tmp_path: Path, people: Path, written: str) -> None:
    """As text, number, with zeros before it, in a column of another name: the attack is caught as by values."""
    frame = pl.read_csv(people, schema_overrides={"id": pl.String})
    other = tmp_path / "other.parquet"
    frame.with_columns(KEYS[written].alias("patient")).drop("id").write_parquet(other)
    first = release(tmp_path / "first", people, bands("age", 5), "sex", "town")
    second = release(tmp_path / "second", people, bands("age", 5, 2), "work")
    held = [
        HeldRelease(name="second", folder=second, original=str(people), person="id"),
        HeldRelease(name="first", folder=first, original=str(other), person="patient"),
    ]
    found = judged(compose(ComposeRequest(release=held[0], earlier=(held[1],), k=5)))
    counted = together(second, first, original=str(people))
    assert found.basis is CompositionBasis.PERSON
    assert (found.effective_k, found.unique, found.below) == (counted.effective_k, counted.unique, counted.below)
    assert found.certain == counted.certain != {}
    assert found.outcome is CompositionOutcome.BLOCK


@pytest.mark.requirement("R-08")
def test_keys_that_have_nobody_in_common_do_not_pass(tmp_path: Path, people: Path) -> None:
    frame = pl.read_csv(people, schema_overrides={"id": pl.String})
    frame.with_columns(pl.format("K{}", "id").alias("id")).write_csv(tmp_path / "other.csv")
    made = [release(tmp_path / name, people, bands("age", 20), "sex") for name in ("first", "second")]
    held = [
        HeldRelease(name="second", folder=made[1], original=str(people)),
        HeldRelease(name="first", folder=made[0], original=str(tmp_path / "other.csv")),
    ]
    found = judged(compose(ComposeRequest(release=held[0], earlier=(held[1],), k=5, person="id")))
    assert found.strangers == ("first",)
    assert found.outcome is CompositionOutcome.SECOND_APPROVAL
    validator("composition").validate(found.to_dict())


@pytest.mark.requirement("R-08")
def test_another_table_than_the_original_does_not_pass(tmp_path: Path, people: Path) -> None:
    """Nobody of it would be found in both, so that nothing would be learnt."""
    made = [release(tmp_path / name, people, bands("age", 5, place), "sex") for place, name in enumerate(["a", "b"])]
    frame = pl.read_csv(people)
    frame.with_columns(pl.col("age") + 1000).write_csv(tmp_path / "other.csv")
    with pytest.raises(DataError, match="'b': nobody of the table"):
        together(made[1], made[0], original=str(tmp_path / "other.csv"))
    frame.tail(-1).write_csv(tmp_path / "later.csv")
    found = together(made[1], made[0], original=str(tmp_path / "later.csv"))
    assert found.unfitted == {"a": 1, "b": 1}
    assert "unfitted" in [reason.rule for reason in found.reasons]
    assert not together(made[1], made[0], original=str(people)).unfitted


@pytest.mark.requirement("R-08")
def test_columns_may_have_any_name(tmp_path: Path) -> None:
    frame = pl.DataFrame({"key": [str(place) for place in range(40)]})
    frame = frame.with_columns(pl.lit("a").alias("class"), pl.lit("b").alias("person"))
    frame.write_csv(tmp_path / "people.csv")
    roles = {"key": Role.DIRECT, "class": QUASI, "person": QUASI}
    made = [write_release(tmp_path / name, frame, roles) for name in ("one", "two")]
    assert together(*made).effective_k == 40
    assert together(*made, person="key", original=str(tmp_path / "people.csv")).effective_k == 40


@pytest.mark.requirement("R-08")
def test_an_answer_beside_records_takes_a_second_approval(tmp_path: Path, people: Path) -> None:
    records = HeldRelease(name="records", folder=release(tmp_path / "records", people, bands("age", 20), "sex"))
    answers = [HeldRelease(name=f"a{place}", kind="answer", epsilon=0.5) for place in range(3)]
    found = judged(compose(ComposeRequest(release=answers[0], earlier=(records, *answers[1:]))))
    assert found.epsilon == 1.5
    assert found.outcome is CompositionOutcome.SECOND_APPROVAL
    many = [HeldRelease(name=f"a{place}", kind="answer", epsilon=5.0) for place in range(3)]
    assert judged(compose(ComposeRequest(release=many[0], earlier=tuple(many[1:])))).blocks


def test_what_was_changed_is_refused(tmp_path: Path, people: Path) -> None:
    first = release(tmp_path / "first", people, bands("age", 20), "sex")
    second = release(tmp_path / "second", people, bands("age", 40), "sex")
    with (first / "data.csv").open("a") as file:
        file.write("20-39,f,flu\n")
    with pytest.raises(IntegrityError, match="not what was released"):
        together(second, first)


@pytest.fixture
def project(do: Do, clock: Clock) -> Do:
    open_project(do)
    complete_steps(do)
    do("manager", "request.submit", "R-1", project="hospital", **FORM)
    do("chief-investigator", "request.review", "R-1")
    do("chief-investigator", "request.approve", "R-1")
    do("manager", "request.agree", "R-1", **AGREEMENT)
    return do


@pytest.mark.requirement("R-08", "G-04")
def test_nothing_leaves_before_it_was_looked_at_with_what_is_out(
    tmp_path: Path, people: Path, registry: GovernanceRegistry, project: Do
) -> None:
    do = project
    for name, age, column in (("old", bands("age", 5), "town"), ("new", bands("age", 5, 2), "work")):
        release(tmp_path / name, people, age, column, k=10)
    do("data-manager", "release.enter", "old", project="hospital", folder=str(tmp_path / "old"), recipients=["Office"])
    do("data-manager", "release.enter", "new", project="hospital", folder=str(tmp_path / "new"))
    delivery = {"release": "new", "channel": "package"}
    with pytest.raises(InputError, match="looked at together"):
        do("data-manager", "request.deliver", "R-1", **delivery)
    asked = ComposeRequest(release=HeldRelease(name="new"), original=str(people))
    found = check_composition(registry, "new", asked)
    assert [one.recipients for one in found.earlier] == [("Office",)]
    record_composition(registry, "new", found, by="data-manager")
    state = registry.state("release", "new")
    assert isinstance(state, ReleaseState)
    assert state.composition is not None
    assert state.composition.outcome is CompositionOutcome.BLOCK
    with pytest.raises(InputError, match="tells too much"):
        do("data-manager", "request.deliver", "R-1", **delivery)
    expected = {"release_sha256": state.data_sha256, "outcome": "warn", "basis": "released", "earlier": ["old"]}
    with pytest.raises(InputError, match="the releases alone don't say more"):
        do("data-manager", "release.compose", "new", **expected)


@pytest.mark.requirement("R-08")
def test_what_others_have_is_counted_until_it_is_confirmed_to_be_gone(
    registry: GovernanceRegistry, project: Do, people: Path, tmp_path: Path
) -> None:
    """Neither by taking it back nor by purging its record."""
    do = project
    for name, age in (("first", 20), ("second", 10)):
        folder = release(tmp_path / name, people, bands("age", age), "sex")
        do("data-manager", "release.enter", name, project="hospital", folder=str(folder))
    do("data-manager", "request.deliver", "R-1", release="first", channel="package")
    with pytest.raises(InputError, match="others have it"):
        registry.purge("release", "first", by="data-manager", reason="tidy")
    do("chief-investigator", "release.withdraw", "first", reason="a mistake")
    asked = ComposeRequest(release=HeldRelease(name="second"), original=str(people))

    def looked_at_with() -> list[str]:
        return [one.name for one in check_composition(registry, "second", asked).earlier]

    assert looked_at_with() == ["first"]
    do("manager", "request.expunge", "R-1")
    assert looked_at_with() == ["first"], "they say so themselves"
    do("auditor", "request.confirm", "R-1")
    assert looked_at_with() == []
    registry.purge("release", "first", by="data-manager", reason="its time is over")


@pytest.mark.requirement("G-03", "G-04")
def test_what_was_exchanged_after_it_was_entered_is_not_delivered(project: Do, people: Path, tmp_path: Path) -> None:
    folder = release(tmp_path / "one", people, bands("age", 20), "sex")
    project("data-manager", "release.enter", "one", project="hospital", folder=str(folder))
    kept = (folder / "data.csv").read_bytes()
    (folder / "data.csv").write_bytes(kept.replace(b"flu", b"none"))
    with pytest.raises(IntegrityError, match="not what was entered"):
        project("data-manager", "request.deliver", "R-1", release="one", channel="package")
    (folder / "data.csv").write_bytes(kept)
    project("data-manager", "request.deliver", "R-1", release="one", channel="package")


def test_a_second_approval_is_somebody_elses(do: Do, clock: Clock) -> None:
    open_project(do)
    do("data-manager", "release.enter", "a", project="hospital", kind="answer", epsilon=1.0)
    given = {"outcome": "second-approval", "basis": "released", "exact": False}
    do("statistician", "release.compose", "a", **given)
    with pytest.raises(InputError, match="somebody else"):
        do("data-manager", "release.approve-composition", "a", reason="needed")
    do("chief-investigator", "release.approve-composition", "a", reason="needed")


POLICY = """
shoal: 1
name: by town
source: {source}
attributes:
  age: {{role: quasi, hierarchy: {{intervals: {{widths: [20, 40]}}}}}}
  town: {{role: quasi}}
  ill: {{role: sensitive}}
  "*": suppress
privacy: [{{k_anonymity: {{k: 5}}}}]
"""


@pytest.mark.requirement("G-04")
def test_a_run_of_a_project_enters_itself_or_is_not_released(
    tmp_path: Path, people: Path, registry: GovernanceRegistry, do: Do, file_place: str
) -> None:
    open_project(do)
    policy = Policy.from_text(POLICY.format(source=people))
    where = Registration(file_place, "hospital", "data-manager", "q1", ("Office",))
    made = where.run(Run(RunRequest(policy=policy, output=tmp_path / "q1", seed=1)))
    state = registry.state("release", "q1")
    assert isinstance(state, ReleaseState)
    assert (state.status, state.data_sha256, state.place) == (
        "entered",
        made.manifest.data.sha256,
        str(tmp_path / "q1"),
    )
    assert (state.policy_sha256, state.recipients) == (made.manifest.policy_sha256, ("Office",))
    assert [entry.act for entry in registry.history("release", "q1")] == ["announce", "settle"]
    for refused in (
        Registration(file_place, "hospital", "data-manager", "q1"),
        Registration(file_place, "hospital", "seeker", "q2"),
        Registration(file_place, "nothing", "data-manager", "q3"),
    ):
        with pytest.raises(InputError):
            refused.run(Run(RunRequest(policy=policy, output=tmp_path / "q2", seed=1)))
        assert not (tmp_path / "q2").exists()


SEVERAL = """
shoal: 1
name: ward
tables:
  patients:
    source: {folder}/patients.csv
    attributes:
      age: {{role: quasi, hierarchy: {{intervals: {{widths: [20, 200]}}}}}}
      "*": suppress
    privacy: [{{k_anonymity: {{k: 2}}}}]
  beds:
    source: {folder}/beds.csv
    attributes:
      ward: {{role: insensitive}}
      "*": suppress
"""


@pytest.mark.requirement("G-04")
def test_each_of_several_tables_enters_itself_or_none_is_released(
    tmp_path: Path, registry: GovernanceRegistry, do: Do, file_place: str
) -> None:
    open_project(do)
    pl.DataFrame({"age": [20 + one % 40 for one in range(80)]}).write_csv(tmp_path / "patients.csv")
    pl.DataFrame({"ward": ["north", "south"] * 20}).write_csv(tmp_path / "beds.csv")
    policy = any_from_text(SEVERAL.format(folder=tmp_path))
    assert isinstance(policy, MultiTablePolicy)
    where = Registration(file_place, "hospital", "data-manager", "q1")
    made = where.run_tables(MultiTableRun(MultiTableRunRequest(policy=policy, output=tmp_path / "q1", seed=1)))
    for table, one in made.releases.items():
        state = registry.state("release", f"q1-{table}")
        assert isinstance(state, ReleaseState)
        assert (state.status, state.data_sha256) == ("entered", one.manifest.data.sha256)
        assert state.place == str(tmp_path / "q1" / table)
    do("data-manager", "release.announce", "q2-beds", project="hospital")
    with pytest.raises(InputError):
        replace(where, identifier="q2").run_tables(
            MultiTableRun(MultiTableRunRequest(policy=policy, output=tmp_path / "q2", seed=1))
        )
    assert not (tmp_path / "q2").exists()
    assert registry.state("release", "q2-patients").status == "void"


@pytest.mark.requirement("G-04")
def test_what_was_announced_and_then_killed_is_settled_by_looking(
    tmp_path: Path, people: Path, registry: GovernanceRegistry, do: Do, file_place: str
) -> None:
    open_project(do)
    folder = release(tmp_path / "done", people, bands("age", 20), "sex")
    sha256 = json.loads((folder / "release.json").read_text())["data"]["sha256"]
    for name, place in (("done", folder), ("lost", tmp_path / "lost")):
        told = {"project": "hospital", "data_sha256": sha256, "announced_for": str(place)}
        do("data-manager", "release.announce", name, **told)
    with pytest.raises(InputError, match="announced"):
        do("data-manager", "release.enter", "other", project="hospital", folder=str(folder))
        check_composition(registry, "other", ComposeRequest(release=HeldRelease(name="other")))
    assert do("data-manager", "release.settle", "done").status == "entered"
    assert do("data-manager", "release.settle", "lost").status == "void"


@pytest.mark.requirement("G-04")
def test_an_old_file_is_counted(tmp_path: Path, people: Path) -> None:
    frame = pl.read_csv(people).select(bands("age", 10), "sex", "town", "ill")
    shared = k_anonymous(frame, ["age", "sex", "town"], 5)
    shared.write_csv(tmp_path / "shared.csv")
    roles = {"age": QUASI, "sex": QUASI, "town": QUASI, "ill": SENSITIVE}
    import_file(str(tmp_path / "shared.csv"), tmp_path / "imported", SharedFile(roles))
    second = release(tmp_path / "second", people, bands("age", 10, 5), "work")
    assert together(second, tmp_path / "imported").blocks
    with pytest.raises(InputError, match="no column"):
        import_file(str(tmp_path / "shared.csv"), tmp_path / "x", SharedFile({"agge": QUASI}))
    assert not (tmp_path / "x").exists()


ARX_DEFINITION = """<definition>
 <assigment><name>work</name><type>QUASI_IDENTIFYING_ATTRIBUTE</type><ref>hierarchies/work.csv</ref></assigment>
 <assigment><name>ill</name><type>SENSITIVE_ATTRIBUTE</type></assigment>
</definition>"""


@pytest.mark.requirement("G-04")
def test_a_project_of_arx_is_counted(tmp_path: Path, people: Path) -> None:
    frame = pl.read_csv(people).select(pl.col("work").replace({"w1": "W", "w2": "W"}), "ill")
    project = tmp_path / "study.deid"
    with zipfile.ZipFile(project, "w") as archive:
        archive.writestr("data/output.csv", frame.write_csv(separator=";"))
        archive.writestr("output/definition.xml", ARX_DEFINITION)
        levels = "\n".join(f"{work};{'W' if work < 'w3' else work};*" for work in ("w1", "w2", "w3", "w4", "w5", "w6"))
        archive.writestr("output/hierarchies/work.csv", levels)
    made = import_arx(project, tmp_path / "arx")
    assert made.roles == {"work": QUASI, "ill": SENSITIVE}
    second = release(tmp_path / "second", people, bands("age", 10, 5), "work")
    found = together(second, tmp_path / "arx", original=str(people))
    assert found.pairs[0].by == ("work", "ill")
    assert found.unread == {}
    (tmp_path / "broken.deid").write_text("no archive")
    with pytest.raises(InputError, match="no project of ARX"):
        import_arx(tmp_path / "broken.deid", tmp_path / "y")
