"""The one loop that runs a turn."""
