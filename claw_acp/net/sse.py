"""Sans-IO decoder for server-sent events, after the WHATWG HTML standard.

On the path of every streamed word, so a read is split as a whole and each event is looked at once.
"""

from typing import NamedTuple

from claw_acp.core.errors import MalformedReply

EVENT_LIMIT = 8 * 1024 * 1024  # bytes; far above any model's event, far below what would hurt this process

_BOM = b"\xef\xbb\xbf"


class ServerSentEvent(NamedTuple):
    """One event: its name (`message` unless the stream says otherwise) and its data, lines joined by line feeds."""

    event: str
    data: str


class SseDecoder:
    """Decodes chunks of a body into events. `feed` returns all events that a chunk completes.

    The fields `id` and `retry` are ignored: nothing here reconnects. An event that is cut off is dropped, as the
    standard says. Bytes that are not UTF-8 become U+FFFD.
    """

    def __init__(self, *, provider: str = "", limit: int = EVENT_LIMIT) -> None:
        self._provider = provider
        self._limit = limit
        self._pending: list[bytes] = []  # pieces of the event under way: joined once, so long events stay linear
        self._pending_size = 0
        self._ends_in_newline = False
        self._skip_newline = False  # the last read ended in CR, which ended its line; an LF next belongs to it
        self._at_start = True

    def feed(self, chunk: bytes) -> list[ServerSentEvent]:
        """Decode a chunk; returns the events that it completes.

        Raises:
            MalformedReply: One event is longer than the limit.
        """
        if self._skip_newline or b"\r" in chunk:
            chunk = self._unified(chunk)
        if not chunk:
            return []
        complete = b"\n\n" in chunk or (self._ends_in_newline and chunk.startswith(b"\n"))
        self._ends_in_newline = chunk.endswith(b"\n")
        if not complete:
            self._keep(chunk)
            return []
        if self._pending:
            chunk = b"".join((*self._pending, chunk))
            self._pending.clear()
            self._pending_size = 0
        if self._at_start:
            self._at_start = False
            chunk = chunk.removeprefix(_BOM)
        return self._split(chunk)

    def _split(self, chunk: bytes) -> list[ServerSentEvent]:
        """The events of a chunk with at least one blank line; the rest behind the last one is kept."""
        *blocks, rest = chunk.split(b"\n\n")
        if rest:
            self._keep(rest)
        else:
            self._ends_in_newline = False  # that line feed was the blank line, it cannot begin another
        events: list[ServerSentEvent] = []
        for block in blocks:
            if len(block) > self._limit:
                raise self._too_long()
            if block.startswith(b"data: ") and b"\n" not in block:  # what nearly every event of a model looks like
                events.append(ServerSentEvent("message", block[6:].decode("utf-8", "replace")))
            elif (event := _event(block)) is not None:
                events.append(event)
        return events

    def _keep(self, piece: bytes) -> None:
        self._pending.append(piece)
        self._pending_size += len(piece)
        if self._pending_size > self._limit:
            raise self._too_long()

    def _unified(self, chunk: bytes) -> bytes:
        """The chunk with all line ends as line feeds."""
        if self._skip_newline and chunk:
            chunk = chunk.removeprefix(b"\n")
            self._skip_newline = False
        if chunk.endswith(b"\r"):
            self._skip_newline = True
        return chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def _too_long(self) -> MalformedReply:
        who = self._provider or "the server"
        return MalformedReply(
            f"{who} sent one event longer than {self._limit} bytes; the answer was given up. "
            "Check that base_url points at a model service.",
            provider=self._provider,
        )


def _event(block: bytes) -> ServerSentEvent | None:
    """Parse the lines of one event; None for an event without data, such as a comment."""
    name = "message"
    data: list[str] = []
    for line in block.decode("utf-8", "replace").split("\n"):
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            data.append(value)
        elif field == "event":
            name = value or "message"
    return ServerSentEvent(name, "\n".join(data)) if data else None
