"""Tools that look for files and text."""
