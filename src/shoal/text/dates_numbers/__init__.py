"""Dates, ages, quantities, phone and reference numbers."""
