"""Finding implementations: entry points and typed references to modules not yet imported."""
