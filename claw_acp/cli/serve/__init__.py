"""`claw-acp serve`: the hub of this machine, and the agent for remote clients."""
