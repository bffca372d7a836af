"""Output and questions of commands on a terminal."""
