"""`claw-acp trace`: recorded messages, printed."""
