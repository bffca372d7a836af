"""The command line: a table of commands, each in its own module."""
