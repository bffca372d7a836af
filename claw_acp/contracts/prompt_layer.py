"""The contract of a part of the system prompt."""

from claw_acp.core.value import Value


class PromptLayer(Value):
    """One part of the system prompt, with the blank lines it needs around it.

    A layer that is not `stable` may change with each request. It stands behind the stable ones, since vendors cache
    prompts from their beginning up to the first changed byte.
    """

    name: str
    text: str
    stable: bool = True
