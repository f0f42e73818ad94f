"""Several sources as one table: which column of each goes where, and how its values are brought into one form."""
