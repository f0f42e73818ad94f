"""One line for each record of a measured table: which records are at risk, and how much. Figures only, no value.

A record is named by its number, so only who has the table learns whose risk it is. What the file says of single
people is for those who protect them, not for those who receive the table.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from shoal.errors import FieldName, FieldText, TargetError
from shoal.io import FileTarget
from shoal.io.formats.delimited.dialect import Dialect
from shoal.io.reader_options import Format
from shoal.kernels.arrays import Integers
from shoal.measurement import Measurement
from shoal.measurement.risk.individual_risk import RecordRisks
from shoal.measurement.risk.key_frequencies import places_in
from shoal.measurement.risk.suda import Suda
from shoal.measurement.risk.wildcard_matches import WildcardMeasurement

FORMATS: dict[str, Format] = {".csv": "csv", ".parquet": "parquet"}


def record_figures(
    frame: pl.LazyFrame, measured: Measurement, sample: RecordRisks | None, special: Suda | None
) -> pl.DataFrame:
    """In the order of the records; a suppressed record has no class, and so neither its size nor a risk by it."""
    sizes = _sizes(measured)[places_in(measured.released.select(measured.classes.attributes), frame)]
    figures = {"record": pl.Series(np.arange(1, len(sizes) + 1)), "class_size": pl.Series(sizes).replace(0, None)}
    figures["class_risk"] = 1 / figures["class_size"]
    if sample is not None:
        figures["class_size_in_population"] = pl.Series(sample.frequencies.population)
        figures["individual_risk"] = pl.Series(sample.individual)
        if sample.in_household is not None:
            figures["household_risk"] = pl.Series(sample.in_household)
    if special is not None:
        figures["suda_score"], figures["dis_suda"] = pl.Series(special.scores), pl.Series(special.dis)
    return pl.DataFrame(figures)


def _sizes(measured: Measurement) -> Integers:
    """Per distinct combination, the people that k counts: of its class, or who match it; 0 where it is suppressed."""
    by_class = measured.matches if isinstance(measured, WildcardMeasurement) else measured.classes.people
    sizes = np.zeros(measured.released.height, dtype=np.int64)
    sizes[~measured.starred.to_numpy()] = by_class
    return sizes


def records_target(path: Path, *others: str | Path | None, force: bool) -> FileTarget:
    """Where the lines go, refused before the work. What was measured is never replaced, whatever is forced."""
    chosen = FORMATS.get(path.suffix.lower())
    if chosen is None:
        raise TargetError(f"{path}: the name has to end in {' or '.join(FORMATS)}")
    if path.is_dir() or not path.parent.is_dir():
        raise TargetError(f"{path}: {'is a folder' if path.is_dir() else 'its folder does not exist'}")
    if path.exists():
        if any(path.samefile(other) for other in others if other and Path(other).exists()):
            raise TargetError(f"{path}: is the table that is measured")
        if not force:
            raise TargetError(f"{path}: exists already", advice=FieldText(FieldName("force"), " replaces it"))
    return FileTarget(path, chosen, Dialect(), str(path))
