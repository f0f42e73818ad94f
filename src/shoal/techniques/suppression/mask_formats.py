"""Masking by format: what PDPC annex B suggests for addresses, plates and codes, and numbers with check characters.

A value that doesn't have its format is covered whole, so a stray name in a column of numbers doesn't slip through.

A check character is one equation between the characters of a number. With m characters covered (the check character
counted, if it is covered too) an attacker who knows the rule is left with 10^(m − 1) numbers. ``NumberShape`` covers so
many that at least 10^4 are left: where the check character would leave fewer, it is covered too. So an Aadhaar number
shows its last four digits (10^7 left), an NRIC number shows three digits without its letter.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

import polars as pl

from shoal.techniques.suppression.mask_positions import PositionMask

FREE_CHARACTERS = 4
"""Covered characters that no check equation ties down: 10^4 numbers stay possible."""


class MaskFormat(StrEnum):
    EMAIL = "email"
    IP = "ip"
    IPV4 = "ipv4"
    IPV6 = "ipv6"
    PLATE = "plate"
    IU = "iu"
    POSTAL = "postal"
    PHONE = "phone"
    CARD = "card"
    AADHAAR = "aadhaar"
    VID = "vid"
    NRIC = "nric"


@dataclass(frozen=True)
class EmailMask:
    """The local part is covered; the domain stays or is covered by itself.

    >>> EmailMask(PositionMask(first=1)).mask(pl.Series(["asha@example.org", "@asha"])).to_list()
    ['a***@example.org', '*****']
    """

    cover: PositionMask
    keep_domain: bool = True

    def mask(self, values: pl.Series) -> pl.Series:
        parts = values.str.split_exact("@", 1).struct.unnest()
        local, domain = self.cover.mask(parts["field_0"]), parts["field_1"]
        whole = PositionMask(char=self.cover.char, length=self.cover.length)
        frame = pl.DataFrame({"value": values, "local": local, "covered": whole.mask(values)}).with_columns(
            (domain if self.keep_domain else whole.mask(domain)).alias("domain")
        )
        fits = pl.col("value").str.contains(r"^[^@\s]+@[^@\s.]+(\.[^@\s.]+)+$")
        address = pl.concat_str("local", pl.lit("@"), "domain")
        return frame.select(pl.when(fits).then(address).otherwise("covered")).to_series()


@dataclass(frozen=True)
class NetworkMask:
    """The network stays, the host is covered: two octets of IPv4, 48 bits of IPv6 (whatever way it is written).

    >>> NetworkMask().mask(pl.Series(["12.120.210.88", "2001:db8::1"])).to_list()
    ['12.120.***.***', '2001:0db8:0000:****:****:****:****:****']
    """

    char: str = "*"
    v4: bool = True
    v6: bool = True

    def mask(self, values: pl.Series) -> pl.Series:
        frame = pl.DataFrame({"value": values, "covered": PositionMask(char=self.char).mask(values)})
        wanted = ([self._v4()] if self.v4 else []) + ([self._v6()] if self.v6 else [])
        return frame.select(pl.coalesce(*wanted, "covered")).to_series()

    def _v4(self) -> pl.Expr:
        network = pl.col("value").str.extract(r"^([0-9]{1,3}\.[0-9]{1,3})\.[0-9]{1,3}\.[0-9]{1,3}$")
        return pl.concat_str(network, pl.lit(2 * ("." + 3 * self.char)))

    def _v6(self) -> pl.Expr:
        text = pl.col("value").str.to_lowercase().str.replace("^::", "0::").str.replace("::$", "::0")
        # "::" stands for the groups of zeros that are missing from eight.
        missing = (8 - text.str.count_matches(":", literal=True).cast(pl.Int64)).clip(0)
        zeros = pl.concat_str(pl.lit(":0:0:0:0:0:0:0").str.head(2 * missing), pl.lit(":"))
        groups = text.str.replace("::", zeros, literal=True).str.extract_groups(_IPV6)
        network = pl.concat_str(*(groups.struct.field(str(n)).str.zfill(4) for n in (1, 2, 3)), separator=":")
        return pl.concat_str(network, pl.lit(5 * (":" + 4 * self.char)))


@dataclass(frozen=True)
class EndingMask:
    """The last characters are covered, spaces and dashes are left out first so that they don't count.

    >>> EndingMask(r"[A-Z0-9]{2,10}", hidden=4).mask(pl.Series(["SMF 1234 A", "unknown (blue car)"])).to_list()
    ['SMF1****', '******************']
    """

    pattern: str
    hidden: int
    shown: int | None = None
    """The most characters that stay in front."""
    char: str = "*"

    def mask(self, values: pl.Series) -> pl.Series:
        compact = pl.col("value").str.replace_all(r"[\s-]", "")
        kept = compact.str.head(-self.hidden)
        kept = kept if self.shown is None else kept.str.head(self.shown)
        ended = kept.str.pad_end(compact.str.len_chars().cast(pl.Int64).clip(self.hidden), self.char)
        frame = pl.DataFrame({"value": values, "covered": PositionMask(char=self.char).mask(values)})
        return frame.select(
            pl.when(compact.str.contains(f"^(?i:{self.pattern})$")).then(ended).otherwise("covered")
        ).to_series()


@dataclass(frozen=True)
class NumberShape:
    """The shape of a number: what stands before its digits, how many digits, what stands between and after them."""

    least: int
    most: int
    lead: str = ""
    gap: str = "[ -]?"
    trail: str = ""
    check: bool = True
    """The last character is a check character."""
    guessable: int = 0
    """Characters in front that say little (a prefix of five letters at most): covering them hides nothing."""

    def pattern(self, least: int, most: int) -> str | None:
        least, most = max(least, self.least), min(most, self.most)
        if least > most:
            return None
        return f"^(?i:{self.lead}[0-9](?:{self.gap}[0-9]){{{least - 1},{most - 1}}}{self.trail})$"

    def enough(self, first: int, last: int) -> int:
        """The digits a number must have so that, with this many characters shown, enough others are covered."""
        shown = max(0, first - self.guessable) + last
        return shown + FREE_CHARACTERS + self.check - bool(self.trail)


@dataclass(frozen=True)
class NumberMask:
    """A number masked by position, with as many characters covered as its check character makes necessary.

    >>> NumberMask(NUMBERS[MaskFormat.NRIC], PositionMask(last=4)).mask(pl.Series(["S1234567D", "n/a"])).to_list()
    ['*****567*', '***']
    """

    shape: NumberShape
    cover: PositionMask

    def patterns(self) -> tuple[str | None, str | None]:
        """Numbers long enough as they are, and those long enough once the check character is covered."""
        enough = self.shape.enough(self.cover.first, self.cover.last)
        short = self.shape.pattern(enough - 1, enough - 1) if self.shape.check and self.cover.last else None
        return self.shape.pattern(enough, self.shape.most), short

    def mask(self, values: pl.Series) -> pl.Series:
        whole = PositionMask(char=self.cover.char, length=self.cover.length)
        frame = pl.DataFrame({"value": values, "masked": whole.mask(values)})
        for pattern, masked in zip(self.patterns(), (self._by_position, self._without_check), strict=True):
            if pattern is not None:
                fits = pl.col("value").str.contains(pattern)
                frame = frame.with_columns(new=masked(values))
                frame = frame.with_columns(masked=pl.when(fits).then("new").otherwise("masked"))
        return frame["masked"]

    def _by_position(self, values: pl.Series) -> pl.Series:
        return self.cover.mask(values)

    def _without_check(self, values: pl.Series) -> pl.Series:
        length = None if self.cover.length is None else self.cover.length - 1
        rest = replace(self.cover, last=self.cover.last - 1, length=length).mask(values.str.head(-1))
        return rest + self.cover.char


_IPV6 = r"^([0-9a-f]{1,4}):([0-9a-f]{1,4}):([0-9a-f]{1,4})(?::[0-9a-f]{1,4}){5}$"

NUMBERS = {
    MaskFormat.PHONE: NumberShape(7, 15, lead=r"\+?\(?", gap=r"[ ()./-]{0,2}", check=False),
    MaskFormat.CARD: NumberShape(13, 19),
    MaskFormat.AADHAAR: NumberShape(12, 12),
    MaskFormat.VID: NumberShape(16, 16),
    MaskFormat.NRIC: NumberShape(7, 7, lead="[STFGM]", gap="", trail="[A-Z]", guessable=1),
}
"""Phone numbers (E.164), payment cards (Luhn), Aadhaar and its virtual ID (Verhoeff), NRIC and FIN (letter)."""

ENDINGS = {
    MaskFormat.PLATE: EndingMask(r"[\p{L}0-9]{2,10}", hidden=4),
    MaskFormat.IU: EndingMask(r"[0-9]{10}", hidden=3),
    MaskFormat.POSTAL: EndingMask(r"[A-Z0-9]{3,10}", hidden=4, shown=2),
}
"""PDPC annex B; of postal codes longer than Singapore's not more than a sector of two characters stays."""
