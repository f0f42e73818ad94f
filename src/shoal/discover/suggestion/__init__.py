"""From a profile to a policy."""
