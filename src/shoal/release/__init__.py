"""The main job: policy in, release out."""

from shoal.release.job import Release, anonymise
from shoal.release.measuring import measure

__all__ = ["Release", "anonymise", "measure"]
