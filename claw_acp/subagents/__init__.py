"""Subagents: work that a model gives to another conversation of its own."""
