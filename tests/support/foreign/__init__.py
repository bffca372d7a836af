"""Clients of others: the official SDKs, and what they need."""
