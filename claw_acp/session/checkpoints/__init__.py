"""The state of files before each turn, and its restoration."""
