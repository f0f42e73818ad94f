"""The commands of the vault."""
