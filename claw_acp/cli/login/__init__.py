"""`claw-acp login` and `logout`."""
