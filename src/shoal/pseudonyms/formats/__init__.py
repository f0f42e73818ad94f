"""What pseudonyms look like, one file per format."""
