"""Tools that search for files and text."""
