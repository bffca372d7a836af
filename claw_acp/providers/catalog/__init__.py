"""Lists and published facts of models, with their prices."""
