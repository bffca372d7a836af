"""The offline assistant: how requests are understood, and how each is done."""
