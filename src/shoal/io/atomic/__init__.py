"""Files and folders that appear whole or not at all."""
