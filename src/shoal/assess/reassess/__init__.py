"""An old release looked at again."""
