"""Works the tables out that a wheel brings with it, into a folder: ``python scripts/tables.py FOLDER``.

Names are those of Faker (MIT licence), cities those of GeoNames (CC BY 4.0) as ``shoal.geonames`` has them;
``SOURCES.txt`` beside the tables says so.
"""

from __future__ import annotations

import os
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

TEXTS = ("Has Monjeau replied? Jean-Pierre Rao lives at 12 High Street, Leeds; call +91 98450 12345.", "王小明, Łódź")
"""Texts for which every table is needed."""
SOURCES = """The tables in this folder are made of the lists of Shoal, of the names and occupations in Faker {faker}
(https://github.com/joke2k/faker, MIT licence) and of cities and countries of GeoNames (https://www.geonames.org,
CC BY 4.0) as shoal/geonames has them. Words were put into small letters, accents taken off.
"""


def main(folder: Path) -> None:
    from shoal.discover.recognisers.shipped_recognisers import shipped_key
    from shoal.kernels.derived_files import ship
    from shoal.text import Annotator
    from shoal.text.lexicon.kept_tables import tables_key

    with tempfile.TemporaryDirectory() as kept:
        os.environ["SHOAL_CACHE"] = str(Path(kept, "kept"))
        for text in TEXTS:
            Annotator().annotate(text)
        folder.mkdir(parents=True, exist_ok=True)
        for file in sorted(Path(kept, "kept").iterdir()):
            name = file.name.rpartition("-")[0]
            ship(name, shipped_key() if name == "recognisers" else tables_key(), folder)
    (folder / "SOURCES.txt").write_text(SOURCES.format(faker=version("faker")), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
