"""The policy: decides what a tool call may do, and says why."""
