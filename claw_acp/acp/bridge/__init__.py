"""A plain `claw-acp` in front of a running hub: it forwards frames, and mends the connection when the hub ends.

Standard library only: the whole point is that nothing has to be loaded.
"""
