"""Whether a release can have been made from an original: what is refused, what is doubted, what never is either."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shoal.assess.comparison import compatibility
from shoal.assess.comparison.compatibility import ReleaseProvenance, count_columns, require_compatible
from shoal.errors import DataError
from shoal.policy import Policy
from shoal.policy.treatment import Treatment, treatments
from shoal.release.run import anonymise

pytestmark = pytest.mark.requirement("R-04")

SHY = "Zyxwvut"
NAMED = ("age", "sex", "job", "ill")
TREE = {"Indoors": ["cook", "clerk", "nurse"], "Outdoors": ["mason", "farmer"]}
JOBS = [job for group in TREE.values() for job in group]


def people(size: int = 300, first: int = 0) -> pl.DataFrame:
    """Others than those of another ``first``, of the same population."""
    frame = pl.DataFrame({"place": range(first, first + size)})
    draw = {name: pl.col("place").hash(seed) for seed, name in enumerate("abcdefgh", start=1)}
    return frame.select(
        name=pl.format("{} {}", pl.lit(SHY), "place"),
        age=(20 + draw["a"] % 61).cast(pl.Int64),
        sex=pl.when(draw["b"] % 2 == 0).then(pl.lit("F")).otherwise(pl.lit("M")),
        job=pl.lit(pl.Series(JOBS)).gather(draw["c"] % len(JOBS)),
        zip=(411000 + draw["d"] % 90).cast(pl.String),
        seen=pl.format("2025-{}-{}", 10 + draw["e"] % 3, 10 + draw["f"] % 18),
        ill=pl.format("ill {}", draw["g"] % 6),
        pay=1000.0 + draw["h"] % 411,
        height=(150 + draw["h"] % 40).cast(pl.Int64),
    )


ATTRIBUTES: dict[str, Any] = {
    "name": {"role": "direct", "technique": "suppress"},
    "age": {"role": "quasi", "hierarchy": {"intervals": {"widths": [5, 20]}}},
    "sex": {"role": "quasi"},
    "job": {"role": "quasi", "hierarchy": {"taxonomy": {"tree": TREE}}},
    "zip": {"role": "direct", "technique": "suppress"},
    "seen": {"role": "insensitive"},
    "ill": {"role": "sensitive"},
    "pay": {"role": "insensitive", "technique": {"noise": {"gaussian": {"sd": 50}}}},
    "height": {"role": "insensitive"},
}


def policy(attributes: dict[str, Any] | None = None, **more: Any) -> Policy:
    told = {
        "shoal": 1,
        "name": "belonging",
        "attributes": ATTRIBUTES | (attributes or {}),
        "privacy": [{"k_anonymity": {"k": 3}}],
        "solve": {"suppression_limit": 1.0},
    }
    return Policy.from_text(yaml.safe_dump(told | more))


def released(original: pl.DataFrame, by: Policy) -> pl.DataFrame:
    made = anonymise(original, by, seed=5).data
    assert isinstance(made, pl.DataFrame)
    return made


def doubts(original: pl.DataFrame, release: pl.DataFrame, making: ReleaseProvenance) -> tuple[str, ...]:
    return require_compatible(original.lazy(), release.lazy(), making, NAMED)


def refusal(original: pl.DataFrame, release: pl.DataFrame, making: ReleaseProvenance) -> str:
    with pytest.raises(DataError) as refused:
        doubts(original, release, making)
    assert SHY not in str(refused.value)
    return str(refused.value)


def test_what_becomes_of_each_column() -> None:
    by = policy(
        {
            "sex": {"role": "quasi", "technique": {"permute": {"with": ["job"], "within": ["ill"]}}},
            "zip": {"role": "quasi", "technique": {"mask": {"keep_first": 3}}},
            "seen": {
                "role": "insensitive",
                "technique": {"generalise": {"hierarchy": {"dates": ["month"]}, "output": "random"}},
            },
        }
    )
    assert {name: str(kind) for name, kind in treatments(by).items()} == {
        "age": "generalised",
        "sex": "altered",
        "job": "altered",
        "zip": "replaced",
        "seen": "altered",
        "ill": "kept",
        "pay": "altered",
        "height": "kept",
    }
    summed = policy(aggregate={"by": ["sex"]}, privacy=[], solve={})
    assert set(treatments(summed).values()) == {Treatment.REPLACED}


@pytest.mark.parametrize("by_manifest", [False, True])
def test_strangers_with_the_same_columns_are_refused(by_manifest: bool) -> None:
    by = policy()
    making = ReleaseProvenance(treatments(by)) if by_manifest else ReleaseProvenance.of(by)
    release = released(people(), by)
    assert doubts(people(), release, making) == ()
    says = refusal(people(first=1000), release, making)
    assert "by 'seen', 'ill', 'height', left as it was in the release: the tables can't belong together" in says
    assert "the tables can't belong together" in refusal(people(900, 1000), release.sample(100, seed=1), making)


def test_columns_that_fit_alone_and_not_together() -> None:
    """The same illnesses and heights, of other people."""
    by = policy()
    turned = people().with_columns(pl.col("height").reverse())
    assert "can't belong together" in refusal(turned, released(people(), by), ReleaseProvenance.of(by))


@pytest.mark.parametrize(
    "other",
    [
        {"age": pl.col("age") + 200},
        {"sex": pl.col("sex").replace_strict({"F": "Female", "M": "Male"})},
        {"job": pl.lit("astronaut")},
        {"job": pl.lit("mason")},
    ],
    ids=["other ages", "other words", "a value that no hierarchy has", "one value of many"],
)
def test_labels_that_the_original_does_not_have(other: dict[str, pl.Expr]) -> None:
    by = policy(solve={"recoding": "local", "suppression_limit": 1.0})
    release = released(people(), by)
    says = refusal(people().with_columns(**other), release, ReleaseProvenance.of(by))
    assert f"by '{next(iter(other))}', generalised at most in the release" in says


def test_what_is_not_known_is_doubted_and_not_refused() -> None:
    release = people().drop("name", "seen", "height").with_columns(age=pl.lit("20-80"))
    assert doubts(people(), release, ReleaseProvenance()) == ()
    (uneven,) = doubts(people(first=1000), release, ReleaseProvenance())
    assert "have some values of 'sex', 'job', 'ill'; unless these were altered" in uneven
    starred = release.with_columns(sex=pl.when(pl.int_range(pl.len()) < 100).then(pl.lit("*")).otherwise("sex"))
    (uneven,) = doubts(people(first=1000), starred.drop("job"), ReleaseProvenance())
    assert "some values of 'ill'; unless" in uneven
    words = release.with_columns(pl.col("sex").replace_strict({"F": "Female", "M": "Male"}))
    (foreign,) = doubts(people(), words, ReleaseProvenance())
    assert foreign.startswith("column 'sex': nothing in the release can be read as a value of the original")
    altered = release.with_columns(pl.col("job").shuffle(seed=1), ill=pl.lit("ill 1"))
    assert doubts(people(), altered, ReleaseProvenance()) == ()
    strange = people().select(age=pl.col("age") + 500, sex=pl.lit("x"), job=pl.lit(5))
    assert refusal(people(), strange, ReleaseProvenance()).startswith(
        "the original and the release have no value in common"
    )


def test_records_of_which_there_are_too_many() -> None:
    assert "they can't belong together" in refusal(people(), pl.concat([people()] * 3), ReleaseProvenance())
    assert doubts(people(), pl.concat([people()] * 3), ReleaseProvenance(decoys=600)) == ()
    assert "no column in common" in refusal(people(), pl.DataFrame({"shoe": [41]}), ReleaseProvenance())


def beyond(original: pl.LazyFrame, released: pl.LazyFrame, names: list[str], rows: int) -> int:
    return count_columns(original, released, names, (), rows).beyond()


def test_large_tables_are_compared_by_the_same_part_of_both(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compatibility, "MOST_ROWS", 50)
    frame, names = people(), ["height", "pay"]
    assert beyond(frame.lazy(), frame.sample(fraction=0.5, shuffle=True, seed=1).lazy(), names, 300) == 0
    found = beyond(people(first=7000).lazy(), frame.lazy(), names, 300)
    assert 10 < found < 100
    assert beyond(frame.lazy(), pl.concat([frame, frame]).lazy(), names, 600) > 0


def test_other_storage_is_no_other_value() -> None:
    frame = people().select("height", "pay", "ill")
    stored = frame.with_columns(pl.col("height").cast(pl.Int16), pl.col("pay").cast(pl.Float32))
    assert beyond(frame.lazy(), stored.lazy(), frame.columns, 300) == 0
    texts = frame.with_columns(pl.col("height").cast(pl.String) + " cm")
    assert beyond(frame.lazy(), texts.lazy(), ["height"], 300) == 0


TECHNIQUES: dict[str, list[object]] = {
    "name": ["suppress", "pseudonymise", {"mask": {"keep_last": 2}}, {"mask": {"keep_first": 1}}],
    "age": [
        {"noise": {"laplace": {"scale": 2}}},
        {"round": {"base": 10}},
        {"round": {"base": 10, "method": "random"}},
        {"microaggregate": {"k": 3}},
        {"permute": {"rank": 0.2}},
        {"code": {"top": 70, "bottom": 25}},
    ],
    "sex": [{"pram": {"keep": 0.7}}, {"permute": {"with": ["job"]}}],
    "job": [{"pram": {"keep": 0.8, "invariant": True}}, {"permute": {"derange": True}}],
    "zip": [{"mask": {"keep_first": 3}}, {"pram": {"keep": 0.5}}],
    "seen": [
        {"noise": {"days": 5}},
        *(
            {"generalise": {"hierarchy": {"dates": ["month"]}, "output": how}}
            for how in ("range", "midpoint", "random")
        ),
    ],
    "ill": [{"pram": {"keep": 0.9}}, {"microaggregate": {"k": 4}}],
    "pay": [
        {"noise": {"gaussian": {"sd": 30}}},
        {"noise": {"correlated": {"with": ["height"], "share": 0.1}}},
        {"microaggregate": {"k": 5, "with": ["height"]}},
        {"combine": {"into": "per_cm", "expression": "pay / height", "decimals": 1}},
        {"round": {"base": 50}},
    ],
}
QUASI: dict[str, Any] = {
    "zip": {"role": "quasi", "hierarchy": "redact"},
    "seen": {"role": "quasi", "hierarchy": "dates"},
    "pay": {"role": "insensitive"},
}
WHOLE: list[dict[str, Any]] = [
    {},
    {"sample": {"fraction": 0.6}, "shuffle_rows": True},
    {"suppress_records": {"where": "age > 60"}},
    {"sample": {"fraction": 0.5, "within": ["sex"]}},
]
RECODINGS = ["global", "local", "cells", "rare", "clustered"]


def doing(chosen: dict[str, object], recoding: str, whole: dict[str, Any], *, dropped: bool = False) -> Policy:
    """A policy with these techniques, and nothing done to the other columns but to generalise them."""
    attributes = {}
    for name, technique in chosen.items():
        attributes[name] = {**(ATTRIBUTES | QUASI)[name], "technique": technique}
        if "generalise" in str(technique):
            attributes[name] = {"role": "insensitive", "technique": technique}
    if "combine" in str(chosen):
        attributes["per_cm"] = {"role": "insensitive"}
    solve = {"recoding": recoding, "suppression_limit": 1.0, "drop_suppressed": dropped}
    return policy(QUASI | attributes, solve=solve, **whole)


def belongs(folder: Path, original: pl.DataFrame, by: Policy) -> None:
    """With all that is known, a part of it, or nothing of it; also when read from files."""
    release = released(original, by)
    original.write_csv(folder / "original.csv")
    release.write_csv(folder / "release.csv")
    read = (pl.read_csv(folder / f"{which}.csv") for which in ("original", "release"))
    assert doubts(original, release, ReleaseProvenance.of(by)) == ()
    assert doubts(*read, ReleaseProvenance.of(by)) == ()  # type: ignore[arg-type, call-arg]
    require_compatible(original.lazy(), release.lazy(), ReleaseProvenance(), ())


@pytest.mark.parametrize("place", range(max(len(each) for each in TECHNIQUES.values())))
def test_every_technique_leaves_a_release_that_belongs(tmp_path: Path, place: int) -> None:
    """One technique on each column at once, until all have had their turn."""
    chosen = {name: several[place % len(several)] for name, several in TECHNIQUES.items()}
    belongs(tmp_path, people(90), doing(chosen, "global", {}))


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_every_release_belongs_to_its_original(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    names = data.draw(st.sets(st.sampled_from(sorted(TECHNIQUES)), max_size=3))
    chosen = {name: data.draw(st.sampled_from(TECHNIQUES[name])) for name in sorted(names)}
    whole, recoding = data.draw(st.sampled_from(WHOLE)), data.draw(st.sampled_from(RECODINGS))
    original = people(90, data.draw(st.integers(0, 50)))
    if data.draw(st.booleans()):
        there = pl.int_range(pl.len()) % 11 != 0
        original = original.with_columns(pl.when(there).then(pl.col(name)).alias(name) for name in ("job", "ill"))
    by = doing(chosen, recoding, whole, dropped=data.draw(st.booleans()))
    belongs(tmp_path_factory.mktemp("files"), original, by)


@pytest.mark.parametrize("place", range(len(RECODINGS)))
def test_every_way_to_solve_leaves_a_release_that_belongs(tmp_path: Path, place: int) -> None:
    """Also with a hierarchy that depends on how many there are, and on a part of the records."""
    rare = {"job": {"role": "quasi", "hierarchy": {"rare": 20}}}
    by = doing({}, RECODINGS[place], WHOLE[place % len(WHOLE)])
    belongs(tmp_path, people(90), by.model_copy(update={"attributes": policy(rare | QUASI).attributes}))


def test_invented_records_are_allowed_for() -> None:
    few = policy({"seen": {"role": "direct"}, "height": {"role": "direct"}, "pay": {"role": "direct"}})
    solve = few.solve.model_validate({"suppression_limit": 0.5, "decoys": {"limit": 0.5}})
    by = few.model_copy(update={"solve": solve})
    release = released(people(), by)
    assert release.height > 300
    assert doubts(people(), release, ReleaseProvenance.of(by)) == ()
    assert "can't belong" in refusal(people(), release, ReleaseProvenance(treatments(by)))
    assert doubts(people(), release, ReleaseProvenance(treatments(by), decoys=release.height - 300)) == ()
