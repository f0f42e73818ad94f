"""Where streams go: one file for each kind. What left and how far the stream is are committed together."""
