"""What is learned about providers while we run: model servers on this machine, and which models there are."""

from collections.abc import Mapping

from claw_acp.contracts.provider import ModelInfo
from claw_acp.core.value import Value


class FoundServer(Value):
    """A model server that answered on this machine.

    Attributes:
        name: The provider it is, as in the table of services.
        base_url: Where it is, without a trailing slash.
        models: What it offers; empty while it offers nothing, or keeps that to those who have a key.
        locked: Whether it wants a key first.
    """

    name: str
    base_url: str
    models: tuple[ModelInfo, ...] = ()
    locked: bool = False


class Finds(Value):
    """What was learned so far.

    Attributes:
        servers: The servers that were there when they were last looked for, by provider.
        lists: The models that services list, best first, by provider and base URL.
    """

    servers: Mapping[str, FoundServer] = {}
    lists: Mapping[tuple[str, str], tuple[ModelInfo, ...]] = {}


NOTHING_FOUND = Finds()
