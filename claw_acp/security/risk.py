"""How much harm a command could do.

A risk is a level and the end of a sentence that begins with the command: "deletes files recursively". Words that are
known only at run time are given as `UNKNOWN`.
"""

from typing import Final, Literal, TypeAlias

Level = Literal["read_only", "low", "medium", "high"]
Risk: TypeAlias = tuple[Level, str]
Words: TypeAlias = tuple[str, ...]

UNKNOWN: Final = "\0"
