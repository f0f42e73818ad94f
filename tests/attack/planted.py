"""Releases of which it is known whether they give people away: each fault beside a release without it."""

from __future__ import annotations

import base64
import hashlib
import hmac
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from shoal.assess.attack.table_attack import attack_frames
from shoal.attack.battery import BatteryResult
from shoal.results.attack_roles import AttackRoles

SIZE = 300
ROLES = AttackRoles(("age", "sex"), ("illness",), ("aadhaar", "phone"))
CITIES = ("Pune", "Delhi", "Mumbai", "Chennai", "Kochi", "Jaipur", "Surat", "Patna")


@dataclass(frozen=True)
class Release:
    """What is attacked, and what the attacker may compare with."""

    table: pl.DataFrame
    original: pl.DataFrame
    control: pl.DataFrame | None = None
    roles: AttackRoles = ROLES
    origins: pl.Series | None = None

    def attacked(self, seed: int = 1, trials: int = 400) -> BatteryResult:
        return attack_frames(
            self.table, self.original, self.roles, control=self.control, origins=self.origins, trials=trials, seed=seed
        ).done


Make = Callable[[np.random.Generator], Release]


def people(lots: np.random.Generator, size: int = SIZE) -> pl.DataFrame:
    """Illness and bill depend a little on age; cities are of very different size."""
    age = lots.integers(20, 80, size)
    weights = 1 / np.arange(1, len(CITIES) + 1) ** 1.2
    numbers = lots.integers(10**11, 10**12, size)
    return pl.DataFrame(
        {
            "aadhaar": [f"{each // 10**8} {each // 10**4 % 10**4:04d} {each % 10**4:04d}" for each in numbers],
            "phone": [str(each) for each in lots.integers(6 * 10**9, 10**10, size)],
            "age": age,
            "sex": lots.choice(["F", "M"], size),
            "city": lots.choice(CITIES, size, p=weights / weights.sum()),
            "illness": [f"illness {each}" for each in (lots.random(size) * (3 + age / 20)).astype(int)],
            "bill": np.round(np.exp(lots.normal(9, 0.8, size)) * (1 + age / 80), 2),
        }
    )


def general(table: pl.DataFrame, *more: str) -> pl.DataFrame:
    """Ages in bands of twenty years, so that some fifty people look alike; names and sums are gone."""
    low = pl.col("age") // 20 * 20
    return table.select(pl.format("{}-{}", low, low + 19).alias("age"), "sex", "illness", *more)


def with_column(name: str, make: Callable[[pl.Series, np.random.Generator], pl.Series]) -> Make:
    """A generalised release beside which one column stands as it was made."""

    def made(lots: np.random.Generator) -> Release:
        table = people(lots)
        column = make(table[name], lots).alias(name)
        return Release(general(table).with_columns(column), table, people(lots))

    return made


def hashed(way: Callable[[bytes], str]) -> Callable[[pl.Series, np.random.Generator], pl.Series]:
    return lambda values, _: pl.Series([way(str(value).encode()) for value in values])


def sha(text: bytes) -> bytes:
    return hashlib.sha256(text).digest()


def repeated(rounds: int, *, in_hex: bool) -> Callable[[bytes], str]:
    def way(text: bytes) -> str:
        digest = sha(text)
        for _ in range(rounds - 1):
            digest = sha(digest.hex().encode() if in_hex else digest)
        return digest.hex()

    return way


def codes(values: pl.Series, lots: np.random.Generator) -> pl.Series:
    """A secret code for each value, the same wherever it occurs."""
    key = lots.bytes(16)
    return pl.Series([hmac.new(key, value.encode(), "sha256").hexdigest()[:20] for value in values])


def random_codes(values: pl.Series, lots: np.random.Generator) -> pl.Series:
    return pl.Series([lots.bytes(10).hex() for _ in values])


def noise(share: float) -> Callable[[pl.Series, np.random.Generator], pl.Series]:
    """Of so many standard deviations."""
    return lambda values, lots: values + pl.Series(lots.normal(0, share * float(values.std()), len(values)))  # type: ignore[arg-type]


def grouped(size: int) -> Callable[[pl.Series, np.random.Generator], pl.Series]:
    """Means of so many neighbours."""

    def made(values: pl.Series, _: np.random.Generator) -> pl.Series:
        place = np.argsort(np.argsort(values.to_numpy())) // size
        means = np.bincount(place, values.to_numpy()) / np.bincount(place)
        return pl.Series(means[place])

    return made


def shuffled(make: Make) -> Make:
    def made(lots: np.random.Generator) -> Release:
        release = make(lots)
        table = release.table.drop("illness")[pl.Series(lots.permutation(release.table.height))]
        return replace(release, table=table, roles=replace(release.roles, sensitive=()))

    return made


def mixed(make: Make) -> Make:
    """In another order, with all columns."""

    def made(lots: np.random.Generator) -> Release:
        release = make(lots)
        return replace(release, table=release.table[pl.Series(lots.permutation(release.table.height))])

    return made


def in_role(make: Make, roles: AttackRoles) -> Make:
    return lambda lots: replace(make(lots), roles=roles)


def without_control(make: Make) -> Make:
    return lambda lots: replace(make(lots), control=None)


def clear(lots: np.random.Generator) -> Release:
    table = people(lots)
    return Release(
        table.drop("aadhaar", "phone"), table, people(lots), AttackRoles(("age", "sex", "city"), ("illness",))
    )


def clear_part(lots: np.random.Generator) -> Release:
    """Half of the records, in another order."""
    release = clear(lots)
    rows = pl.Series(lots.permutation(SIZE)[: SIZE // 2])
    return replace(release, table=release.table.drop("bill")[rows], control=None)


def half_copied(lots: np.random.Generator) -> Release:
    """A synthetic table, half of whose records are people's own."""
    release = clear(lots)
    other = people(lots).select(release.table.columns)
    return replace(release, table=pl.concat([release.table.head(SIZE // 2), other.tail(SIZE // 2)]))


def independent(lots: np.random.Generator) -> Release:
    """Other people of the same population in place of those of the original."""
    release = clear(lots)
    return replace(release, table=people(lots).select(release.table.columns))


def independent_and_general(lots: np.random.Generator) -> Release:
    table = people(lots)
    return Release(general(people(lots)), table, people(lots))


def moved(lots: np.random.Generator) -> Release:
    """A synthetic table that follows people too closely: numbers of theirs, a little moved, in another order."""
    original, strangers = ({name: lots.normal(0, 1, SIZE) for name in "uvwx"} for _ in range(2))
    table = pl.DataFrame(original)
    near = table.select(pl.col(name) + pl.Series(lots.normal(0, 0.02, SIZE)) for name in table.columns)
    near = near[pl.Series(lots.permutation(SIZE))]
    return Release(near, table, pl.DataFrame(strangers), AttackRoles(("u",)))


def rare_illnesses(lots: np.random.Generator) -> Release:
    """One in ten has an illness that nobody else has."""
    table = people(lots)
    rare = pl.Series(lots.random(table.height) < 0.1)
    own = pl.Series([f"rare illness {place}" for place in range(table.height)])
    table = table.with_columns(illness=own.zip_with(rare, table["illness"]))
    return Release(general(table), table, people(lots))


def classes_of_five(lots: np.random.Generator) -> Release:
    """Everybody looks like four others, whose illnesses have nothing to do with it."""
    table = people(lots).sort("age")
    group = pl.int_range(pl.len()) // 5
    ages = table.select(low=pl.col("age").min().over(group), high=pl.col("age").max().over(group))
    release = table.select(ages.select(pl.format("{}-{}", "low", "high")).to_series().alias("age"), "illness")
    return Release(release, table, people(lots), replace(ROLES, quasi=("age",)))


def renamed(lots: np.random.Generator) -> Release:
    """The hash stands in a column of another name."""
    table = people(lots)
    pid = pl.Series("pid", [hashlib.md5(each.encode()).hexdigest() for each in table["phone"]])  # noqa: S324
    return Release(general(table).with_columns(pid), table, people(lots))


FIGURES = AttackRoles(("age", "sex"), ("bill",), ("aadhaar", "phone"))
UNNAMED = AttackRoles(("age", "sex"), ("illness",))
QUASI = AttackRoles(("age", "sex", "city"), ("illness",))
WANTED = AttackRoles(("age", "sex"), ("illness", "city"))

PLANTED: dict[str, tuple[Make, str]] = {
    "sha256 cut to 16": (with_column("aadhaar", hashed(lambda text: sha(text).hex()[:16])), "dictionary"),
    "sha256, end only": (with_column("aadhaar", hashed(lambda text: sha(text).hex()[-12:].upper())), "dictionary"),
    "crc32": (with_column("phone", hashed(lambda text: f"{zlib.crc32(text):08x}")), "dictionary"),
    "crc32 as a number": (with_column("phone", hashed(lambda text: str(zlib.crc32(text)))), "dictionary"),
    "adler32": (with_column("phone", hashed(lambda text: f"{zlib.adler32(text):08x}")), "dictionary"),
    "sha256 twice": (with_column("phone", hashed(repeated(2, in_hex=True))), "dictionary"),
    "sha256 1000 times": (with_column("phone", hashed(repeated(1000, in_hex=False))), "dictionary"),
    "+91 before": (with_column("phone", hashed(lambda text: sha(b"+91" + text).hex())), "dictionary"),
    "no separators": (
        with_column("aadhaar", hashed(lambda text: sha(text.replace(b" ", b"")).hex()[:24])),
        "dictionary",
    ),
    "a common salt": (with_column("phone", hashed(lambda text: sha(b"salt" + text).hex())), "dictionary"),
    "base64, cut": (
        with_column("phone", hashed(lambda text: base64.b64encode(sha(text)).decode()[:14])),
        "dictionary",
    ),
    "base32": (with_column("phone", hashed(lambda text: base64.b32encode(sha(text)).decode())), "dictionary"),
    "in another column": (renamed, "dictionary"),
    "last four digits": (with_column("aadhaar", lambda values, _: values.str.tail(4)), "identifier_linking"),
    "codes of a quasi-identifier": (in_role(with_column("city", codes), QUASI), "frequency"),
    "codes of what is sensitive": (in_role(with_column("city", codes), WANTED), "frequency"),
    "codes of an unnamed column": (in_role(with_column("city", codes), UNNAMED), "frequency"),
    "hash of a quasi-identifier": (
        in_role(with_column("city", hashed(lambda text: sha(text).hex()[:16])), QUASI),
        "dictionary",
    ),
    "small noise, unnamed": (in_role(with_column("bill", noise(0.002)), UNNAMED), "distance_linking"),
    "small noise, shuffled": (
        in_role(shuffled(with_column("bill", noise(0.002))), replace(UNNAMED, sensitive=())),
        "distance_linking",
    ),
    "averages and quasi-identifiers": (with_column("bill", grouped(5)), "combined_linking"),
    "in the clear": (clear, "linking"),
    "in the clear, half of it": (clear_part, "linking"),
    "synthetic, half copied": (half_copied, "combined_linking"),
    "synthetic, people a little moved": (moved, "membership_by_density"),
    "exact figures": (in_role(with_column("bill", lambda values, _: values), FIGURES), "singling_out"),
    "exact figures, no control group": (
        without_control(in_role(with_column("bill", lambda values, _: values), FIGURES)),
        "singling_out",
    ),
    "rare illnesses": (rare_illnesses, "singling_out"),
}
"""By name: how to make it, and an attack that has to find it."""

SAFE: dict[str, Make] = {
    "generalised": with_column("sex", lambda values, _: values),
    "keyed hash": with_column("aadhaar", codes),
    "random codes": with_column("phone", random_codes),
    "suppressed": with_column("aadhaar", lambda values, _: pl.Series(["*"] * len(values))),
    "last digit": with_column("aadhaar", lambda values, _: values.str.tail(1)),
    "large noise": in_role(with_column("bill", noise(5.0)), UNNAMED),
    "shuffled values": in_role(
        with_column("bill", lambda values, lots: values[pl.Series(lots.permutation(len(values)))]), UNNAMED
    ),
    "large noise, shuffled": shuffled(in_role(with_column("bill", noise(5.0)), UNNAMED)),
    "independent": independent,
    "independent, no control group": without_control(independent),
    "independent and generalised": independent_and_general,
    "figures that five share": in_role(with_column("bill", grouped(5)), FIGURES),
    "figures that five share, shuffled": mixed(without_control(in_role(with_column("bill", grouped(5)), FIGURES))),
    "classes of five": classes_of_five,
    "classes of five, no control group": without_control(classes_of_five),
    "classes of five, shuffled": mixed(without_control(classes_of_five)),
    "values dealt out anew, shuffled": mixed(
        without_control(
            in_role(with_column("bill", lambda values, lots: values[pl.Series(lots.permutation(len(values)))]), UNNAMED)
        )
    ),
    "generalised, no control group": without_control(with_column("sex", lambda values, _: values)),
    "random codes, no control group": without_control(with_column("phone", random_codes)),
}
