"""A request to Ollama's chat API: https://docs.ollama.com/api/chat.

Images are separate from the text of a message, arguments of calls are objects, and a tool result is a message that
names the tool. Only user messages can hold images, so those of tool results follow in one.
"""

from collections.abc import Iterator, Sequence

from claw_acp.contracts.provider import ChatOptions, ChatRequest, OneTool, ToolSpec
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.messages import ImagePart, Message
from claw_acp.core.value import Value
from claw_acp.providers.transport.request_parts import function_rows, given
from claw_acp.providers.transport.wire import arguments_object, texts_and_images

USUAL_WINDOW = 32_768  # tokens asked for; the server's own default may be 4,096, and it cuts conversations silently
KEEP_ALIVE = "15m"  # how long the model stays loaded between turns; people read and think for longer than the usual 5

_LEVELS = ("low", "medium", "high")


class OllamaModel(Value):
    """The server's description of a model.

    Attributes:
        context_window: Tokens the model was made for; 0 when unknown.
        num_ctx: Tokens that its own parameters request; 0 if none.
        remote: Whether it runs in Ollama's cloud, which sets its window itself.
        abilities: `completion`, `tools`, `vision`, `thinking`, ...; None when the server does not say.
        thinks: The values that `think` may have; None when the server does not say.
    """

    context_window: int = 0
    num_ctx: int = 0
    remote: bool = False
    abilities: frozenset[str] | None = None
    thinks: tuple[bool | str, ...] | None = None

    @property
    def window(self) -> int:
        """The context window of our requests, in tokens; 0 when unknown."""
        if self.remote:
            return self.context_window
        wanted = self.num_ctx or USUAL_WINDOW
        return min(wanted, self.context_window) if self.context_window else wanted

    def can(self, ability: str) -> bool | None:
        """True if the model has an ability; None when the server does not say."""
        return None if self.abilities is None else ability in self.abilities


UNKNOWN_MODEL = OllamaModel()


def chat_body(request: ChatRequest, *, model: OllamaModel, thinking: bool, provider: str) -> JsonObject:
    """The body of `POST /api/chat`, streaming. Without `thinking` the member is left out.

    Raises:
        RequestRejected: A part of a message cannot be sent.
    """
    body: dict[str, JsonValue] = {
        "model": request.model,
        "messages": list(_messages(request.messages, provider=provider)),
        "stream": True,
        "keep_alive": KEEP_ALIVE,
        "options": _options(request.options, model=model),
    }
    tools = _tools(request.tools, options=request.options)
    if tools:
        body["tools"] = tools
    think = _think(request, model=model) if thinking else None
    if think is not None:
        body["think"] = think
    return body


def _options(options: ChatOptions, *, model: OllamaModel) -> JsonObject:
    return given(
        {
            "num_ctx": None if model.remote or model.num_ctx else model.window,
            "num_predict": options.max_tokens,
            "temperature": options.temperature,
            "top_p": options.top_p,
            "stop": [*options.stop] or None,
        }
    )


def _tools(tools: Sequence[ToolSpec], *, options: ChatOptions) -> list[JsonObject]:
    """The tools on offer. The API has no tool choice, so a tool that must be called is offered alone."""
    choice = options.tool_choice
    if choice == "none":
        return []
    return function_rows([tool for tool in tools if not isinstance(choice, OneTool) or tool.name == choice.name])


def _think(request: ChatRequest, *, model: OllamaModel) -> bool | str | None:
    """The value of `think`: a level if the model has levels, else true or false; None leaves it out.

    Source: https://docs.ollama.com/capabilities/thinking. A model without thinking refuses the request.
    """
    effort = request.options.effort
    if effort is None:
        return None
    values = model.thinks
    if values is None:
        if model.can("thinking") is False:
            return None
        values = _LEVELS if "gpt-oss" in request.model.lower() else (True, False)
    if effort == "off":
        return False if False in values else next((level for level in _LEVELS if level in values), None)
    if effort in values:
        return effort
    return True if True in values else None


# ------------------------------------------------------------------ messages


def _messages(messages: Sequence[Message], *, provider: str) -> Iterator[JsonObject]:
    shown: list[str] = []  # pictures that tools returned, waiting for the end of the round
    for message in messages:
        if message.role != "tool" and shown:
            yield _pictures(shown)
            shown = []
        items = texts_and_images(message.parts, provider=provider)
        text = "\n".join(item for item in items if isinstance(item, str))
        images = [item.data for item in items if isinstance(item, ImagePart)]
        match message.role:
            case "assistant":
                yield _assistant(message, text=text)
            case "tool":
                yield _result(message, text=text or ("(the picture follows)" if images else "(no output)"))
                shown += images
            case role:
                yield {"role": role, "content": text, **({"images": images} if images else {})}
    if shown:
        yield _pictures(shown)


def _pictures(images: list[str]) -> JsonObject:
    return {"role": "user", "content": "The pictures that the tools returned:", "images": images}


def _assistant(message: Message, *, text: str) -> JsonObject:
    """An assistant message; one with calls includes its thinking, as the templates of the models require."""
    body: dict[str, JsonValue] = {"role": "assistant", "content": text}
    if message.tool_calls:
        thinking = "".join(block.text for block in message.reasoning if not (block.origin or block.signature))
        if thinking:
            body["thinking"] = thinking
        body["tool_calls"] = [
            {"id": call.id, "function": {"name": call.name, "arguments": arguments_object(call.arguments)}}
            for call in message.tool_calls
        ]
    return body


def _result(message: Message, *, text: str) -> JsonObject:
    body: dict[str, JsonValue] = {"role": "tool", "content": text, "tool_name": message.tool_name or ""}
    if message.tool_call_id:
        body["tool_call_id"] = message.tool_call_id
    return body
