"""The composition root: builds everything and owns lifetimes."""
