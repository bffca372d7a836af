"""Connections to destinations: names are looked up once, all addresses are checked, and one of these is dialled."""

import os
import socket
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

import anyio
from anyio import CapacityLimiter, to_thread
from anyio.abc import SocketStream

from claw_acp.net.address_guard import refusal
from claw_acp.net.proxy.destination import Destination
from claw_acp.net.proxy.limits import Limits
from claw_acp.net.proxy.refusal import blocked, unreachable
from claw_acp.net.proxy.verdict import Verdict

SocketAddress: TypeAlias = tuple[str, int]
Resolve: TypeAlias = Callable[[str, int], Awaitable[Sequence[SocketAddress]]]
"""Returns the addresses to dial for a host and port, with the ports.

Raises:
    OSError: The name is unknown.
"""

LOOKUPS = 8  # at once, on threads of their own: a command that looks up slow names must not hold up ours


class Resolver:
    """Looks names up with the system's resolver."""

    def __init__(self) -> None:
        self._threads = CapacityLimiter(LOOKUPS)

    async def __call__(self, host: str, port: int) -> Sequence[SocketAddress]:
        """See `Resolve`."""
        return await to_thread.run_sync(_lookup, host, port, limiter=self._threads, abandon_on_cancel=True)


async def dial(destination: Destination, verdict: Verdict, *, resolve: Resolve, limits: Limits) -> SocketStream:
    """A connection to a permitted destination.

    Raises:
        Refusal: One of its addresses is not public, and only a rule can say that this is meant: a name that leads to
            both is a trap. Or it is where no service of one's own is, such as the metadata of clouds. Or it is unknown,
            or does not answer.
    """
    addresses = await _addresses(destination, resolve=resolve, limits=limits)
    for address, _ in addresses:
        if (kind := refusal(address, allowed=verdict.private)) is not None:
            reason = f"{destination.host} is at {address}, which is {kind}, not on the public internet."
            if verdict.private:  # the rule is about one's own network
                raise blocked(Verdict(allowed=False, reason=f"{reason} No rule allows that to a command."))
            raise blocked(Verdict(allowed=False, remedy=destination.private_rule, reason=reason))
    failure = "has no address"
    for address, port in addresses:
        try:
            with anyio.fail_after(limits.connect):
                return await anyio.connect_tcp(address, port)
        except TimeoutError:
            failure = f"did not answer within {limits.connect:g} s"
        except OSError as error:
            failure = f"cannot be connected to: {_cause(error)}"
    raise unreachable(destination, failure)


async def _addresses(destination: Destination, *, resolve: Resolve, limits: Limits) -> Sequence[SocketAddress]:
    try:
        with anyio.fail_after(limits.lookup):
            return await resolve(destination.host, destination.port)
    except TimeoutError as error:
        raise unreachable(destination, f"was not found within {limits.lookup:g} s") from error
    except (OSError, UnicodeError) as error:
        raise unreachable(destination, "is unknown: its name does not resolve") from error


def _lookup(host: str, port: int) -> Sequence[SocketAddress]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [(str(address[0]), int(address[1])) for *_, address in found]


def _cause(error: OSError) -> str:
    """The system's words for an error; anyio raises one of its own that has the system's as its cause."""
    inner = error.__cause__ if isinstance(error.__cause__, OSError) else error
    return os.strerror(inner.errno) if inner.errno else str(error)
