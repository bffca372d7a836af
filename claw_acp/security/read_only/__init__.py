"""Command lines that only read: a small language, the programs and options known in it, and how they are run."""
