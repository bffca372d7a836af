#!/usr/bin/env python3
"""The reference model, written with the kit. Needs claw-acp installed in this Python."""

import anyio

from claw_acp.kit import ChatFailed, ChatParams, ModelRow, Plugin, PluginCapabilities, Stream, ToolRequest

plugin = Plugin(
    "reference-python-kit",
    version="1.0",
    models=[ModelRow(id="reference", name="Reference", contextWindow=8192)],
    capabilities=PluginCapabilities(tools=True, thinking=True),
)


@plugin.chat
async def chat(request: ChatParams, stream: Stream) -> None:
    """Answer as the specification says the reference model does."""
    text = request.last.content
    match [request.last.role, *text.split(" ", 2)]:
        case ["tool", *_]:
            stream.text("tool said: ")
            stream.text(text)
        case [_, "call", name, arguments]:
            stream.tool_call(ToolRequest(id="call-1", name=name, arguments=arguments))
        case [_, "think", *_]:
            stream.thought("thinking")
            stream.text(text.removeprefix("think "))
        case [_, "fail"]:
            raise ChatFailed("rate_limited", "try again later", retry_after=7)
        case [_, "wait"]:
            await anyio.sleep_forever()
        case _:
            stream.text("echo: ")
            stream.text(text)
    stream.usage(input_tokens=len(request.messages), output_tokens=1)


plugin.run()
