"""The judges of every frame of the agent: the official schema, and the rules of order."""
