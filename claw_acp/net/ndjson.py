"""Sans-IO splitter for newline-delimited JSON.

On the path of every streamed word: a read is split as a whole, and a long line is joined once.
"""

from claw_acp.core.errors import MalformedReply

LINE_LIMIT = 8 * 1024 * 1024  # bytes; far above any model's line, far below what would hurt this process


class LineDecoder:
    """Splits chunks of a body into lines. `feed` returns all lines that a chunk completes.

    Lines end in a line feed, with or without a carriage return; blank ones are dropped. Bytes that are not UTF-8
    become U+FFFD. The last line may lack its end: see `rest`.
    """

    def __init__(self, *, provider: str = "", limit: int = LINE_LIMIT) -> None:
        self._provider = provider
        self._limit = limit
        self._pending: list[bytes] = []
        self._pending_size = 0

    def feed(self, chunk: bytes) -> list[str]:
        """Split a chunk; returns the lines that it completes.

        Raises:
            MalformedReply: One line is longer than the limit.
        """
        first, newline, rest = chunk.partition(b"\n")
        if not newline:
            self._keep(chunk)
            return []
        self._keep(first)
        lines = [b"".join(self._pending), *rest.split(b"\n")]
        self._pending.clear()
        self._pending_size = 0
        self._keep(lines.pop())
        return [text for line in lines if (text := self._checked(line))]

    def rest(self) -> list[str]:
        """The last line, when the body ended without a line feed; else none."""
        line = b"".join(self._pending)
        self._pending.clear()
        self._pending_size = 0
        text = self._checked(line)
        return [text] if text else []

    def _keep(self, piece: bytes) -> None:
        if piece:
            self._pending.append(piece)
            self._pending_size += len(piece)
        if self._pending_size > self._limit:
            raise self._too_long()

    def _checked(self, line: bytes) -> str:
        if len(line) > self._limit:
            raise self._too_long()
        return line.decode("utf-8", "replace").strip()

    def _too_long(self) -> MalformedReply:
        who = self._provider or "the server"
        return MalformedReply(
            f"{who} sent one line longer than {self._limit} bytes; the answer was given up. "
            "Check that base_url points at a model service.",
            provider=self._provider,
        )
