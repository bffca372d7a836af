"""`claw-acp providers` and `models`."""
