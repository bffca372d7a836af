"""`claw-acp skills`."""
