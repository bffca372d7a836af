"""`claw-acp doctor`: checks of this machine and its settings, with advice."""
