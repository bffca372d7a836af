"""Prompts that a bridge has named, so that it can send them again if the process that had them has ended."""

from typing import Final

from claw_acp.acp.prompt_meta import META_AGAIN, META_PROMPT
from claw_acp.core.ids import id_of
from claw_acp.core.json_value import JsonObject
from claw_acp.session.prompt_message import NamedPrompt, OnAccepted, ignore

_DIGITS: Final = frozenset("0123456789abcdef")
_LENGTH: Final = 32


def named_prompt(meta: JsonObject | None, tell: OnAccepted = ignore) -> OnAccepted:
    """What is called when a prompt is part of the conversation; with the id of its message, if a bridge chose it."""
    key = None if meta is None else meta.get(META_PROMPT)
    if meta is None or not isinstance(key, str) or len(key) != _LENGTH or not _DIGITS.issuperset(key):
        return tell
    return NamedPrompt(id_of("msg", int(key, 16)), again=meta.get(META_AGAIN) is True, tell=tell)
