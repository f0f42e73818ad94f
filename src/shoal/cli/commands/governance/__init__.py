"""Commands about who released what to whom."""
