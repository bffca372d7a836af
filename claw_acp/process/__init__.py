"""The one room in which child processes are started and ended."""
