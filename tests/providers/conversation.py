"""One conversation with everything in it, asked of every wire family."""

from claw_acp.contracts.provider import ChatOptions, ChatRequest, ToolSpec
from claw_acp.core.messages import ImagePart, LinkPart, Message, Reasoning, ResourcePart, TextPart, ToolCall

READ = ToolSpec(
    name="read_file",
    description="Read a file",
    parameters={"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
)
IMAGE = ImagePart(data="aGk=", mime_type="image/png")
FIRST = ToolCall(id="call_1", name="read_file", arguments='{"path": "a.py"}')
BROKEN = ToolCall(id="call:2", name="read_file", arguments='{"path": "b.p')

MESSAGES = (
    Message.system("Be brief."),
    Message.user(
        TextPart(text="Look at "),
        LinkPart(uri="file:///p/a.py", name="a.py"),
        ResourcePart(uri="file:///p/b.md", text="# B"),
        IMAGE,
    ),
    Message.assistant(
        "Reading.",
        tool_calls=(FIRST, BROKEN),
        reasoning=(Reasoning(text="I should read.", signature="sig"), Reasoning(text="", redacted="xyz")),
    ),
    Message.tool(FIRST, "print(1)", IMAGE),
    Message.tool(BROKEN, "arguments are not JSON", failed=True),
    Message.user("Go on."),
    Message.user("Please."),
)


def asking(*messages: Message, model: str = "test-model", tools: bool = False, **options: object) -> ChatRequest:
    """A request; by default one user's `hi`."""
    return ChatRequest(
        model=model,
        messages=messages or (Message.user("hi"),),
        tools=(READ,) if tools else (),
        options=ChatOptions(**options),  # pyright: ignore[reportArgumentType]
    )
