"""The conversation, and the services that hold their part of it while it is recorded."""

import json
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import aclosing, contextmanager
from pathlib import Path

from claw_acp.contracts.provider import ChatRequest, Finished, TextChunk
from claw_acp.contracts.provider_setup import Cassette, ProviderSetup, Quirks
from claw_acp.core.errors import ProviderError
from claw_acp.core.messages import Message
from claw_acp.core.secret import Secret
from claw_acp.core.value import Value
from claw_acp.providers.assembly import plain
from claw_acp.providers.text_tools.provider import ToolModes
from tests.providers.conversation import READ
from tests.support.servers.aws_server import STREAM, frames
from tests.support.servers.gemini_replies import gemini_events
from tests.support.servers.loopback import Answered, Asked, Loopback, serving
from tests.support.servers.model_replies import Call, Say, anthropic_events, openai_events
from tests.support.servers.ollama_server import NDJSON, lines, shown
from tests.support.servers.responses_replies import responses_events

KEY = "bedrock-api-key-0123456789"
MODEL = "test-model"
READING = Call(name="read_file", arguments={"path": "żółw.txt"}, id="v1")
IN_WORDS = f'Let me see.\n<tool_call>\n{{"name": "read_file", "arguments": {READING.json}}}\n</tool_call>'
SAYS = (
    Say(text=("Let me ", "see."), calls=(READING,)),
    Say(text=("It says ", "hello.")),
    Say(text=("You are ", "welcome. 🐢")),
)
SLOW_DOWN = Answered([b'{"error": {"message": "slow down"}, "message": "slow down"}'], status=429)
HELD = [
    "Let me see.",
    'read_file {"path": "\u017c\u00f3\u0142w.txt"}',
    "It says hello.",
    "RateLimited",
    "You are welcome. 🐢",
]


class Family(Value):
    """How a wire family is reached and answers. `base` is what follows the address in its base URL."""

    kind: str
    answer: Callable[[Say], Sequence[bytes]]
    base: str = ""
    media_type: str = "text/event-stream"
    quirks: Quirks = Quirks()


def _in_words(say: Say) -> list[bytes]:
    pieces = tuple(IN_WORDS[start : start + 9] for start in range(0, len(IN_WORDS), 9))
    return openai_events(Say(text=pieces) if say.calls else say)


FAMILIES = {
    "anthropic": Family(kind="anthropic", answer=anthropic_events),
    "azure": Family(kind="azure", answer=openai_events),
    "bedrock": Family(kind="bedrock", media_type=STREAM, answer=lambda say: frames(*say.text, calls=say.calls)),
    "gemini": Family(kind="gemini", answer=gemini_events),
    "ollama": Family(kind="ollama", media_type=NDJSON, answer=lambda say: lines(*say.text, calls=say.calls)),
    "openai": Family(kind="openai", base="/v1", answer=openai_events),
    "responses": Family(kind="responses", base="/v1", answer=responses_events),
    "words": Family(kind="openai", base="/v1", answer=_in_words, quirks=Quirks(tools=False)),
}


@contextmanager
def service(family: Family) -> Generator[str]:
    """The family's service on loopback, with its answers; its base URL."""
    first, second, third = (Answered(family.answer(say), kind=family.media_type) for say in SAYS)
    script = deque((first, second, SLOW_DOWN, third))

    def answer(asked: Asked) -> Answered:
        if asked.path == "/api/show":
            return Answered([json.dumps(shown("tools")).encode()])
        return script.popleft()

    server = Loopback(answer)
    with serving(server):
        yield f"{server.url}{family.base}"


async def hold(name: str, *, url: str, file: Path, replay: bool = False) -> list[str]:
    """Hold the conversation; what was said, called and refused, in order."""
    family = FAMILIES[name]
    setup = ProviderSetup(
        name="acme", kind=family.kind, base_url=url, api_key=Secret(KEY), quirks=family.quirks,
        cassette=Cassette(path=file, mode="replay" if replay else "record"),
    )  # fmt: skip
    messages = [Message.system("Be brief."), Message.user("What does żółw.txt say?")]
    held: list[str] = []
    async with aclosing(plain(setup, tool_modes=ToolModes())) as provider:
        for _ in range(4):
            said: list[str] = []
            try:
                async with aclosing(
                    provider.stream(ChatRequest(model=MODEL, messages=messages, tools=(READ,)))
                ) as events:
                    async for event in events:
                        if isinstance(event, TextChunk):
                            said.append(event.text)
                        if isinstance(event, Finished):
                            calls = event.response.tool_calls
                            messages.append(Message.assistant(event.response.text, tool_calls=calls))
                            messages += [Message.tool(call, "hello") for call in calls]
                            held.append("".join(said).strip())
                            held += [
                                f"{call.name} {json.dumps(json.loads(call.arguments), ensure_ascii=False)}"
                                for call in calls
                            ]
            except ProviderError as error:
                held.append(type(error).__name__)
            if messages[-1].role == "assistant":
                messages.append(Message.user("Thanks."))
    return held
