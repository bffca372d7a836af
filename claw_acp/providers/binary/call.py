"""One request to a session plugin, and the pieces of its answer."""

from collections.abc import Mapping

import anyio

from claw_acp.contracts.provider import TextChunk, ThoughtChunk
from claw_acp.core.errors import ProviderError
from claw_acp.providers.transport.surrogates import Pairs
from claw_acp.rpc.dispatcher import OutgoingCall

Piece = TextChunk | ThoughtChunk


class Call:
    """One request to a plugin, and the untaken pieces of its answer.

    A `strict` one fails on the first unexpected line.
    """

    def __init__(self, sent: OutgoingCall) -> None:
        self.id = sent.id
        self.sent = sent
        self.raw = b""
        self.failure: ProviderError | None = None
        self.unwanted = False
        self.stubborn = False
        self.strict = False
        self.news = anyio.Event()
        self.heard = 0  # bytes of pieces
        self._pieces: list[Piece] = []
        self._pairs: Mapping[type[Piece], Pairs] = {TextChunk: Pairs(), ThoughtChunk: Pairs()}

    @property
    def settled(self) -> bool:
        """True if no more pieces are to come."""
        return self.sent.response is not None or self.failure is not None

    @property
    def has_news(self) -> bool:
        """True if there is something not taken yet."""
        return self.settled or bool(self._pieces)

    def add(self, piece: Piece) -> None:
        """Add a piece of the answer; adjacent ones that were not taken yet are joined."""
        text = self._pairs[type(piece)].feed(piece.text)
        if text:
            self._pieces.append(piece if text is piece.text else type(piece)(text=text))

    def take(self) -> list[Piece]:
        """The pieces since the last call, adjacent ones of a kind joined."""
        pieces, self._pieces = self._pieces, []
        if len(pieces) < 2:
            return pieces
        joined: list[Piece] = []
        texts: list[str] = []
        for piece in pieces:
            if joined and type(piece) is not type(joined[-1]):
                joined[-1] = type(joined[-1])(text="".join(texts))
                texts = []
            if not texts:
                joined.append(piece)
            texts.append(piece.text)
        joined[-1] = type(joined[-1])(text="".join(texts))
        return joined

    def fail(self, error: ProviderError) -> None:
        """End the call without an answer; pieces so far stay."""
        if not self.settled:
            self.failure = error
        self.news.set()
