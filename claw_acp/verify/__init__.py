"""Conformance checkers: they drive a foreign program, judge its behaviour, and name the rules that it breaks."""
