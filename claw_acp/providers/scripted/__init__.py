"""A provider that plays a script."""
