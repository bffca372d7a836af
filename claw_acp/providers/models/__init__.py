"""Facts about models by their names."""
