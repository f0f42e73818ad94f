"""Results as they are written and read again: the manifest, measurements, attacks, explorations."""
