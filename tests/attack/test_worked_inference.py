"""Attacks on sensitive values and on pseudonyms: figures that others have printed, else reckoned step by step."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from shoal.attack import Rate
from shoal.attack.attacks.inference import homogeneity, skewness
from shoal.attack.codes.frequency_analysis import PairedColumn, cumulative, frequency, sorting
from shoal.attack.ground_truth.targets import TrialDesign
from shoal.kernels.check_characters import verhoeff_digits
from shoal.randomness import Randomness

ONE = Randomness(1)


@pytest.mark.requirement("R-04")
def test_homogeneity_of_the_inpatients() -> None:
    """Machanavajjhala et al. (2007), the first two tables: twelve inpatients, 4-anonymous; the third class has cancer.

    Bob, 31, of 13053, is in it, so Alice knows. Umeko, 21, of 13068, has a viral infection or heart disease.
    """
    zips = ["13053", *["13068"] * 2, "13053", *["14853"] * 2, *["14850"] * 2, *["13053"] * 2, *["13068"] * 2]
    inpatients = pl.DataFrame(
        {
            "zip": zips,
            "age": [28, 29, 21, 23, 50, 55, 47, 49, 31, 37, 36, 35],
            "condition": ["heart", "heart", *["viral"] * 2, "cancer", "heart", *["viral"] * 2, *["cancer"] * 4],
        }
    )
    released = inpatients.with_columns(
        pl.Series("zip", ["130**"] * 4 + ["1485*"] * 4 + ["130**"] * 4),
        pl.Series("age", ["< 30"] * 4 + ["≥ 40"] * 4 + ["3*"] * 4),
    )
    everybody = homogeneity(released, inpatients, ["zip", "age"], "condition", TrialDesign(ONE))
    assert everybody.success == Rate(4, 12)
    assert everybody.details is not None
    assert everybody.details["precision"] == 1
    for person, known in ((8, 1), (2, 0)):
        alone = homogeneity(released, inpatients[person], ["zip", "age"], "condition", TrialDesign(ONE))
        assert alone.success == Rate(known, 1)


@pytest.mark.requirement("R-04")
@pytest.mark.parametrize(("positive", "believed", "right"), [(25, 0.50, 9900), (49, 0.98, 9948)])
def test_skewness_of_the_virus_tests(positive: int, believed: float, right: int) -> None:
    """Li et al. (2007), section 3: of 10,000 tests 1 % are positive; in a class half are, or 49 of 50, that is 98 %.

    With 49 the better guess is "positive" for these 50 people, right about 49; the others are guessed as before.
    """
    other = 100 - positive
    table = pl.DataFrame(
        {
            "class": ["first"] * 50 + ["rest"] * 9950,
            "virus": ["+"] * positive + ["-"] * (50 - positive) + ["+"] * other + ["-"] * (9950 - other),
        }
    )
    guessed = skewness(table, table, ["class"], "virus", TrialDesign(ONE, trials=10_000))
    assert (guessed.success, guessed.baseline) == (Rate(right, 10_000), Rate(9900, 10_000))
    assert guessed.details is not None
    assert guessed.details["gain"] == pytest.approx(believed - 0.01)


@pytest.mark.requirement("R-04")
def test_similarity_of_the_stomach_diseases() -> None:
    """Li et al. (2007), tables 3 and 4: 3-diverse, and yet all of the first class have a disease of the stomach."""
    stomach, lungs = ["gastric ulcer", "gastritis", "stomach cancer"], ["flu", "bronchitis", "pneumonia"]
    diseases = [*stomach, "gastritis", "flu", "bronchitis", "bronchitis", "pneumonia", "stomach cancer"]
    patients = pl.DataFrame(
        {
            "zip": ["47677", "47602", "47678", "47905", "47909", "47906", "47605", "47673", "47607"],
            "age": [29, 22, 27, 43, 52, 47, 30, 36, 32],
            "disease": diseases,
        }
    )
    released = patients.with_columns(
        pl.Series("zip", ["476**"] * 3 + ["4790*"] * 3 + ["476**"] * 3),
        pl.Series("age", ["2*"] * 3 + ["≥ 40"] * 3 + ["3*"] * 3),
    )
    groups = pl.DataFrame({"disease": stomach + lungs, "of": ["stomach"] * 3 + ["lungs"] * 3})
    guessed = skewness(released, patients, ["zip", "age"], "disease", TrialDesign(ONE), known={"disease": groups})
    assert guessed.details is not None
    assert guessed.details["similar"] == pytest.approx(3 / 9)
    assert homogeneity(released, patients, ["zip", "age"], "disease", TrialDesign(ONE)).success == Rate(0, 9)


@pytest.mark.requirement("R-05")
def test_frequencies_of_a_substitution_cipher() -> None:
    """Cornell, CS 100 (spring 2000), project 7, figures 16 and 18: the key takes a, b, c, d to c, b, d, a.

    –, a, b, c, d are tallied 17, 20, 8, 7, 12 times in the plain text and 17, 12, 8, 20, 7 times in the other. The
    numbers are only rearranged, so whoever sorts both finds the key.
    """
    plain = {"-": 17, "a": 20, "b": 8, "c": 7, "d": 12}
    letters = pl.Series("letter", [letter for letter, times in plain.items() for _ in range(times)])
    enciphered = letters.replace({"a": "c", "c": "d", "d": "a"})
    assert enciphered.value_counts().sort("letter")["count"].to_list() == [17, 12, 8, 20, 7]
    found = frequency(PairedColumn.of(enciphered, letters))
    assert (found.success, found.baseline) == (Rate(64, 64), Rate(20, 64))


@pytest.mark.requirement("R-05")
def test_order_with_pencil() -> None:
    """Naveed et al. (2015), section 5: an algorithm; the success rates are of hospital files that aren't public.

    A, B and C occur 5, 3 and 2 times in the column. Who knows 3 : 5 : 2 takes the commonest pseudonym for B and the
    second for A: only the 2 records of C are right. In order, the cumulative shares 0.5, 0.8, 1 against 0.3, 0.8, 1 set
    that right: in place the squared differences are 0.04 + 0.04 + 0.04; with A and B exchanged 0 + 0.09 + 0 + 0.25.
    """
    values = pl.Series("id", ["A"] * 5 + ["B"] * 3 + ["C"] * 2)
    codes = values.replace_strict({"A": 11, "B": 22, "C": 33})
    misled = PairedColumn.of(codes, values, pl.Series("id", ["A"] * 3 + ["B"] * 5 + ["C"] * 2))
    assert frequency(misled).success == Rate(2, 10)
    assert cumulative(misled).success == Rate(10, 10)
    assert sorting(misled).success == Rate(10, 10)


@pytest.mark.requirement("R-05")
@pytest.mark.parametrize("number", ["2363", "1428570", "14567894"])
def test_check_digits_of_verhoeff(number: str) -> None:
    """Wikipedia, Verhoeff algorithm: 236 and 142857, step by step; the Perl module Algorithm::CheckDigits: 1456789."""
    digits = np.array([[int(digit) for digit in number]], dtype=np.uint8)
    assert verhoeff_digits(digits[:, :-1]).tolist() == [int(number[-1])]
