"""Conformance checks of programs that attach to the hub."""
