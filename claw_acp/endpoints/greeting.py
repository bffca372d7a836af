"""The first exchange with a program that attaches: the host asks who is there, the program says its role."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager

import anyio

from claw_acp.contracts.endpoint import ANSWER_TIMEOUT
from claw_acp.core.errors import ClawError
from claw_acp.core.json_value import JsonObject
from claw_acp.core.value import Value
from claw_acp.rpc.message import Response, decode, notification_line, request_line
from claw_acp.rpc.peer import Transport


class Attached(Value):
    """The answer of a program that attached.

    Attributes:
        role: The role that it names; it may be one that nobody knows.
        answer: The whole answer, by role.
    """

    role: str
    answer: JsonObject

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment of its process, for an editor."""
        process = self.answer.get("process")
        given = process.get("environment") if isinstance(process, Mapping) else None
        if not isinstance(given, Mapping):
            raise NotAttached("an editor's answer has to have `process.environment`")
        return {name: value for name, value in given.items() if isinstance(value, str)}


class NotAttached(ClawError):
    """A program did not take part in the greeting as it should, or its role cannot be served."""

    code = -32602


async def introduce(transport: Transport, about: JsonObject) -> Attached:
    """Send `initialize` with what it has to know about the host, and wait for the answer.

    Raises:
        NotAttached: It left, was too slow, or its answer is wrong; it has been told so.
    """
    with refusing(transport):
        return await _introduced(transport, about)


async def _introduced(transport: Transport, about: JsonObject) -> Attached:
    transport.send(request_line(0, "initialize", about))
    frame = None
    with anyio.move_on_after(ANSWER_TIMEOUT) as scope:
        frame = await transport.receive()
    if frame is None:
        late = f"there was no answer to `initialize` within {ANSWER_TIMEOUT:g} s"
        raise NotAttached(late if scope.cancelled_caught else "it left before it answered `initialize`")
    if not isinstance(frame, bytes):
        raise NotAttached(f"the answer to `initialize` is too long: {frame.size:,} bytes")
    message = decode(frame)
    if not isinstance(message, Response) or message.id != 0:
        raise NotAttached("the first line has to be the answer to `initialize`, with its id 0")
    if not isinstance(message.result, Mapping):
        raise NotAttached("the answer to `initialize` has to have a `result`, an object")
    role = message.result.get("role")
    if not isinstance(role, str):
        raise NotAttached("the answer to `initialize` has to name a `role`")
    return Attached(role=role, answer=message.result)


@contextmanager
def refusing(transport: Transport) -> Generator[None]:
    """Tell a program that the block does not serve why it does not."""
    try:
        yield
    except ClawError as error:
        transport.send(notification_line("closing", {"reason": "refused", "message": error.message}))
        raise
