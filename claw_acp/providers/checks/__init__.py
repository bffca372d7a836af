"""Small real requests that show whether a key or a model works."""
