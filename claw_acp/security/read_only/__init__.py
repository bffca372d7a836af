"""Command lines that only read: a small language, the known programs and options, and the environment for them."""
