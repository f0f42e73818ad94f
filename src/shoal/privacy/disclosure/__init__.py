"""Whether values of direct identifiers can still be found or told in other values, beyond chance."""
