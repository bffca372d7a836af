"""Answers as the typed events of OpenAI's Responses API.

Shapes as in the API's reference (https://platform.openai.com/docs/api-reference/responses-streaming).
"""

import json
from collections.abc import Sequence

from tests.support.servers.model_replies import Call, Json, Raw, Say, Tokens


def responses_events(say: Say) -> list[bytes]:
    """The answer, from `response.created` to `response.completed` (or `incomplete`, for a `stop`)."""
    items: list[list[dict[str, Json]]] = []
    if say.thinking:
        items.append(_reasoning(say))
    if say.text or say.refusal:
        items.append(_message(say))
    items += [_call(call, index) for index, call in enumerate(say.calls)]
    events: list[dict[str, Json]] = [{"type": "response.created", "response": {"status": "in_progress"}}]
    for index, item in enumerate(items):
        events += [{**event, "output_index": index} for event in item]
    return numbered([*events, ended(say.usage, incomplete=say.stop)])


def numbered(events: Sequence[dict[str, Json]]) -> list[bytes]:
    """Events in wire form, with their sequence numbers."""
    return [
        f"event: {event['type']}\ndata: {json.dumps({**event, 'sequence_number': number})}\n\n".encode()
        for number, event in enumerate(events)
    ]


def ended(
    usage: Tokens | None = None, *, incomplete: str | None = None, output: Sequence[Json] = ()
) -> dict[str, Json]:
    """The last event of an answer."""
    response: dict[str, Json] = {"id": "resp_1", "object": "response", "output": output}
    if usage is not None:
        response["usage"] = responses_usage(usage)
    if incomplete is None:
        return {"type": "response.completed", "response": {**response, "status": "completed"}}
    response |= {"status": "incomplete", "incomplete_details": {"reason": incomplete}}
    return {"type": "response.incomplete", "response": response}


def responses_usage(tokens: Tokens) -> Json:
    """Usage as the API counts it."""
    sent = tokens.input + tokens.cache_read + tokens.cache_write
    return {
        "input_tokens": sent,
        "input_tokens_details": {"cached_tokens": tokens.cache_read},
        "output_tokens": tokens.output,
        "output_tokens_details": {"reasoning_tokens": tokens.thought},
        "total_tokens": sent + tokens.output,
    }


def answered(say: Say) -> Raw:
    """The answer as a reply of a `ModelServer`."""
    events = responses_events(say)
    return Raw(pieces=[b"".join(events)] if say.split == "whole" else events)


def _reasoning(say: Say) -> list[dict[str, Json]]:
    item: dict[str, Json] = {"type": "reasoning", "id": "rs_1", "summary": []}
    text = "".join(say.thinking)
    done = {**item, "summary": [{"type": "summary_text", "text": text}], "encrypted_content": say.signature}
    return [
        {"type": "response.output_item.added", "item": item},
        {"type": "response.reasoning_summary_part.added", "summary_index": 0},
        *(
            {"type": "response.reasoning_summary_text.delta", "summary_index": 0, "delta": delta}
            for delta in say.thinking
        ),
        {"type": "response.reasoning_summary_text.done", "summary_index": 0, "text": text},
        {"type": "response.output_item.done", "item": done},
    ]


def _message(say: Say) -> list[dict[str, Json]]:
    item: dict[str, Json] = {"type": "message", "id": "msg_1", "role": "assistant", "content": []}
    text = "".join(say.text)
    content: list[Json] = [{"type": "output_text", "text": text, "annotations": []}] if text else []
    events: list[dict[str, Json]] = [{"type": "response.output_item.added", "item": item}]
    deltas: list[dict[str, Json]] = [{"type": "response.output_text.delta", "delta": piece} for piece in say.text]
    events += deltas
    if say.refusal:
        content.append({"type": "refusal", "refusal": say.refusal})
        events.append({"type": "response.refusal.delta", "content_index": 0, "delta": say.refusal})
    return [*events, {"type": "response.output_item.done", "item": {**item, "content": content}}]


def _call(call: Call, index: int) -> list[dict[str, Json]]:
    item: dict[str, Json] = {"type": "function_call", "id": f"fc_{index}", "name": call.name, "arguments": ""}
    item["call_id"] = call.id or f"call_{index}"
    return [
        {"type": "response.output_item.added", "item": item},
        *({"type": "response.function_call_arguments.delta", "delta": piece} for piece in call.fragments()),
        {"type": "response.function_call_arguments.done", "arguments": call.json},
        {"type": "response.output_item.done", "item": {**item, "arguments": call.json, "status": "completed"}},
    ]
