"""Attacks on the server, a table for each kind: nothing happens, memory stays bounded, and the log says who it was."""
