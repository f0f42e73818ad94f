"""Servers: what stands in their catalogues, and how views get there whole."""
