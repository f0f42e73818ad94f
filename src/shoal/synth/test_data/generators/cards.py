"""Card numbers with a valid check digit (Luhn) that nobody can pay with.

``kind: no_issuer`` writes numbers that begin with 9999, which no issuer can have (``shoal.pseudonyms.formats.card``).
Systems that look at the brand refuse them: ``kind: published`` takes the numbers that payment services have published
for tests of their own, real brands and all, of which there are few.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import polars as pl

from shoal.kernels.arrays import Integers
from shoal.pseudonyms.formats.card import Card
from shoal.synth.test_data.base import Assurance, NumberedGenerator, Standing

PUBLISHED = {
    "visa": ("4111111111111111", "4242424242424242", "4012888888881881", "4000056655665556", "4222222222222"),
    "mastercard": ("5555555555554444", "5105105105105100", "2223003122003222", "5200828282828210"),
    "amex": ("378282246310005", "371449635398431", "378734493671000"),
    "discover": ("6011111111111117", "6011000990139424", "6011981111111113"),
    "diners": ("3056930009020004", "36227206271667", "30569309025904", "38520000023237"),
    "jcb": ("3566002020360505", "3530111333300000"),
    "unionpay": ("6200000000000005", "6200000000000047"),
}
"""By brand: what Stripe, PayPal and Adyen name for tests."""
_FORM = Card()


class CardNumbers(NumberedGenerator):
    """
    >>> import numpy as np
    >>> CardNumbers(kind="published", brand="jcb").write(np.array([0])).to_list()
    ['3566002020360505']
    """

    key = "card"
    title = "Card numbers without an issuer, or published for tests"
    shorthand = "kind"
    stands_for: ClassVar = {"card": {}}

    kind: Literal["no_issuer", "published"] = "no_issuer"
    brand: Literal["any", "visa", "mastercard", "amex", "discover", "diners", "jcb", "unionpay"] = "any"
    """Of published numbers."""

    @property
    def _published(self) -> pl.Series:
        brands = PUBLISHED if self.brand == "any" else (self.brand,)
        return pl.Series([number for brand in brands for number in PUBLISHED[brand]])

    @property
    def size(self) -> int:
        return _FORM.size if self.kind == "no_issuer" else len(self._published)

    @property
    def assurance(self) -> Assurance:
        if self.kind == "no_issuer":
            return Assurance(Standing.RESERVED, "999 is no country's code", "ISO/IEC 7812-1, ISO 3166-1")
        return Assurance(Standing.RESERVED, "published for tests", "manuals of Stripe, PayPal and Adyen")

    def write(self, numbers: Integers) -> pl.Series:
        return _FORM.write(numbers) if self.kind == "no_issuer" else self._published.gather(numbers)
