"""The pieces of an answer, published in the session without the agent's own keys."""

from claw_acp.contracts.provider import ThoughtChunk
from claw_acp.core.events import TextDelta, ThoughtDelta
from claw_acp.core.redaction import Redactor
from claw_acp.session.session import Session


class StreamedAnswer:
    """Publishes the pieces of one message in order.

    Args:
        session: The session to publish in.
        message: The id of the message.
        redactor: Its known secrets are removed, also where they span two pieces.
    """

    def __init__(self, session: Session, *, message: str, redactor: Redactor) -> None:
        self._session = session
        self._message = message
        self._text = redactor.streamed()
        self._thought = redactor.streamed()

    async def say(self, text: str) -> None:
        """Publish the next piece of the answer."""
        if held := self._thought.close():
            await self._session.publish(ThoughtDelta(item=self._message, text=held))
        if clean := self._text.feed(text):
            await self._session.publish(TextDelta(item=self._message, text=clean))

    async def think(self, chunk: ThoughtChunk) -> None:
        """Publish the next piece of thinking. A block that was changed loses its signature, which no longer fits."""
        if held := self._text.close():
            await self._session.publish(TextDelta(item=self._message, text=held))
        text = self._thought.feed(chunk.text)
        signature = chunk.signature
        if signature is not None:
            text += self._thought.close()
            signature = None if self._thought.changed else signature
            self._thought.changed = False
        if text or not chunk.text or signature is not None:
            await self._session.publish(
                ThoughtDelta(
                    item=self._message, text=text, signature=signature, redacted=chunk.redacted, origin=chunk.origin
                )
            )

    async def end(self) -> None:
        """Publish what was held back as the possible beginning of a secret."""
        if held := self._thought.close():
            await self._session.publish(ThoughtDelta(item=self._message, text=held))
        if held := self._text.close():
            await self._session.publish(TextDelta(item=self._message, text=held))
