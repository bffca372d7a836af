"""Attacks on a sandbox, as a proof of what it stops: small programs, and a place where all they want can be had."""
