"""`claw-acp prompt`."""
