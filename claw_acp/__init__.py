"""claw-acp: an agent server for editors. Nothing is imported here: start-up time is counted in milliseconds."""
