"""Clients of ours, over every transport, and what they do for an agent."""
