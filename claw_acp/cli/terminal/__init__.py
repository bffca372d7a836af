"""The output of commands on a terminal, and their questions there."""
