"""The first exchange on the hub's socket: the hub asks who is there, the program that attached says its role."""

import os
from collections.abc import Mapping
from typing import Final

import anyio

from claw_acp.acp.bridge.agent import facts
from claw_acp.acp.handshake import AGENT_INFO
from claw_acp.core.errors import ClawError
from claw_acp.core.json_value import JsonObject
from claw_acp.core.value import Value
from claw_acp.rpc.message import Response, decode, request_line
from claw_acp.rpc.peer import Transport

PROTOCOL: Final = 1
TIMEOUT: Final = 5.0  # seconds for the answer


class Attached(Value):
    """The answer of a program that attached.

    Attributes:
        role: What it is: `editor` or `control`.
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
    """A program did not take part in the greeting as it should."""

    code = -32602


async def greet(transport: Transport) -> Attached:
    """Send `initialize`, and wait for the answer.

    Raises:
        NotAttached: It left, was too slow, or its answer is wrong.
    """
    about: JsonObject = {
        "protocolVersion": PROTOCOL,
        "hostInfo": AGENT_INFO,
        "process": {"pid": os.getpid(), **facts(os.environ)},
    }
    transport.send(request_line(0, "initialize", about))
    frame = None
    with anyio.move_on_after(TIMEOUT):
        frame = await transport.receive()
    if not isinstance(frame, bytes):
        raise NotAttached(f"no answer to `initialize` within {TIMEOUT:g} s")
    message = decode(frame)
    if not isinstance(message, Response) or not isinstance(message.result, Mapping) or message.id != 0:
        raise NotAttached("the first line has to be the answer to `initialize`")
    role = message.result.get("role")
    if not isinstance(role, str):
        raise NotAttached("the answer to `initialize` has to name a `role`")
    return Attached(role=role, answer=message.result)
