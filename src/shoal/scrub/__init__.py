"""Replacing what was found in texts: labels, masks, surrogates; files, streams and logs."""
