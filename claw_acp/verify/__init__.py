"""Conformance checkers: they drive a foreign program, judge what it does, and say which rule it breaks."""
