"""Protocol 2 (draft): what it calls things, and how events look in it."""
