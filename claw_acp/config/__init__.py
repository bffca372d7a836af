"""Configuration: where files live, what they may say, where each value came from."""
