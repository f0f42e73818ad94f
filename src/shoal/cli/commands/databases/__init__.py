"""Commands about whole databases."""
