"""What language servers and a project's own checks say about the changes of a turn."""
