"""Configuration: the location of files, their contents, the origin of each value."""
