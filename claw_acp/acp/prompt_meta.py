"""What a bridge writes into the `_meta` of a prompt."""

from typing import Final

META_PROMPT: Final = "claw-acp/prompt"
"""In the `_meta` of a prompt: 32 hexadecimal digits, by which the journal tells whether it was kept."""
META_AGAIN: Final = "claw-acp/again"
"""In the `_meta` of a prompt: true says that another agent process had it before, and may have kept it."""
