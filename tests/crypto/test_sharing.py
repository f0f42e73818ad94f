"""Secret sharing: enough shares are the number, fewer are random numbers, and sums of shares are shares of the sum."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import chisquare

from shoal.crypto.secret_sharing import PRIME, Sharing, _field_element, _times
from shoal.randomness import Randomness

pytestmark = pytest.mark.requirement("T-23")

SCHEMES = [Sharing(2, 2), Sharing(3, 3), Sharing(3, 2), Sharing(5, 3), Sharing(7, 2)]
STREAM = Randomness(23).stream("shares")
Shares = NDArray[np.uint64]

schemes = st.integers(2, 9).flatmap(lambda parties: st.builds(Sharing, st.just(parties), st.integers(2, parties)))


def split(scheme: Sharing, secrets: list[int] | NDArray[np.int64], start: int = 0) -> dict[int, Shares]:
    numbers = np.array(secrets, dtype=np.int64)
    rows = np.arange(start, start + len(numbers), dtype=np.uint64)
    return dict(enumerate(scheme.split(numbers, lambda lane: STREAM.words(rows, lane)), 1))


@given(schemes, st.data())
def test_any_enough_shares_are_the_numbers(scheme: Sharing, data: st.DataObject) -> None:
    secrets = data.draw(st.lists(st.integers(-scheme.largest, scheme.largest), max_size=6))
    shares = split(scheme, secrets)
    for parties in itertools.islice(itertools.combinations(shares, scheme.threshold), 40):
        assert scheme.join({party: shares[party] for party in parties}).tolist() == secrets


@given(schemes, st.lists(st.integers(-(10**15), 10**15), min_size=1, max_size=50))
def test_sums_of_shares_are_shares_of_the_sum(scheme: Sharing, secrets: list[int]) -> None:
    totals = {party: scheme.total(shares) for party, shares in split(scheme, secrets).items()}
    chosen = dict(list(totals.items())[-scheme.threshold :])
    assert scheme.join(chosen).tolist() == [sum(secrets)]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("secret", [0, 1, -1, 123_456_789])
def test_fewer_shares_are_uniformly_random(scheme: Sharing, secret: int) -> None:
    """Whatever the secret is, t − 1 shares together fall into all cells of a grid alike."""
    shares = split(scheme, np.full(40_000, secret))
    bits = 64 if scheme.additive else 61
    fewer = list(shares.values())[: scheme.threshold - 1]
    sides = 16 if len(fewer) == 1 else 8
    cells = np.zeros(40_000, dtype=np.int64)
    for share in fewer:
        cells = cells * sides + (share >> np.uint64(bits - (sides.bit_length() - 1))).astype(np.int64)
    assert chisquare(np.bincount(cells, minlength=sides ** len(fewer))).pvalue > 0.0005


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_test_for_uniformity_can_fail(scheme: Sharing) -> None:
    """With one share more than that, what is rebuilt is not spread at all."""
    shares = split(scheme, np.full(1000, 5))
    rebuilt = scheme.join({party: shares[party] for party in range(1, scheme.threshold + 1)})
    assert chisquare(np.bincount(rebuilt, minlength=16)).pvalue < 1e-9


@given(st.integers(-(10**17), 10**17), st.integers(-(10**17), 10**17))
def test_fewer_shares_fit_any_other_number(secret: int, other: int) -> None:
    """For t − 1 shares and any number there is a further share that makes it."""
    scheme = Sharing(3, 3)
    shares = split(scheme, [secret])
    wanted = np.uint64((other - int(shares[1][0]) - int(shares[2][0])) % 2**64)
    assert scheme.join({**shares, 3: np.array([wanted])}).tolist() == [other]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_too_few_shares_are_refused(scheme: Sharing) -> None:
    shares = split(scheme, [5])
    with pytest.raises(ValueError, match="needed"):
        scheme.join({party: shares[party] for party in range(1, scheme.threshold)})


@given(st.integers(0, PRIME - 1), st.lists(st.integers(0, PRIME - 1), max_size=5))
def test_products_in_the_field(factor: int, values: list[int]) -> None:
    found = _times(np.array(values, dtype=np.uint64), factor).tolist()
    assert found == [value * factor % PRIME for value in values]


@pytest.mark.parametrize("edge", [0, 1, PRIME - 1, PRIME // 2, PRIME // 2 + 1, (1 << 31) - 1, 1 << 31])
def test_products_at_the_edges(edge: int) -> None:
    assert _times(np.array([edge, PRIME - 1], dtype=np.uint64), edge).tolist() == [
        edge * edge % PRIME,
        (PRIME - 1) * edge % PRIME,
    ]


def test_a_draw_that_is_the_prime_itself_is_drawn_again() -> None:
    words = np.array([[PRIME, 7], [5, 9], [PRIME | 1 << 62, 3]], dtype=np.uint64)
    assert _field_element(words).tolist() == [7, 5, 3]


@pytest.mark.parametrize("secret", [0, 1, 42, 10**18, PRIME // 2])
def test_shares_are_those_of_the_library_shamirs(secret: int) -> None:
    """Two implementations read each other's shares."""
    shamirs = pytest.importorskip("shamirs")
    scheme = Sharing(5, 3)
    ours = split(scheme, [secret])
    for parties in itertools.combinations(ours, 3):
        given = [shamirs.share(party, int(ours[party][0]), PRIME) for party in parties]
        assert shamirs.interpolate(given, threshold=3) == secret
    theirs = shamirs.shares(secret, quantity=5, modulus=PRIME, threshold=3)
    read = {share.index: np.array([share.value], dtype=np.uint64) for share in theirs}
    assert scheme.join({party: read[party] for party in (2, 4, 5)}).tolist() == [secret]


def test_shares_of_the_textbook() -> None:
    """The example that textbooks print: 1234 + 166x + 94x² goes through (1, 1494), (2, 1942), (4, 3402), (5, 4414)."""
    points = {1: 1494, 2: 1942, 4: 3402, 5: 4414}
    scheme = Sharing(6, 3)
    for parties in itertools.combinations(points, 3):
        assert scheme.join({party: np.array([points[party]], dtype=np.uint64) for party in parties}).tolist() == [1234]


@pytest.mark.parametrize(("parties", "threshold"), [(1, 1), (3, 1), (2, 3), (256, 2)])
def test_sharings_that_make_no_sense(parties: int, threshold: int) -> None:
    with pytest.raises(ValueError, match="parties"):
        Sharing(parties, threshold)


def test_numbers_that_dont_fit_the_field_are_refused() -> None:
    with pytest.raises(ValueError, match="too large"):
        split(Sharing(3, 2), [PRIME])
    assert Sharing(2, 2).join(split(Sharing(2, 2), [-(2**63)])).tolist() == [-(2**63)]


def test_a_sum_of_very_many_shares_does_not_overflow() -> None:
    scheme = Sharing(3, 2)
    assert scheme.total(np.full(1_000_000, PRIME - 1, dtype=np.uint64)).tolist() == [(PRIME - 1) * 1_000_000 % PRIME]
