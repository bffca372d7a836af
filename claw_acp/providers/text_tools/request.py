"""A request whose tools are described in text, for models without native tools.

The description is at the end of the instructions and depends on the tools alone, sorted by name, so that it stays the
same byte for byte. The tool choice, which changes from request to request, is at the end of the conversation. Earlier
calls are text in the form a model writes them; their results come from the user, all of one round in one message, since
many of these models need alternating roles.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Final

from claw_acp.contracts.provider import ChatRequest, OneTool, ToolChoice, ToolSpec
from claw_acp.core.messages import ContentPart, Message, TextPart
from claw_acp.core.value import replace
from claw_acp.providers.text_tools.calls import CLOSE, OPEN, written_call, written_result

_HEAD: Final = f"""

# Tools

You work with the tools listed below. To use one, write its name and its arguments as one JSON object between two \
markers, each on a line of its own:

{OPEN}
{{"name": "TOOL", "arguments": {{"ARGUMENT": "VALUE"}}}}
{CLOSE}

- Several calls may follow each other. End your answer after the last one: what came of them is told to you in the \
next message, in <tool_result> markers. Never write a result yourself.
- Only what is written exactly so is a call. In a block of code, or within a line, it is text that a person reads; \
show examples in a block of code.
- The arguments must fit the JSON Schema of the tool. In strings write \\" for a quotation mark, \\\\ for a backslash \
and \\n for a line break.
- When no tool is needed, answer without one.
"""


def in_words(request: ChatRequest) -> ChatRequest:
    """The same request without native tools, calls or results; its tools are described in the instructions."""
    told = _with_results(_explained(request.messages, section=_section(request.tools)))
    wish = _wish(request.options.tool_choice) if request.tools else ""
    return replace(
        request,
        messages=_with_wish(told, wish) if wish else told,
        tools=(),
        options=replace(request.options, tool_choice="auto"),
    )


def needs_words(request: ChatRequest) -> bool:
    """True if a request holds anything that needs native tools."""
    return bool(request.tools) or any(message.role == "tool" or message.tool_calls for message in request.messages)


def _section(tools: Sequence[ToolSpec]) -> str:
    return _HEAD + "".join(map(_described, sorted(tools, key=lambda tool: tool.name))) if tools else ""


def _described(tool: ToolSpec) -> str:
    schema = json.dumps(tool.parameters, ensure_ascii=False, sort_keys=True)
    return f"\n## {tool.name}\n\n{tool.description.strip()}\n\nArguments (JSON Schema): {schema}\n"


def _explained(messages: Sequence[Message], *, section: str) -> list[Message]:
    """The conversation with the section at the end of its first instructions."""
    if not section:
        return list(messages)
    if not messages or messages[0].role != "system":
        return [Message.system(section.lstrip()), *messages]
    first = messages[0]
    return [replace(first, parts=(*first.parts, TextPart(text=section))), *messages[1:]]


def _with_results(messages: Sequence[Message]) -> list[Message]:
    told: list[Message] = []
    answering = False  # the last message holds results, and what a person says next joins them
    for message in messages:
        if message.role == "tool" or (answering and message.role == "user"):
            parts = tuple(written_result(message)) if message.role == "tool" else message.parts
            if answering:
                told[-1] = replace(told[-1], parts=(*told[-1].parts, *parts))
            else:
                told.append(Message(role="user", parts=parts))
            answering = True
            continue
        answering = False
        told.append(_as_written(message) if message.tool_calls else message)
    return told


def _as_written(message: Message) -> Message:
    parts = (*message.parts, TextPart(text="\n".join(_lines(message))))
    return replace(message, parts=parts, tool_calls=())


def _lines(message: Message) -> Iterator[str]:
    if message.text and not message.text.endswith("\n"):
        yield ""  # a marker begins a line
    yield from map(written_call, message.tool_calls)


def _wish(choice: ToolChoice) -> str:
    match choice:
        case "auto":
            return ""
        case "none":
            return "Do not call a tool in this answer."
        case "required":
            return "Call at least one tool in this answer."
        case OneTool(name=name):
            return f"Call the tool {name} in this answer."


def _with_wish(messages: Sequence[Message], wish: str) -> list[Message]:
    part: ContentPart = TextPart(text=f"\n\n{wish}")
    if messages and messages[-1].role == "user":
        last = messages[-1]
        return [*messages[:-1], replace(last, parts=(*last.parts, part))]
    return [*messages, Message.user(wish)]
