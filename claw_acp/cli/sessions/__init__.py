"""`claw-acp sessions` and `cost`: stored sessions and their costs."""
