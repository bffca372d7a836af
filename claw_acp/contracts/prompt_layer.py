"""The contract of a part of the system prompt."""

from claw_acp.core.value import Value


class PromptLayer(Value):
    """One part of the system prompt, with the blank lines around it that it needs.

    A layer that is not `stable` may be another at the next request. It stands behind all that are, since vendors cache
    prompts from their beginning up to the first byte that changed.
    """

    name: str
    text: str
    stable: bool = True
