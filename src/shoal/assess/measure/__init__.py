"""Measuring one table: what is asked, what is found."""
