"""What agents remember beyond one conversation."""
