"""Slash commands, one file per theme."""
