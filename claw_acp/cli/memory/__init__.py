"""`claw-acp memory`."""
