"""Order-preserving encryption: strictly rising, stable for good, reversible, and as random as the paper asks."""

from __future__ import annotations

import itertools
import pickle
from decimal import Decimal, getcontext

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare, hypergeom

from shoal.crypto import Key
from shoal.crypto.hazmat.hypergeometric import COINS, TERMS, Coins, _fall, _half_fall, _logarithm, _under, lower_half
from shoal.crypto.hazmat.order_preserving import BLOCK, OrderPreserving
from shoal.errors import IntegrityError
from shoal.randomness import Randomness

pytestmark = pytest.mark.requirement("T-20")

KEY = Key(bytes(range(32)))
DRAWS = 60_000
MANY = max(TERMS)
PINNED_FEW = [16240193, 592576911, 2572651186, 4259981317]
PINNED_MANY = [2526, 2305842956921136227, 2305842956921138427, 2305842956921140013, 2305868240996032185]


@st.composite
def ciphers(draw: st.DrawFn) -> OrderPreserving:
    low = draw(st.integers(-(1 << 40), 1 << 40))
    points = draw(st.integers(1, 1 << 52))
    bits = draw(st.integers(max(1, (points - 1).bit_length()), 62))
    return OrderPreserving(Key(bytes([draw(st.integers(0, 255))]) * 32), low, low + points - 1, bits)


@given(ciphers(), st.data())
def test_rises_strictly_and_leads_back(cipher: OrderPreserving, data: st.DataObject) -> None:
    values = np.array(data.draw(st.lists(st.integers(cipher.low, cipher.high), max_size=30)), dtype=np.int64)
    encrypted = cipher.encrypt(values)
    order = np.argsort(values, kind="stable")
    assert ((np.diff(encrypted[order]) > 0) == (np.diff(values[order]) > 0)).all()
    assert not len(values) or (encrypted.min() >= 0 and int(encrypted.max()) < 1 << cipher.bits)
    assert (cipher.decrypt(encrypted) == values).all()


@given(st.lists(st.integers(-1000, 1000), min_size=1, max_size=20, unique=True), st.integers(1, 19))
@settings(max_examples=40)
def test_a_value_has_its_ciphertext_whatever_stands_beside_it(values: list[int], cut: int) -> None:
    cipher = OrderPreserving(KEY, -1000, 1000, 30)
    whole = cipher.encrypt(np.array(values))
    parts = [cipher.encrypt(np.array(part, dtype=np.int64)) for part in (values[:cut], values[cut:])]
    assert (np.concatenate(parts) == whole).all()


def test_blocks_make_no_difference() -> None:
    cipher = OrderPreserving(KEY, 0, 1 << 32, 52)
    values = np.arange(BLOCK + 1000) * 60_001
    whole = cipher.encrypt(values)
    some = np.array([0, BLOCK - 1, BLOCK, BLOCK + 999])
    assert (cipher.encrypt(values[some]) == whole[some]).all()


def test_ciphertexts_stay_what_they_are() -> None:
    """Written down once: ciphertexts of earlier releases must go on fitting, on every machine."""
    few, many = OrderPreserving(KEY, 0, 120, 32), OrderPreserving(KEY, -(1 << 50), 1 << 50, 62)
    assert few.encrypt(np.array([0, 18, 65, 120])).tolist() == PINNED_FEW
    assert many.encrypt(np.array([-(1 << 50), -1, 0, 1, 12345678901])).tolist() == PINNED_MANY


def test_another_key_domain_or_range_is_another_function() -> None:
    values = np.arange(100)
    ciphers = [
        OrderPreserving(KEY, 0, 120, 40),
        OrderPreserving(Key(bytes(32)), 0, 120, 40),
        OrderPreserving(KEY, 0, 121, 40),
        OrderPreserving(KEY, -1, 120, 40),
    ]
    for one, other in itertools.combinations(ciphers, 2):
        assert (one.encrypt(values) != other.encrypt(values)).mean() > 0.95


def test_every_rising_function_is_equally_likely() -> None:
    """The ideal object of Boldyreva and others 2009, section 3: all C(8, 3) functions, over 2,800 keys."""
    functions = {chosen: place for place, chosen in enumerate(itertools.combinations(range(8), 3))}
    seen = np.zeros(len(functions), dtype=np.int64)
    for number in range(2_800):
        cipher = OrderPreserving(Key(number.to_bytes(32, "big")), 0, 2, 3)
        seen[functions[tuple(cipher.encrypt(np.arange(3)).tolist())]] += 1
    assert len(functions) == 56
    assert chisquare(seen).pvalue > 0.001


@pytest.mark.parametrize(
    ("points", "half"),
    [(1, 1), (2, 1), (3, 4), (5, 4), (7, 4), (10, 1 << 20), (64, 64), (65, 128), (300, 512), (1000, 2048), (1500, 800),
     (COINS, 1 << 14), (COINS + 1, COINS + 1), (2001, 1 << 12), (9000, 1 << 13)],
)  # fmt: skip
def test_draws_are_hypergeometric(points: int, half: int) -> None:
    drawn = lower_half(np.full(DRAWS, points), half, _coins(f"{points} {half}"))
    least, most = max(0, points - half), min(points, half)
    ways = hypergeom(2 * half, points, half).pmf(np.arange(least, most + 1))
    seen = np.bincount(drawn - least, minlength=len(ways))
    common = ways * DRAWS > 8
    seen, ways = np.append(seen[common], seen[~common].sum()), np.append(ways[common], ways[~common].sum())
    assert seen.sum() == DRAWS
    if ways[-1] * DRAWS < 1:
        assert seen[-1] <= 3
        seen, ways = seen[:-1], ways[:-1]
    assert len(seen) == 1 or chisquare(seen, ways / ways.sum() * seen.sum()).pvalue > 0.001


@pytest.mark.parametrize(("points", "half"), [(MANY, 1 << 21), (MANY + 1, 1 << 40), (1 << 52, 1 << 60)])
def test_large_draws_are_nearly_normal(points: int, half: int) -> None:
    drawn = lower_half(np.full(DRAWS, points), half, _coins(f"{points}"))
    spread = (points / 4 * (2 * half - points) / (2 * half - 1)) ** 0.5
    scores = (drawn - points / 2) / spread
    share = np.diff([0.0, 0.0227501, 0.1586553, 0.3085375, 0.5, 0.6914625, 0.8413447, 0.9772499, 1.0])
    seen = np.histogram(scores, [-99, -2, -1, -0.5, 0, 0.5, 1, 2, 99])[0]
    assert chisquare(seen, share * DRAWS).pvalue > 0.001


@given(st.integers(513, 1 << 59), st.floats(-8.5, 8.5), st.booleans())
@example(513, 8.5, True)
def test_probabilities_are_right_to_ten_to_the_minus_eleven(middle: int, spreads: float, half_way: bool) -> None:
    """ln Γ(n+d+1) + ln Γ(n−d+1) − 2 ln Γ(n+1), against 60 digits."""
    number, off = middle + 0.5 * half_way, round(spreads * (middle / 2) ** 0.5) + 0.5 * half_way
    terms = next(terms for least, terms in reversed(TERMS.items()) if 2 * number >= least)
    found = _fall(np.array([number]), np.array([off]), terms)[0]
    assert abs(found - float(_exact_fall(number, off))) < 1e-11 * max(1.0, found)
    assert abs(_half_fall(np.array([number]))[0] - float(_exact_fall(number, 0.5))) < 1e-12


@given(st.floats(2.0**-53, 1.0, exclude_min=False))
def test_the_logarithm_is_one(number: float) -> None:
    assert _logarithm(np.array([number]))[0] == pytest.approx(np.log(number), rel=1e-14, abs=1e-15)


@given(st.floats(2.0**-53, 1.0), st.floats(-74.0, 0.0))
def test_quick_bounds_decide_as_the_logarithm_does(unit: float, bound: float) -> None:
    assert _under(np.array([unit]), np.array([bound]))[0] == (2 * np.log(unit) <= bound)


def test_what_is_no_ciphertext_is_refused_and_counted() -> None:
    cipher = OrderPreserving(KEY, 0, 120, 52)
    right = cipher.encrypt(np.arange(121))
    with pytest.raises(IntegrityError, match="4 number"):
        cipher.decrypt(np.array([right[5], right[5] + 1, right[9], -1, 1 << 60, right[7] - 1]))
    with pytest.raises(IntegrityError):
        OrderPreserving(Key(bytes(32)), 0, 120, 52).decrypt(right)


@pytest.mark.parametrize("value", [-1, 121])
def test_values_outside_the_domain_are_refused(value: int) -> None:
    with pytest.raises(ValueError, match="outside the domain") as raised:
        OrderPreserving(KEY, 0, 120, 52).encrypt(np.array([value]))
    assert str(value) not in str(raised.value)


@pytest.mark.parametrize(("high", "bits"), [(120, 6), (-1, 20), (10, 63), (10, 0)])
def test_domains_that_dont_fit_are_refused(high: int, bits: int) -> None:
    with pytest.raises(ValueError, match="range"):
        OrderPreserving(KEY, 0, high, bits)


def test_edges() -> None:
    full = OrderPreserving(KEY, 5, 12, 3)
    assert full.encrypt(np.arange(5, 13)).tolist() == list(range(8))  # nothing is left to choose
    assert len(full.encrypt(np.array([], dtype=np.int64))) == 0
    assert len(full.decrypt(np.array([], dtype=np.int64))) == 0
    one = OrderPreserving(KEY, 7, 7, 40)
    assert one.decrypt(one.encrypt(np.array([7, 7]))).tolist() == [7, 7]


def test_pickles_and_shows_no_key() -> None:
    cipher = OrderPreserving(KEY, 0, 120, 40)
    cipher.encrypt(np.array([3]))
    assert pickle.loads(pickle.dumps(cipher)) == cipher  # noqa: S301  # our own bytes
    assert KEY.material.hex() not in repr(cipher)
    assert repr(KEY.material)[2:20] not in repr(cipher)


def _coins(purpose: str) -> Coins:
    return Coins(Randomness(20).stream("hypergeometric", purpose), np.arange(DRAWS, dtype=np.uint64), 0)


def _exact_fall(middle: float, off: float) -> Decimal:
    getcontext().prec = 80
    n, d = Decimal(middle), Decimal(off)
    return _log_factorial(n + d) + _log_factorial(n - d) - 2 * _log_factorial(n)


def _log_factorial(number: Decimal) -> Decimal:
    """Stirling's series; the constant ln √2π falls out of the difference."""
    series = [(1, 12), (-1, 360), (1, 1260), (-1, 1680), (1, 1188), (-691, 360360), (1, 156), (-3617, 122400)]
    rest = sum(Decimal(a) / Decimal(b) / number ** (2 * k + 1) for k, (a, b) in enumerate(series))
    return (number + Decimal("0.5")) * number.ln() - number + rest


def test_a_million_numbers_have_a_million_ciphertexts() -> None:
    cipher = OrderPreserving(Key(bytes(32)), 0, 2**32 - 1, 52)
    assert (np.diff(cipher.encrypt(np.arange(1_000_000, dtype=np.int64))) > 0).all()
