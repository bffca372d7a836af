"""The contract of a place: a client that has a session open, where a person sees it and is asked."""

from typing import Protocol

from claw_acp.contracts.questions import Asker
from claw_acp.contracts.workspace import Workspace


class Place(Protocol):
    """One of the places where a session is open."""

    @property
    def name(self) -> str:
        """The client's name for people."""
        ...

    @property
    def connected(self) -> bool:
        """False once the client is gone, even before it was released."""
        ...

    @property
    def asker(self) -> Asker:
        """Asks the person there."""
        ...

    @property
    def workspace(self) -> Workspace | None:
        """Its files and terminals; None: it cannot lead turns."""
        ...
