"""Retries, other keys and other models when a target fails."""
