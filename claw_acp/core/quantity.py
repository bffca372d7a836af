"""Counts with nouns, for people."""


def quantity(number: int, noun: str) -> str:
    """`1 file`, `3 files`; the noun's plural takes an `s`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
