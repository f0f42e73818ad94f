"""Phone numbers at which nobody can be called, as E.164 writes them.

Those of the United Kingdom, North America and Australia come from ranges that are kept free for films and books, those
of no country begin with +999 (``shoal.pseudonyms.formats.phone``). India and Singapore keep none free, but leave levels
unallocated, which may change:

| country | numbers | why nobody has them |
|---|---|---|
| IN | +91 10 and eight digits | 10 is kept for codes of carriers; area codes run from 11 to 89, mobile numbers begin with 6 to 9 (National Numbering Plan 2003) |
| SG | +65 2, 4 or 5 and seven digits | levels 2, 4 and 5 are reserved for later (IMDA, National Numbering Plan) |
"""  # noqa: E501  # a table

from __future__ import annotations

from typing import ClassVar, Literal

import polars as pl

from shoal.kernels.arrays import Integers
from shoal.kernels.text_arrays import texts_of
from shoal.pseudonyms.formats.phone import Phone
from shoal.synth.test_data.base import Assurance, NumberedGenerator, Standing
from shoal.synth.test_data.code_layout import CodeLayout, digits, literal, one_of

Country = Literal["none", "AU", "GB", "IN", "SG", "US"]
_LAYOUTS = {
    "none": CodeLayout(literal("+999") + digits(10)),
    "GB": CodeLayout(literal("+447700900") + digits(3)),
    "IN": CodeLayout(literal("+9110") + digits(8)),
    "SG": CodeLayout(literal("+65") + one_of("245") + digits(7)),
}
"""The others are in the table of the format."""
_SOURCES = {
    "none": "ITU-T E.164: 999 is reserved",
    "AU": "ACMA: numbers for creative works",
    "GB": "Ofcom: numbers for drama",
    "IN": "Department of Telecommunications, National Numbering Plan 2003: 10 is for codes of carriers",
    "SG": "IMDA, National Numbering Plan: unallocated, not kept free for ever",
    "US": "North American Numbering Plan: 555-0100 to 555-0199",
}


class PhoneNumbers(NumberedGenerator):
    """
    >>> import numpy as np
    >>> [PhoneNumbers(country=country).write(np.array([7])).item() for country in ("GB", "IN", "SG", "US")]
    ['+447700900007', '+911000000007', '+6520000007', '+12005550107']
    """

    key = "phone"
    title = "Phone numbers that are kept free or not allocated"
    shorthand = "country"
    stands_for: ClassVar = {
        "phone": {},
        "fax": {},
        "phone_india": {"country": "IN"},
        "phone_singapore": {"country": "SG"},
        "phone_united_kingdom": {"country": "GB"},
    }

    country: Country = "none"

    @property
    def size(self) -> int:
        return _LAYOUTS[self.country].size if self.country in _LAYOUTS else self._format.size

    @property
    def _format(self) -> Phone:
        return Phone.model_validate({"country": self.country})

    @property
    def assurance(self) -> Assurance:
        because = "not allocated" if self.country in ("IN", "SG") else "kept free"
        return Assurance(Standing.RESERVED, because, _SOURCES[self.country])

    def write(self, numbers: Integers) -> pl.Series:
        if self.country in _LAYOUTS:
            return texts_of(_LAYOUTS[self.country].characters(numbers))
        return self._format.write(numbers)
