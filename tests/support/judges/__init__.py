"""Every frame of the agent is judged here: the official schema, and the rules of order."""
