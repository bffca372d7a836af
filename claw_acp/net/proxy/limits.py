"""Limits of the proxy: sizes, counts and timeouts."""

from claw_acp.core.value import Value


class Limits(Value):
    """Limits. Times are in seconds.

    Attributes:
        connections: Connections of one command at once; more wait to be accepted.
        hosts: Destinations of one command that are decided on, and refusals that are recorded.
        head: Bytes of the head of a request or response.
        first_request: Until a connection has sent its first request.
        unused: How long a connection stays open between two requests.
        question: For the decision about a destination; a person may be asked.
        lookup: For the addresses of a name.
        connect: For a connection to one address.
        idle: How long a connection lives on which nothing moves in either direction.
        last_record: For the record of a connection that ends together with its command.
        linger: For a last response to arrive.
    """

    connections: int = 256
    hosts: int = 1000
    head: int = 64 * 1024
    first_request: float = 20.0
    unused: float = 60.0
    question: float = 300.0
    lookup: float = 20.0
    connect: float = 15.0
    idle: float = 900.0
    last_record: float = 2.0
    linger: float = 0.5
