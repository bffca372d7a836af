#!/usr/bin/env python3
"""Lends one tool, `word_count`, with the kit of claw-acp. With the path of a hub's socket it attaches there."""

import sys

from claw_acp.kit import Lender

lender = Lender("reference-python-kit", version="1.0")


@lender.tool(
    "Counts the words of a text, which are separated by white space.",
    {
        "type": "object",
        "properties": {"text": {"type": "string", "description": "The text."}},
        "required": ["text"],
    },
    title="Count words",
    read_only=True,
)
async def word_count(text: str) -> str:
    """Return the number of words."""
    if not isinstance(text, str):
        raise TypeError("call word_count with a text")
    count = len(text.split())
    await lender.log(f"counted {count} words")
    return str(count)


lender.run(*sys.argv[1:])
