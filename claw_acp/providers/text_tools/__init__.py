"""Tools for models without native tools: described, called and answered in text."""
