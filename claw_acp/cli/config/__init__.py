"""`claw-acp config`: settings shown and changed."""
