"""Work that outlives a request: a table of jobs, and the processes that take from it."""
