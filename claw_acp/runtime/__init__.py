"""The composition root: builds all services and owns their lifetimes."""
