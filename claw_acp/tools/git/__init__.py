"""Git as tools: each call is a command line, judged and run as the same line in the shell."""
