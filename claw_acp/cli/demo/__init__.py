"""`claw-acp demo`: a complete task on a sample project."""
