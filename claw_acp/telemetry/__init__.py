"""Logs and traces. Never bodies, never secrets, never stdout."""
