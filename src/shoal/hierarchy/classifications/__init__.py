"""Classifications that come with Shoal: one data file each, whose head names its source."""
