"""`claw-acp cron`: jobs that run at set times."""
