"""How much of everything clients may have, and how long anything may take."""

from claw_acp.core.value import Value
from claw_acp.rpc.framing import FRAME_LIMIT


class Limits(Value):
    """Bounds of one gateway. Sizes in bytes, times in seconds.

    Attributes:
        connections: ACP connections at once; one more is refused with 503.
        sockets: TCP connections at once; one more is hung up on. A client of streamable HTTP over HTTP/1.1 needs one
            for each of its streams.
        streams: Streams of sessions in one connection.
        posts: Requests whose body is just being received.
        message: The longest message, either way of travel.
        messages: All bodies that are just being received.
        head: The head of an HTTP request.
        first_message: Until a WebSocket must have sent `initialize`, or a TCP connection its first request.
        unused: How long a TCP connection stays open between two requests.
        gap: Until more of a body must have come.
        body: Until a body must be whole.
        answer: Until `initialize` must be answered, and a message taken in.
        idle: How long an HTTP connection lives without any stream open.
        stall: How long a client may leave unread what the agent waits to be read.
        keep_alive: Between signs of life on a quiet stream, for proxies.
        last_words: At the end, for what is still to be sent.
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
    last_words: float = 0.5
