"""Several tables that belong together: measured, attacked, joined."""
