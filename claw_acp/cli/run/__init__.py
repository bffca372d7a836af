"""`claw-acp run`: one prompt in a terminal."""
