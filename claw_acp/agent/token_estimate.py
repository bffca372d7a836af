"""Estimates of the tokens of messages and tools, without a tokenizer."""

from collections.abc import Iterable, Sequence
from typing import Final

from claw_acp.contracts.provider import ToolSpec
from claw_acp.core.messages import AudioPart, ImagePart, LinkPart, Message, ResourcePart, TextPart

CHARACTERS_PER_TOKEN: Final = 4  # in most languages and in code; short of the truth rather than beyond it in others
IMAGE_TOKENS: Final = 1500
LEAST_SCALE, MOST_SCALE = 0.5, 5.0  # further off is no tokenizer, but a service that reports something else
LEAST_SAMPLE: Final = 200  # estimated tokens; fewer say little about the rest
REFUSED_SHARE: Final = 0.8  # of what a model refused as too long, to be sent next time
ANSWER_TOKENS: Final = 1000  # of an ordinary answer; to expect the longest possible one would be far too careful


def estimate(messages: Iterable[Message], tools: Iterable[ToolSpec] = ()) -> int:
    """The estimated tokens of a request's messages and tools."""
    return sum(map(message_tokens, messages)) + sum(map(tool_tokens, tools))


def message_tokens(message: Message) -> int:
    """The estimated tokens of one message."""
    characters, tokens = 0, 0
    for part in message.parts:
        if isinstance(part, TextPart):  # nearly all are
            characters += len(part.text)
            continue
        match part:
            case ResourcePart(text=text):
                characters += len(text or "")
            case ImagePart():
                tokens += IMAGE_TOKENS
            case AudioPart(data=data):
                characters += len(data) // 100
            case LinkPart(uri=uri):
                characters += len(uri)
    for call in message.tool_calls:
        characters += len(call.name) + len(call.arguments)
    for block in message.reasoning:
        characters += len(block.text)
    return tokens + characters // CHARACTERS_PER_TOKEN + 1


def tool_tokens(tool: ToolSpec) -> int:
    """The estimated tokens of offering a tool."""
    return (len(tool.name) + len(tool.description) + len(str(tool.parameters))) // CHARACTERS_PER_TOKEN


class GrowingEstimate:
    """The estimates of a conversation that grows: each time, only its new messages are counted."""

    def __init__(self) -> None:
        self._counted: list[Message] = []
        self._sums = [0]

    def sums(self, history: list[Message]) -> Sequence[int]:
        """The tokens of the first 0, 1, 2 ... messages of `History.messages`.

        Where a message is the very same object as before, so are all before it: a history makes those behind a change
        anew.
        """
        same = min(len(history), len(self._counted))
        while same and history[same - 1] is not self._counted[same - 1]:
            same -= 1
        del self._sums[same + 1 :]
        for message in history[same:]:
            self._sums.append(self._sums[-1] + message_tokens(message))
        self._counted = history
        return self._sums


class TokenScale:
    """The reported tokens for an estimated one, by model, learned from the usage that providers report.

    And the window of a model that takes less than is known of it, learned from what it refused.
    """

    def __init__(self) -> None:
        self._scales: dict[str, float] = {}
        self._refused: dict[str, int] = {}

    def learn(self, model: str, *, estimated: int, reported: int) -> None:
        """Take over what a request took that was estimated at so many tokens."""
        if estimated >= LEAST_SAMPLE and reported > 0:
            self._scales[model] = min(MOST_SCALE, max(LEAST_SCALE, reported / estimated))

    def of(self, model: str) -> float:
        """The scale of a model, named as `UsageChanged` does; 1 as long as none is known."""
        return self._scales.get(model, 1.0)

    def refuse(self, model: str, *, estimated: int) -> None:
        """Take over that a model refused a request estimated at so many tokens as too long."""
        self._refused[model] = min(estimated, self._refused.get(model, estimated))

    def window(self, model: str, *, known: int) -> int:
        """The window of a model as far as requests may fill it."""
        refused = self._refused.get(model)
        return known if refused is None else min(known, int(refused * self.of(model) * REFUSED_SHARE))
