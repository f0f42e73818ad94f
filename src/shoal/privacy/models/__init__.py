"""One file per formal privacy model."""
