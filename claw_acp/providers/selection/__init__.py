"""From a model's name to the targets of its requests."""
