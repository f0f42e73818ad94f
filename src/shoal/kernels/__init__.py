"""Low-level code on whole arrays: grouping, look-up tables, Arrow buffers, batches. It knows no data's meaning."""
