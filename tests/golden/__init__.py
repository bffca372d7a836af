"""One conversation in each protocol, frame by frame, as text that people read (`protocol-*.txt`).

An added or missing field, another order, another word: all are visible in a diff. `poe golden` writes them again.
"""
