"""Facts about people that no number tells: health, work, beliefs, status."""
