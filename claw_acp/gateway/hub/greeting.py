"""The first exchange on the hub's socket: the hub asks who is there, the program that attached says its role."""

import os
from functools import cache

from claw_acp.acp.bridge.agent import facts
from claw_acp.acp.handshake import AGENT_INFO
from claw_acp.contracts.endpoint import LARGEST_FRAME, PROTOCOL
from claw_acp.core.json_value import JsonObject
from claw_acp.endpoints.greeting import Attached, NotAttached, introduce
from claw_acp.rpc.framing import FRAME_LIMIT
from claw_acp.rpc.socket import SocketTransport

__all__ = ["Attached", "NotAttached", "about_hub", "about_us", "greet"]


def about_us() -> JsonObject:
    """The hub's words about itself for programs, which need not be on this machine."""
    return {"protocolVersion": PROTOCOL, "hostInfo": AGENT_INFO}


@cache
def about_hub() -> JsonObject:
    """The hub's words about itself, with the facts in which an editor's process has to be alike.

    Made once: to ask for the mode of new files changes it for a moment, also for threads that make some.
    """
    return {**about_us(), "process": {"pid": os.getpid(), **facts(os.environ)}}


async def greet(transport: SocketTransport) -> Attached:
    """See `introduce`."""
    transport.limit(LARGEST_FRAME)
    attached = await introduce(transport, about_hub())
    if attached.role in {"editor", "control"}:
        transport.limit(FRAME_LIMIT)
    return attached
