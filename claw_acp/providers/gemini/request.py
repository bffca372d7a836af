"""A request to Google's Gemini API.

The results of one round of calls share one content, in the number and order of the calls; user messages are contents of
their own. Thought signatures go back with the parts they came with, and calls of another vendor's model get the value
Google documents for such histories (https://ai.google.dev/gemini-api/docs/thought-signatures).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from claw_acp.contracts.provider import AUDIO_TYPES, ChatOptions, ChatRequest, OneTool, ToolChoice, ToolSpec
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.messages import AudioPart, Message, ToolCall
from claw_acp.providers.gemini.thinking import is_current, thinking_config
from claw_acp.providers.transport.part_order import MarkedText, pieces_in_order
from claw_acp.providers.transport.request_parts import CONTINUE, given
from claw_acp.providers.transport.wire import Media, arguments_object, object_at, text_at, texts_and_media

ORIGIN = "gemini"
"""The wire family of our blocks (`Reasoning.origin`), and our key in `ToolCall.extra`."""

SIGNATURE = "thoughtSignature"
UNSIGNED = "skip_thought_signature_validator"  # Google's word for a call that it did not sign
STOP_LIMIT = 5  # stop sequences the API takes

_MODES: Final[Mapping[ToolChoice, str]] = {"none": "NONE", "required": "ANY"}

Part = dict[str, JsonValue]


class _Content(NamedTuple):
    kind: Literal["said", "answered", "results"]
    parts: list[Part]


def generate_content(request: ChatRequest, *, provider: str) -> JsonObject:
    """The body of `POST /v1beta/models/{model}:streamGenerateContent`.

    Raises:
        RequestRejected: A part of a message cannot be sent.
    """
    contents = _Contents(current=is_current(request.model), provider=provider).of(request.messages)
    body: dict[str, JsonValue] = {
        "contents": [
            {"role": "model" if content.kind == "answered" else "user", "parts": content.parts} for content in contents
        ]
    }
    system = [{"text": text} for message in request.messages if message.role == "system" if (text := message.text)]
    if system:
        body["systemInstruction"] = {"parts": system}
    body |= _tools(request.tools, choice=request.options.tool_choice)
    config = _config(request.options, model=request.model)
    if config:
        body["generationConfig"] = config
    return body


# ------------------------------------------------------------------ options


def _tools(tools: Sequence[ToolSpec], *, choice: ToolChoice) -> JsonObject:
    if not tools:
        return {}
    body: dict[str, JsonValue] = {"tools": [{"functionDeclarations": [_declared(tool) for tool in tools]}]}
    if isinstance(choice, OneTool):
        body["toolConfig"] = {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": [choice.name]}}
    elif choice in _MODES:
        body["toolConfig"] = {"functionCallingConfig": {"mode": _MODES[choice]}}
    return body


def _declared(tool: ToolSpec) -> JsonObject:
    """The declaration of a tool: the API takes JSON Schema; parameters must be absent if there are none."""
    declared: dict[str, JsonValue] = {"name": tool.name, "description": tool.description}
    if object_at(tool.parameters, "properties"):
        declared["parametersJsonSchema"] = tool.parameters
    return declared


def _config(options: ChatOptions, *, model: str) -> JsonObject:
    return given(
        {
            "maxOutputTokens": options.max_tokens,
            "temperature": options.temperature,
            "topP": options.top_p,
            "stopSequences": [*options.stop[:STOP_LIMIT]] or None,
            "thinkingConfig": thinking_config(model, options.effort) or None,
        }
    )


# ------------------------------------------------------------------ messages


class _Contents:
    """Makes the contents of one request. `current`: for a model of the current generation."""

    def __init__(self, *, current: bool, provider: str) -> None:
        self._current = current
        self._provider = provider
        self._ids: dict[str, str] = {}  # of calls: ours -> the vendor's

    def of(self, messages: Sequence[Message]) -> list[_Content]:
        """The contents; they cannot begin with a model's answer."""
        contents: list[_Content] = []
        for content in map(self._content, messages):
            if content.parts and contents and contents[-1].kind == content.kind:
                contents[-1].parts.extend(content.parts)
            elif content.parts:
                contents.append(content)
        if not contents or contents[0].kind == "answered":
            contents.insert(0, _Content("said", [{"text": CONTINUE}]))
        for content in contents:
            if content.kind == "results":
                content.parts.sort(key=_results_first)
        return contents

    def _content(self, message: Message) -> _Content:
        match message.role:
            case "system":
                return _Content("said", [])
            case "user":
                return _Content("said", list(self._parts(message)))
            case "assistant":
                return _Content("answered", list(self._answer(message)))
            case "tool":
                return _Content("results", list(self._result(message)))

    def _parts(self, message: Message) -> Iterator[Part]:
        for item in texts_and_media(message.parts, provider=self._provider):
            part = _part(item)
            if part != {"text": ""}:
                yield part

    def _answer(self, message: Message) -> Iterator[Part]:
        text = "".join(str(part["text"]) for part in self._parts(message) if "text" in part)
        signed = False  # only the first call of an answer carries a signature
        for piece in pieces_in_order(message, text=text, origin=ORIGIN):
            match piece:
                case str():
                    if piece.strip():
                        yield {"text": piece}
                case ToolCall():
                    yield self._call(piece, first=not signed)
                    signed = True
                case MarkedText(mark=mark, text=part) if mark.kept.get("thought"):
                    yield {"text": mark.thought, **mark.kept}
                    if part.strip():
                        yield {"text": part}
                case MarkedText(mark=mark, text=part):
                    yield {"text": part, **mark.kept}

    def _call(self, call: ToolCall, *, first: bool) -> Part:
        kept = object_at(call.extra or {}, ORIGIN)
        vendors = self._ids[call.id] = text_at(kept, "id") or call.id
        part: Part = {"functionCall": {"id": vendors, "name": call.name, "args": arguments_object(call.arguments)}}
        signature = text_at(kept, SIGNATURE) or (UNSIGNED if first and self._current else "")
        if signature:
            part[SIGNATURE] = signature
        return part

    def _result(self, message: Message) -> Iterator[Part]:
        """The result of a call.

        Images are inside it since generation 3; before that, images come after it, and sound always.
        """
        parts = list(self._parts(message))
        text = "".join(str(part["text"]) for part in parts if "text" in part)
        media = [part for part in parts if "inlineData" in part]
        inside = [part for part in media if self._current and not _is_audio(part)]
        call_id = message.tool_call_id or ""
        response: dict[str, JsonValue] = {
            "id": self._ids.get(call_id, call_id),
            "name": message.tool_name or "tool",
            "response": {"error" if message.failed else "output": text},
        }
        if inside:
            response["parts"] = inside
        yield {"functionResponse": response}
        yield from (part for part in media if part not in inside)


def _is_audio(part: Part) -> bool:
    return text_at(object_at(part, "inlineData"), "mimeType").startswith("audio/")


def _results_first(part: Part) -> bool:
    return "functionResponse" not in part


def _part(item: str | Media) -> Part:
    if isinstance(item, str):
        return {"text": item}
    if isinstance(item, AudioPart):
        return {"inlineData": {"mimeType": f"audio/{AUDIO_TYPES[item.mime_type]}", "data": item.data}}
    if item.mime_type == "image/gif":  # the one type that other vendors take and Google does not
        return {"text": "(a GIF image, which this model cannot see)"}
    return {"inlineData": {"mimeType": item.mime_type, "data": item.data}}
