"""Tools that compute and look into data."""
