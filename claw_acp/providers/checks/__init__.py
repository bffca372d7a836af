"""Small real requests that test a key or a model."""
