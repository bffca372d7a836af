"""Limits of the server: sizes, counts and timeouts."""

from claw_acp.core.value import Value
from claw_acp.rpc.framing import FRAME_LIMIT


class Limits(Value):
    """Limits of one server. Sizes are in bytes, times in seconds.

    Attributes:
        connections: ACP connections at once; one more is refused with 503.
        sockets: TCP connections at once; one more is closed. A client of streamable HTTP over HTTP/1.1 needs one
            for each of its streams.
        streams: Session streams of one connection.
        posts: Request bodies being received at once.
        message: The size of one message, in either direction.
        messages: The total size of the bodies being received.
        head: The size of a request head.
        first_message: Until a WebSocket must have sent `initialize`, or a TCP connection its first request.
        unused: How long a TCP connection stays open between two requests.
        gap: Between two chunks of a request body.
        body: For a whole request body.
        answer: For the response to `initialize`, and for room to accept a message.
        idle: How long an HTTP connection lives without any stream open.
        stall: How long a client may read nothing while the agent waits for it.
        keep_alive: Between comments on a quiet stream, which keep proxies from closing it.
        flush: At shutdown, to flush pending output.
    """

    connections: int = 64
    sockets: int = 512
    streams: int = 256
    posts: int = 256
    message: int = FRAME_LIMIT
    messages: int = 4 * FRAME_LIMIT
    head: int = 16 * 1024
    first_message: float = 15.0
    unused: float = 6.0
    gap: float = 15.0
    body: float = 300.0
    answer: float = 30.0
    idle: float = 60.0
    stall: float = 60.0
    keep_alive: float = 15.0
    flush: float = 0.5
