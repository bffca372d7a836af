"""Agents that are other programs: we are their client, and what they ask of us passes our policy like any call."""
