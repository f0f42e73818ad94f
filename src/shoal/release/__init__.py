"""The main job: policy in, release out."""

from shoal.assess.measure.table_measurement import measure
from shoal.release.run import Release, anonymise

__all__ = ["Release", "anonymise", "measure"]
