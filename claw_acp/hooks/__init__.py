"""Hooks that people write as commands: their files, the shape that agents share, and a session extension."""
