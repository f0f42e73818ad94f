"""The main job: policy in, release out."""

from shoal.assess.measure.table_measurement import measure
from shoal.release.destinations import Release
from shoal.release.run import anonymise

__all__ = ["Release", "anonymise", "measure"]
