"""From a model's name to the targets that are asked."""
