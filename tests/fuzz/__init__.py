"""Broken and odd frames by the million, through the real peer, connection and engine: `python -m tests.fuzz --help`."""
