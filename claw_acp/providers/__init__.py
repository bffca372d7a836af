"""Model providers, one file per wire family."""
