"""How an attacker compares what they know with what was released."""
