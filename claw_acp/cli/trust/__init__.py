"""`claw-acp trust`: trust in files of projects."""
