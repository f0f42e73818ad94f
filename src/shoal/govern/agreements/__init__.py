"""Undertakings and agreements from templates, filled from what is recorded (MeitY 3.2.2; PDPC step 5)."""
