"""A client's instructions for a session (`systemPrompt`), independent of the protocol version."""

from claw_acp.core.errors import InvalidRequest
from claw_acp.schema.content import TextContent
from claw_acp.schema.system_prompt import SystemPrompt
from claw_acp.session.setup import Instructions

LIMIT = 100_000  # characters: more would leave most models little room for the conversation


def instructions(system_prompt: SystemPrompt | None) -> Instructions | None:
    """The requested instructions, if any.

    Raises:
        InvalidRequest: The mode or a content block is of a kind that was not offered, the text is missing or too long.
    """
    if system_prompt is None:
        return None
    if system_prompt.mode not in {"append", "override"}:
        raise InvalidRequest(f"`systemPrompt.mode` {system_prompt.mode!r} is unknown; use append or override")
    texts = [block.text for block in system_prompt.content if isinstance(block, TextContent)]
    if len(texts) < len(system_prompt.content):
        raise InvalidRequest("`systemPrompt.content` must hold text blocks only")
    text = "\n\n".join(texts).strip()
    if not text:
        raise InvalidRequest("`systemPrompt.content` holds no text; leave `systemPrompt` out instead")
    if len(text) > LIMIT:
        raise InvalidRequest(f"`systemPrompt.content` has {len(text)} characters; {LIMIT} is the most")
    return Instructions(mode="override" if system_prompt.mode == "override" else "append", text=text)
