"""Facts about models by name."""
