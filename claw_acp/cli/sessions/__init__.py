"""`claw-acp sessions` and `cost`: what is stored."""
