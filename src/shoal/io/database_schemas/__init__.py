"""Whole schemas of databases: what they are made of, how they are built elsewhere, how their tables are filled."""
