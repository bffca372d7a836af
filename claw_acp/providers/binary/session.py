"""Session mode: requests to a long-running plugin, and its answers."""

from collections.abc import AsyncGenerator, Sequence

from claw_acp.contracts.provider import (
    ChatRequest,
    ChatResponse,
    Finished,
    ModelInfo,
    StreamEvent,
    TextChunk,
    ThoughtChunk,
)
from claw_acp.core.errors import ProviderError, ProviderUnavailable, RequestRejected
from claw_acp.core.json_value import JsonValue
from claw_acp.core.messages import Reasoning
from claw_acp.core.plugin_errors import plugin_error_kind
from claw_acp.core.value import replace
from claw_acp.providers.binary.call import Call, Piece
from claw_acp.providers.binary.connection import Connection
from claw_acp.providers.binary.deadline import Deadline
from claw_acp.providers.binary.failures import Failures
from claw_acp.providers.binary.introduction import GREETING, PROTOCOL_VERSION, Offer, read_models, read_offer
from claw_acp.providers.binary.replies import Reply, Unreadable, read_response
from claw_acp.providers.binary.request import chat_params, offered_tools


class Session:
    """A plugin that has introduced itself."""

    def __init__(self, connection: Connection, offer: Offer, *, failures: Failures) -> None:
        self.connection = connection
        self.offer = offer
        self._failures = failures

    async def chat(self, request: ChatRequest, *, deadline: Deadline) -> AsyncGenerator[StreamEvent, None]:
        """Send a request; yields the pieces of the answer as they come, then the whole answer.

        If this is closed early, the request is cancelled.

        Raises:
            ToolsUnsupported: There are tools, which it does not support.
            ProviderError: It failed, or its answer is invalid.
        """
        if offered_tools(request) and not self.offer.tools:
            raise self._failures.tools_unsupported()
        call = self.connection.call("chat", chat_params(request, provider=self._failures.name))
        shown = _Shown()
        try:
            while not call.settled:
                with deadline.kept():
                    await self.connection.wait(call)
                for piece in call.take():
                    shown.add(piece)
                    yield piece
            response = self._response(call)
            for piece in shown.rest(response, failures=self._failures):
                yield piece
        finally:
            await self.connection.give_up(call)
        yield Finished(response=shown.whole(response))

    async def models(self, *, deadline: Deadline) -> Sequence[ModelInfo]:
        """The models it offers now.

        Raises:
            ProviderError: It failed.
        """
        call = self.connection.call("models/list", {})
        try:
            with deadline.kept():
                await self.connection.wait(call)
            result = self._result(call)
        finally:
            await self.connection.give_up(call)
        return read_models(result.get("models")) if isinstance(result, dict) else ()

    def _response(self, call: Call) -> ChatResponse:
        try:
            return read_response(self._result(call))
        except Unreadable as error:
            raise self._failures.invalid(str(error), raw=call.raw.decode("utf-8", "replace")) from error

    def _result(self, call: Call) -> JsonValue:
        reply = self.connection.answer(call)
        if reply.error is not None:
            raise reply.error.to_error(self._failures)
        if reply.result is None:
            raise self._failures.neither()
        return reply.result


async def introduced(connection: Connection, *, failures: Failures) -> Offer | None:
    """Send `initialize`; None if the program is no session plugin. The caller limits the time.

    Raises:
        ProviderUnavailable: It ended without an answer.
        RequestRejected: It supports another version of the protocol.
    """
    call = connection.call("initialize", GREETING)
    await connection.wait(call)
    try:
        reply = connection.answer(call)
    except ProviderUnavailable:
        raise
    except ProviderError:
        return None
    return _accepted(reply, connection=connection, failures=failures)


async def must_introduce_itself(connection: Connection, *, failures: Failures) -> Offer:
    """The same for a configured session plugin: the first line that is no answer proves that it is none.

    Raises:
        ProviderUnavailable: It ended without an answer.
        ProviderError: Its answer was an error.
        RequestRejected: It supports another version of the protocol, or no sessions.
    """
    call = connection.call("initialize", GREETING)
    call.strict = True
    await connection.wait(call)
    try:
        reply = connection.answer(call)
    except ProviderUnavailable as error:
        raise failures.left_early(error) from error
    error = reply.error
    if error is not None and plugin_error_kind(error.code) is not RequestRejected:
        raise error.to_error(failures)
    if error is not None:
        raise failures.no_session(f"it answered `initialize` with error {error.code} ({error.message})")
    offer = _accepted(reply, connection=connection, failures=failures)
    if offer is None:
        raise failures.no_session("it answered `initialize` without a `protocolVersion`")
    return offer


def _accepted(reply: Reply, *, connection: Connection, failures: Failures) -> Offer | None:
    offer = read_offer(reply.result) if reply.error is None else None
    if offer is not None and offer.version != PROTOCOL_VERSION:
        raise failures.version(offer.version, ours=PROTOCOL_VERSION)
    connection.introduced = offer is not None
    return offer


class _Shown:
    """The pieces shown so far."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._thoughts: list[str] = []

    def add(self, piece: Piece) -> None:
        match piece:
            case TextChunk(text=text):
                self._texts.append(text)
            case ThoughtChunk(text=text):
                self._thoughts.append(text)

    def rest(self, response: ChatResponse, *, failures: Failures) -> list[Piece]:
        """Return the pieces of the result that were not shown, usually none.

        Raises:
            MalformedReply: Something else was shown, which cannot be taken back.
        """
        pieces: list[Piece] = []
        text = "".join(self._texts)
        if not response.text.startswith(text):
            raise failures.contradicted()
        if response.reasoning and not self._thoughts:
            pieces.append(ThoughtChunk(text=response.reasoning[0].text))
        if len(response.text) > len(text):
            pieces.append(TextChunk(text=response.text[len(text) :]))
        for piece in pieces:
            self.add(piece)
        return pieces

    def whole(self, response: ChatResponse) -> ChatResponse:
        """The response, with the thinking as shown."""
        thinking = "".join(self._thoughts)
        return replace(response, reasoning=(Reasoning(text=thinking),) if thinking else ())
