"""The extension points, one file per concept: what an implementation must provide."""
