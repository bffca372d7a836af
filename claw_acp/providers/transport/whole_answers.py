"""Answers that come as one JSON document although a stream was requested, converted to a stream.

Small servers and gateways do that, some with the content type of a stream. A stream never begins with a brace or a
bracket, so the first character decides, without delay for a stream.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias

from claw_acp.contracts.provider import StreamEvent
from claw_acp.core.errors import MalformedReply
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.providers.transport.wire import items_at, malformed, object_at, text_at

DOCUMENT_LIMIT: Final = 16 * 1024 * 1024  # bytes
MARK_OF_BYTES: Final = b"\xef\xbb\xbf"

Feed: TypeAlias = Callable[[bytes], Sequence[StreamEvent]]
Unfold: TypeAlias = Callable[[JsonObject], Sequence[JsonObject]]
"""Returns the stream events for a document; none if it holds no answer."""

_END: Final = b"data: [DONE]\n\n"
_scan: Callable[[str], tuple[JsonValue, int]] = json.JSONDecoder().raw_decode


class AnswerBody:
    """The body of one answer on its way to a parser.

    Attributes:
        feed: Returns the events that some bytes complete; for a stream, the parser's own method.

    Args:
        feed: The parser's.
        unfold: Converts documents.
        provider: The provider's name for errors.
    """

    def __init__(self, feed: Feed, *, unfold: Unfold, provider: str) -> None:
        self.feed: Feed = self._first
        self._parser_feed = feed
        self._unfold = unfold
        self._provider = provider
        self._pieces: list[bytes] = []
        self._size = 0

    def ended(self) -> list[StreamEvent]:
        """The events that the end of the body completes: those of a whole document.

        Raises:
            ProviderError: It is no document, or carries the vendor's own error.
        """
        events: list[StreamEvent] = []
        if self.feed == self._keep:
            for document in self._documents():
                unfolded = self._unfold(document)
                if not unfolded:
                    raise self._no_answer()
                for event in unfolded:
                    events += self._parser_feed(b"data: %s\n\n" % json.dumps(event).encode())
            events += self._parser_feed(_END)
        return events

    def _first(self, data: bytes) -> Sequence[StreamEvent]:
        start = data.removeprefix(MARK_OF_BYTES).lstrip()[:1]
        if start:
            self.feed = self._keep if start in {b"{", b"["} else self._parser_feed
            return self.feed(data)
        return self._parser_feed(data)  # blank lines keep connections alive

    def _keep(self, data: bytes) -> Sequence[StreamEvent]:
        self._pieces.append(data)
        self._size += len(data)
        if self._size > DOCUMENT_LIMIT:
            raise malformed(f"one JSON document of more than {DOCUMENT_LIMIT} bytes", provider=self._provider)
        return ()

    def _documents(self) -> Iterator[JsonObject]:
        """The objects of the body: one, a list of them, or one a line."""
        text = b"".join(self._pieces).removeprefix(MARK_OF_BYTES).decode("utf-8", "replace").strip()
        while text:
            try:
                value, end = _scan(text)
            except (ValueError, RecursionError) as error:
                raise malformed(f"a document that is not JSON ({text[:80]!r})", provider=self._provider) from error
            text = text[end:].lstrip()
            for row in value if isinstance(value, list) else [value]:
                if not isinstance(row, dict):
                    raise self._no_answer()
                yield row

    def _no_answer(self) -> MalformedReply:
        return MalformedReply(
            f"{self._provider} answered with one JSON document instead of a stream, and there is no answer in it. "
            "Check base_url in the configuration.",
            provider=self._provider,
        )


# ------------------------------------------------------------------ what the families' documents stand for


def chat_chunks(document: JsonObject) -> Sequence[JsonObject]:
    """A chat completion as chunks; chunks are returned unchanged."""
    if document.get("error") is not None:
        return (document,)
    rows = [row for row in items_at(document, "choices") if isinstance(row, dict)]
    choices: list[JsonValue] = [{**row, "delta": row.get("message", row.get("delta"))} for row in rows]
    if not choices and "usage" not in document:
        return ()
    return ({**document, "choices": choices},)


def message_events(document: JsonObject) -> Sequence[JsonObject]:
    """A message of Anthropic's API as events; events are returned unchanged."""
    if document.get("error") is not None:
        return ({**document, "type": "error"},)
    if "content" not in document:
        return (document,) if text_at(document, "type") else ()
    blocks = [block for block in items_at(document, "content") if isinstance(block, dict)]
    return (
        {"type": "message_start", "message": {"usage": object_at(document, "usage")}},
        *(
            {"type": kind, "index": index, "content_block": block}
            for index, block in enumerate(blocks)
            for kind in ("content_block_start", "content_block_stop")
        ),
        {"type": "message_delta", "delta": document},
        {"type": "message_stop"},
    )


def response_events(document: JsonObject) -> Sequence[JsonObject]:
    """A response of the Responses API as events; events are returned unchanged."""
    if text_at(document, "type"):
        return (document,)
    if document.get("error") is not None:
        return ({"type": "error", "error": document["error"]},)
    if "output" not in document:
        return ()
    incomplete = text_at(document, "status") == "incomplete"
    return ({"type": "response.incomplete" if incomplete else "response.completed", "response": document},)


def content_pieces(document: JsonObject) -> Sequence[JsonObject]:
    """A response of Gemini's API as one piece of a stream."""
    return (document,) if {"error", "candidates", "promptFeedback", "usageMetadata"} & document.keys() else ()
