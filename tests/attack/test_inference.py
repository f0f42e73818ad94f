"""Inference of a sensitive value from tables whose truth is known."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.attack.attacks import learned_inference as learned_module
from shoal.attack.attacks.inference import homogeneity, skewness
from shoal.attack.attacks.learned_inference import learned
from shoal.attack.ground_truth.targets import TrialDesign
from shoal.attack.matching import posteriors
from shoal.errors import DataError, InputError
from shoal.randomness import Randomness

pytestmark = pytest.mark.requirement("R-04")

SEED = Randomness(seed=11)


def classes(*diagnoses: str) -> pl.DataFrame:
    """One class for each text, one record for each letter; ages 10, 20, … are released as they are."""
    rows = [(10 * (place + 1), letter) for place, letters in enumerate(diagnoses) for letter in letters]
    return pl.DataFrame(rows, schema=["age", "diagnosis"], orient="row")


def banded(frame: pl.DataFrame) -> pl.DataFrame:
    decade = pl.col("age") // 10 * 10
    return frame.with_columns(pl.format("{}-{}", decade, decade + 9).alias("age"))


# Homogeneity


def test_people_in_classes_that_agree_are_known() -> None:
    table = classes("aaaa", "abcd", "bbbb", "aabb")
    attack = homogeneity(banded(table), table, ["age"], "diagnosis", TrialDesign(SEED))
    assert (attack.success.right, attack.success.trials) == (8, 16)
    assert attack.details == {"claims": 0.5, "precision": 1.0, "unread": 0.0}
    # Seven have a and seven b: by lot, half of the claimed are guessed.
    assert attack.baseline.right == 4


def test_less_than_certainty_is_enough_for_a_bold_attacker() -> None:
    table = classes("aaab", "abcd", "ccdd")
    attack = homogeneity(banded(table), table, ["age"], "diagnosis", TrialDesign(SEED), confidence=0.75)
    assert attack.success.right == 3 and attack.details == {"claims": 4 / 12, "precision": 0.75, "unread": 0.0}
    bolder = homogeneity(banded(table), table, ["age"], "diagnosis", TrialDesign(SEED), confidence=0.5)
    assert bolder.success.right == pytest.approx(3 + 2)
    assert homogeneity(banded(table), table, ["age"], "diagnosis", TrialDesign(SEED)).success.right == 0


def test_a_cell_that_could_be_anything_stands_in_the_way_of_certainty() -> None:
    table = classes("aaaa", "bbbb")
    hidden = banded(table).with_columns(diagnosis=pl.Series(["a", "a", "a", "*", "b", "b", "b", "b"]))
    attack = homogeneity(hidden, table, ["age"], "diagnosis", TrialDesign(SEED))
    assert attack.success.right == 4
    assert homogeneity(hidden, table, ["age"], "diagnosis", TrialDesign(SEED), confidence=0.7).success.right == 8
    starred = banded(table).with_columns(diagnosis=pl.lit("*"))
    assert homogeneity(starred, table, ["age"], "diagnosis", TrialDesign(SEED)).success.right == 0


def test_words_that_nobody_can_read_are_counted() -> None:
    table = classes("aaaa", "bbbb")
    worded = banded(table).with_columns(diagnosis=pl.Series(["lungs"] * 4 + ["heart"] * 4))
    attack = homogeneity(worded, table, ["age"], "diagnosis", TrialDesign(SEED))
    assert attack.details == {"claims": 0.0, "precision": 0.0, "unread": 2.0}
    known = {"diagnosis": pl.DataFrame({"value": ["a", "b"], "organ": ["lungs", "heart"]})}
    assert homogeneity(worded, table, ["age"], "diagnosis", TrialDesign(SEED), known=known).success.share == 1.0


def test_a_released_group_that_covers_the_value_is_a_claim() -> None:
    table = classes("ab", "cd")
    coarse = banded(table).with_columns(diagnosis=pl.Series(["{a, b}", "{a, b}", "{c, d}", "{c, d}"]))
    attack = homogeneity(coarse, table, ["age"], "diagnosis", TrialDesign(SEED))
    assert attack.success.share == 1.0 and attack.baseline.share == 0.5


def test_strangers_show_what_is_knowledge_of_the_population() -> None:
    table = classes("a" * 50, "b" * 50)
    strangers = classes("a" * 20, "b" * 20)
    attack = homogeneity(banded(table), table, ["age"], "diagnosis", TrialDesign(SEED, control=strangers))
    assert attack.success.share == 1.0 and attack.control is not None and attack.control.share == 1.0
    assert attack.risk == 0.0 and not attack.found
    others = classes("b" * 20, "a" * 20, "a" * 10)
    attack = homogeneity(banded(table), table, ["age"], "diagnosis", TrialDesign(SEED, control=others))
    assert attack.control is not None and (attack.control.right, attack.control.trials) == (0, 50)
    assert attack.found


# Skewness and similarity


def test_the_commonest_value_of_the_class_is_guessed() -> None:
    table = classes("aaab", "bbbc", "cccc")
    attack = skewness(banded(table), table, ["age"], "diagnosis", TrialDesign(SEED))
    assert attack.success.right == 3 + 3 + 4
    assert attack.baseline.right == 5
    assert attack.details == {"gain": pytest.approx(1 - 5 / 12), "unread": 0.0}


def test_a_table_that_tells_nothing_more_is_no_gain() -> None:
    table = classes("aaab", "aaab", "aaab")
    attack = skewness(banded(table), table, ["age"], "diagnosis", TrialDesign(SEED))
    assert attack.success == attack.baseline and attack.details == {"gain": 0.0, "unread": 0.0}
    starred = table.with_columns(age=pl.lit("*"))
    assert skewness(starred, table, ["age"], "diagnosis", TrialDesign(SEED)).success == attack.success


def test_whom_no_record_fits_gets_the_commonest_value() -> None:
    table = classes("aab", "bbb")
    strangers = pl.DataFrame({"age": [90, 90, 10], "diagnosis": ["b", "a", "a"]})
    attack = skewness(table, table, ["age"], "diagnosis", TrialDesign(SEED, control=strangers))
    assert attack.control is not None and attack.control.right == 2


def salaries(*groups: list[int]) -> pl.DataFrame:
    rows = [(10 * (place + 1), value) for place, group in enumerate(groups) for value in group]
    return pl.DataFrame(rows, schema=["age", "salary"], orient="row")


def test_numbers_that_lie_close_together_are_nearly_known() -> None:
    table = salaries([3_000, 3_100, 3_200], [3_000, 8_000, 13_000], [9_000, 9_400, 9_501])
    attack = skewness(banded(table), table, ["age"], "salary", TrialDesign(SEED))
    # A range of 10 000: within 500 in the first class only; in the third it is one too much.
    assert attack.details is not None and attack.details["similar"] == pytest.approx(3 / 9)


def test_nobody_is_nearly_known_where_a_cell_is_hidden() -> None:
    table = salaries([3_000, 3_100, 3_200], [9_000, 9_400, 13_000], [5_000, 5_100, 5_200])
    hidden = banded(table).with_columns(
        salary=pl.Series(["3000", "3100", "*", "9000", "*", "13000", "5000", "5100", "5200"])
    )
    attack = skewness(hidden, table, ["age"], "salary", TrialDesign(SEED))
    assert attack.details is not None and attack.details["similar"] == pytest.approx(3 / 9)


def test_values_of_one_group_are_similar() -> None:
    table = classes("abab", "abcd")
    known = {"diagnosis": pl.DataFrame({"value": list("abcd"), "organ": ["s", "s", "t", "t"]})}
    attack = skewness(banded(table), table, ["age"], "diagnosis", TrialDesign(SEED), known=known)
    assert attack.details is not None and attack.details["similar"] == 0.5


# Both, against a slow account of the same


TABLES = st.lists(st.tuples(st.integers(10, 39), st.sampled_from("abc")), min_size=1, max_size=12)


@settings(max_examples=40)
@given(TABLES, TABLES, st.sampled_from([0.4, 0.6, 1.0]))
def test_expectations_agree_with_going_through_people(
    rows: list[tuple[int, str]], asked: list[tuple[int, str]], confidence: float
) -> None:
    release = banded(pl.DataFrame(rows, schema=["age", "diagnosis"], orient="row"))
    people = pl.DataFrame(asked, schema=["age", "diagnosis"], orient="row")
    letters = [letter for _, letter in rows]
    claimed = guessed = 0.0
    for age, truth in asked:
        fitting = [letter for other, letter in rows if other // 10 == age // 10]
        best = commonest(fitting or letters)
        guessed += (truth in best) / len(best)
        if fitting and fitting.count(best[0]) / len(fitting) >= confidence - 1e-9:
            claimed += (truth in best) / len(best)
    others = pl.DataFrame({"age": [0, 0, 0], "diagnosis": list("abc")})
    sure = homogeneity(release, people, ["age"], "diagnosis", TrialDesign(SEED, control=others), confidence=confidence)
    assert sure.success.right == pytest.approx(claimed)
    likeliest = skewness(release, people, ["age"], "diagnosis", TrialDesign(SEED, control=others))
    assert likeliest.success.right == pytest.approx(guessed)


def commonest(letters: list[str]) -> list[str]:
    top = max(letters.count(letter) for letter in letters)
    return sorted({letter for letter in letters if letters.count(letter) == top})


def test_some_people_at_a_time_come_to_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    table = classes("aaab", "bbbc", "cccc", "abcd", "dddd")
    whole = skewness(banded(table), table, ["age"], "diagnosis", TrialDesign(SEED))
    monkeypatch.setattr(posteriors, "CELLS", 5)
    assert skewness(banded(table), table, ["age"], "diagnosis", TrialDesign(SEED)) == whole


def test_a_part_of_the_people_is_enough() -> None:
    table = classes("a" * 400, "abcd" * 100)
    attack = homogeneity(banded(table), table, ["age"], "diagnosis", TrialDesign(SEED, trials=200))
    low, high = attack.success.interval
    assert attack.success.trials == 200 and low <= 0.5 <= high
    assert attack == homogeneity(banded(table), table, ["age"], "diagnosis", TrialDesign(SEED, trials=200))


# Learned


def population(rows: int, seed: int) -> pl.DataFrame:
    """Whose diagnosis depends on whether age is above 50 and sex is F, for nine in ten of them."""
    stream = Randomness(seed=seed).stream("population")
    lots = [stream.uniform(np.arange(rows, dtype=np.uint64), lane) for lane in range(4)]
    frame = pl.DataFrame({"age": (lots[0] * 80).astype(np.int64) + 10, "sex": np.where(lots[1] < 0.5, "F", "M")})
    rule = (pl.col("age") >= 50) == (pl.col("sex") == "F")
    told = pl.when(pl.lit(pl.Series(lots[2] < 0.9))).then(rule).otherwise(~rule)
    income = pl.col("age") * 100 + pl.Series("noise", lots[3] * 400)
    return frame.with_columns(
        pl.when(told).then(pl.lit("x")).otherwise(pl.lit("y")).alias("diagnosis"), income.alias("income")
    )


def test_a_model_finds_the_rule_and_strangers_show_that_it_is_one() -> None:
    table, strangers = population(3_000, 1), population(1_000, 2)
    attack = learned(
        banded(table), table, ["age", "sex"], "diagnosis", TrialDesign(SEED, control=strangers, trials=1_000)
    )
    assert attack.success.share == pytest.approx(0.9, abs=0.03)
    assert attack.baseline.share == pytest.approx(0.5, abs=0.05)
    assert attack.control is not None and attack.control.share == pytest.approx(0.9, abs=0.03)
    assert not attack.found


def best_share(numbers: pl.Series, width: float) -> float:
    """How many of the numbers one guess can come close to, by trying many."""
    values = numbers.to_numpy()
    return max(float((np.abs(values - guess) <= width).mean()) for guess in range(1_000, 9_400, 10))


def test_a_number_is_known_within_a_twentieth_of_its_range() -> None:
    """Bands of ten years leave one guess for each band, the best of which is found here without a model."""
    table = population(3_000, 3)
    attack = learned(banded(table), table, ["age"], "income", TrialDesign(SEED, trials=3_000))
    width = 0.05 * (table["income"].max() - table["income"].min())  # type: ignore[operator]
    bands = table.with_columns(band=pl.col("age") // 10)
    best = sum(best_share(band["income"], width) * band.height for band in bands.partition_by("band")) / 3_000  # type: ignore[arg-type, misc]
    assert best - 0.04 <= attack.success.share <= best + 0.001
    # In a band, 100 · (0 … 9) plus noise up to 400 lies around a mean of 650; ±5 % of 8 290 hold 79.6 % of that.
    assert best == pytest.approx(0.796, abs=0.03)
    assert attack.baseline.share == pytest.approx(best_share(table["income"], width), abs=0.005)  # type: ignore[arg-type]
    assert attack.found


def test_a_skewed_number_is_guessed_no_worse_than_without_the_release() -> None:
    """Nothing goes with the income, most of which is low: the mean would be a poor guess."""
    lots = Randomness(seed=8).stream("skewed").uniform(np.arange(4_000, dtype=np.uint64))
    table = pl.DataFrame({"sex": ["F", "M"] * 2_000, "income": (lots**4 * 10_000).round()})
    attack = learned(table, table, ["sex"], "income", TrialDesign(SEED))
    assert attack.success.share == pytest.approx(attack.baseline.share, abs=0.02)
    assert attack.baseline.share == pytest.approx(0.1**0.25, abs=0.03) and not attack.found


def test_a_model_of_starred_cells_guesses() -> None:
    table = population(1_000, 4)
    starred = table.with_columns(age=pl.lit("*"), sex=pl.lit("*"))
    attack = learned(starred, table, ["age", "sex"], "diagnosis", TrialDesign(SEED))
    assert attack.success == attack.baseline


def test_memorised_people_are_told_from_strangers() -> None:
    """Values by pure chance: a model can be right beyond guessing only about people whose own records it saw."""
    lots = Randomness(seed=9).stream("chance").uniform(np.arange(1_200, dtype=np.uint64))
    frame = pl.DataFrame({"id": np.arange(1_200) * 7, "diagnosis": np.where(lots < 0.5, "x", "y")})
    table, strangers = frame[::2], frame[1::2]
    attack = learned(table, table, ["id"], "diagnosis", TrialDesign(SEED, control=strangers))
    assert attack.success.share > 0.9 and attack.found
    assert attack.control is not None and attack.control.share == pytest.approx(0.5, abs=0.08)


def test_the_same_seed_gives_the_same_attack() -> None:
    table = population(500, 5)
    once, again = (
        learned(banded(table), table, ["age"], "diagnosis", TrialDesign(Randomness(seed=3))) for _ in range(2)
    )
    assert once == again


def test_rare_labels_are_left_out_and_labels_that_tell_nothing_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learned_module, "VALUES", 1)
    table = classes("aab", "bab", "a")
    assert learned(table, table, ["age"], "diagnosis", TrialDesign(SEED)).success.right == 4
    hidden = table.with_columns(diagnosis=pl.lit("*"))
    with pytest.raises(DataError, match="tells anything"):
        learned(hidden, table, ["age"], "diagnosis", TrialDesign(SEED))


# Wrong use and edges


@pytest.mark.parametrize("attack", [homogeneity, skewness, learned])
def test_wrong_use_is_said(attack: object) -> None:
    assert callable(attack)
    table = classes("ab", "cd")
    for release, people, attributes, sensitive in (
        (table.drop("diagnosis"), table, ["age"], "diagnosis"),
        (table, table.drop("diagnosis"), ["age"], "diagnosis"),
        (table.drop("age"), table, ["age"], "diagnosis"),
        (table, table, [], "diagnosis"),
        (table.clear(), table, ["age"], "diagnosis"),
        (table, table.clear(), ["age"], "diagnosis"),
    ):
        with pytest.raises(DataError):
            attack(release, people, attributes, sensitive, TrialDesign(SEED))
    with pytest.raises(DataError, match="control group"):
        attack(table, table, ["age"], "diagnosis", TrialDesign(SEED, control=table.drop("age")))


def test_confidence_has_limits() -> None:
    table = classes("ab")
    for wrong in (0.0, 1.1):
        with pytest.raises(InputError, match="confidence"):
            homogeneity(table, table, ["age"], "diagnosis", TrialDesign(SEED), confidence=wrong)


@pytest.mark.parametrize("attack", [homogeneity, skewness, learned])
def test_one_row_and_missing_cells(attack: object) -> None:
    assert callable(attack)
    one = classes("a")
    assert attack(one, one, ["age"], "diagnosis", TrialDesign(SEED)).success.right == 1
    gone = classes("ab", "cc").with_columns(age=pl.lit(None, dtype=pl.Int64))
    assert attack(gone, gone, ["age"], "diagnosis", TrialDesign(SEED)).success.trials == 4
