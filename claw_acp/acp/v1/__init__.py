"""Protocol 1: what it calls things, and how events look in it."""
