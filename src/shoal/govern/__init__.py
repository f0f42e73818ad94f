"""Governance: who released what to whom, with what evidence (MeitY chapter 3, PDPC step 5, ISO/IEC 20889 clause 12)."""
