"""`claw-acp verify`: conformance of agents and provider programs."""
