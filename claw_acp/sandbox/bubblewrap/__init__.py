"""Bubblewrap: namespaces in which only the writable directories of a profile can be changed."""
