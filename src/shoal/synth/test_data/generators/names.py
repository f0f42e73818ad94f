"""Names of people: given and family names of one community, combined by chance.

A name is borne by many, so one that was made up means nobody. Indian and Western names come from the lists of Faker
(``shoal.pseudonyms.formats.name``), those of Singapore's communities from here: Chinese names with the family name in
front, Malay and Tamil ones with the father's name. Several cultures are mixed evenly.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field

from shoal.kernels.arrays import Integers
from shoal.pseudonyms.formats.name import names_of
from shoal.synth.test_data.base import Assurance, NumberedGenerator, Standing
from shoal.synth.test_data.draws import Draws

Culture = Literal["indian", "western", "chinese_singaporean", "malay_singaporean", "tamil_singaporean"]
Part = Literal["full", "given", "family"]


def _each(names: str) -> list[str]:
    return names.split()


_CHINESE_FAMILY = _each(
    "Tan Lim Lee Ng Ong Wong Goh Chua Chan Koh Teo Ang Yeo Tay Ho Low Toh Sim Chong Chia Seah Quek Neo Lau Leong Loh "
    "Cheong Foo Phua Poh"
)
_CHINESE_GIVEN = [
    f"{one} {other}"
    for one in _each("Wei Jia Jun Yong Mei Hui Xin Yi Kai Li Siew Boon Chee Swee")
    for other in _each("Ming Jie Ling Hao Min Yi Xuan Xiang Ting Wei Na Keng Kiat Seng")
    if one != other
]
_MALAY_MEN = _each(
    "Ahmad Azman Azmi Faizal Farid Fauzi Firdaus Hafiz Hakim Halim Haris Hashim Hassan Ibrahim Idris Imran Iskandar "
    "Ismail Jamal Kamal Latif Nazri Nizam Osman Othman Rahim Ridzuan Rizal Roslan Saiful Salleh Yusof Zainal Zulkifli"
)
_MALAY_WOMEN = _each(
    "Aisyah Aminah Azizah Faridah Fatimah Habibah Halimah Khadijah Latifah Mariam Nadia Noraini Norliza Nurul Rohani "
    "Rosmah Rozita Salmah Sharifah Siti Suraya Zainab Zaleha Zarina"
)
_TAMIL_MEN = _each(
    "Anand Balaji Chandran Ganesan Gopal Kannan Karthik Krishnan Kumar Muthu Murugan Nagaraj Narayanan Prakash Raja "
    "Rajan Raman Saravanan Selvam Senthil Shankar Sridhar Subramaniam Thangavel Vijay"
)
_TAMIL_WOMEN = _each(
    "Chitra Deepa Devi Geetha Harini Indira Jayanthi Kamala Kavitha Lakshmi Latha Malini Meenakshi Nalini Parvathi "
    "Priya Ramya Revathi Saroja Shanthi Sumathi Uma Vasanthi Vidya Vimala"
)


@cache
def _sets(culture: Culture, part: Part) -> tuple[pl.Series, pl.Series]:
    """What stands in front and what stands behind; together a name."""
    given, family = _listed(culture)
    if part != "full":
        return (given if part == "given" else family).unique().sort(), pl.Series([""])
    match culture:
        case "chinese_singaporean":
            return family + " ", given
        case "malay_singaporean":
            return _of_fathers(_MALAY_MEN, "bin", _MALAY_WOMEN, "binte"), family
        case "tamil_singaporean":
            return _of_fathers(_TAMIL_MEN, "s/o", _TAMIL_WOMEN, "d/o"), family
        case _:
            return given + " ", family


def _of_fathers(men: list[str], son: str, women: list[str], daughter: str) -> pl.Series:
    return pl.Series([*(f"{man} {son} " for man in men), *(f"{woman} {daughter} " for woman in women)])


def _listed(culture: Culture) -> tuple[pl.Series, pl.Series]:
    """Given names, and family names or those of fathers."""
    own: Mapping[str, tuple[list[str], list[str]]] = {
        "chinese_singaporean": (_CHINESE_GIVEN, _CHINESE_FAMILY),
        "malay_singaporean": (_MALAY_MEN + _MALAY_WOMEN, _MALAY_MEN),
        "tamil_singaporean": (_TAMIL_MEN + _TAMIL_WOMEN, _TAMIL_MEN),
    }
    if culture in own:
        given, family = own[culture]
        return pl.Series(given), pl.Series(family)
    return faker_names("en_IN" if culture == "indian" else "en_GB")


@cache
def faker_names(locale: str) -> tuple[pl.Series, pl.Series]:
    """Given and family names that are written in plain letters, so that every system takes them."""
    given, family = (names.filter(names.str.contains("^[A-Za-z]+$")) for names in names_of(locale))
    return given, family


class PersonNames(NumberedGenerator):
    """
    >>> PersonNames(cultures=("malay_singaporean",)).write(np.array([0])).to_list()
    ['Ahmad bin Ahmad']
    """

    key = "name"
    title = "Names of people, put together by chance"
    shorthand = "cultures"
    stands_for: ClassVar = {"name": {}}

    cultures: tuple[Culture, ...] = Field(("indian",), min_length=1, max_length=5)
    part: Part = "full"

    @property
    def size(self) -> int:
        """Of the first culture; a mix is drawn otherwise."""
        front, back = _sets(self.cultures[0], self.part)
        return len(front) * len(back)

    @property
    def distinct(self) -> int:
        return self.size if len(self.cultures) == 1 else 0

    @property
    def assurance(self) -> Assurance:
        return Assurance(Standing.IMPERSONAL, "given and family names are combined by chance; many people share a name")

    def write(self, numbers: Integers) -> pl.Series:
        front, back = _sets(self.cultures[0], self.part)
        one, other = np.divmod(numbers, len(back))
        return front.gather(one) if self.part != "full" else front.gather(one) + back.gather(other)

    def draw(self, draws: Draws) -> pl.Series:
        """Of several cultures, each row is of one: the lists of all stand behind each other."""
        if len(self.cultures) == 1:
            return super().draw(draws)
        sets = [_sets(culture, self.part) for culture in self.cultures]
        chosen = draws.numbers(len(sets))
        lengths, words = np.array([[len(one) for one in pair] for pair in sets]), draws.words(1)
        starts = np.cumsum(lengths, axis=0) - lengths
        halves = (words >> np.uint64(32)).astype(np.int64), (words & np.uint64((1 << 32) - 1)).astype(np.int64)
        texts = [
            pl.concat([pair[side] for pair in sets]).gather(starts[chosen, side] + halves[side] % lengths[chosen, side])
            for side in (0, 1)
        ]
        return texts[0] + texts[1]
