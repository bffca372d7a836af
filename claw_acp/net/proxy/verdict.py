"""The decision about a destination, and the record of what came of it."""

from collections.abc import Awaitable, Callable
from typing import Literal, TypeAlias

from claw_acp.core.value import Value
from claw_acp.net.proxy.destination import Destination


class Verdict(Value):
    """A decision.

    Attributes:
        allowed: Whether the destination may be reached.
        rule: The rule that decided; empty if none did.
        remedy: A rule that would allow what was refused; empty if none would.
        private: Whether it may be on a private network.
        reason: A sentence about a refusal, for people.
    """

    allowed: bool
    rule: str = ""
    remedy: str = ""
    private: bool = False
    reason: str = ""


class NetworkRecord(Value):
    """A line for the log of connections.

    Attributes:
        outcome: allowed: about to be connected; refused: not connected, or cut off; ended: after `allowed`.
        destination: The host and port.
        rule: The rule that decided; empty if none did.
        remedy: A rule that would allow what was refused; empty if none would.
        reason: A sentence about a refusal.
        sent: Bytes from the command, when it ended.
        received: Bytes to the command, when it ended.
    """

    outcome: Literal["allowed", "refused", "ended"]
    destination: Destination
    rule: str = ""
    remedy: str = ""
    reason: str = ""
    sent: int = 0
    received: int = 0


Decide: TypeAlias = Callable[[Destination], Awaitable[Verdict]]
"""Decides about a destination, before its name is looked up. It may ask a person."""

Record: TypeAlias = Callable[[NetworkRecord], Awaitable[None]]
"""Keeps a record. Awaited before a connection is made: where it fails, none is."""
