"""Words, their shapes and lists, sentences."""
