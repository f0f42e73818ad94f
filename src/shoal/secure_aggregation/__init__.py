"""Adding up what nobody may read: encrypted columns, shares of columns."""
