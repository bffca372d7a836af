"""The client of a request: the name of its token, and what it may do."""

from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager
from typing import Final

from claw_acp.core.value import Value
from claw_acp.gateway.access.scope import EVERYTHING, Scope, covers
from claw_acp.gateway.access.token_store import StoredToken
from claw_acp.gateway.access.visits import Visits


class Client(Value):
    """The holder of a token.

    Attributes:
        name: The token's name.
        scopes: What it may do.
        lifetime: Seconds until the token ends; None: it does not.
        token: The token, if it can be removed.
        visits: Where its visits are kept then.
    """

    name: str
    scopes: frozenset[Scope]
    lifetime: float | None = None
    token: StoredToken | None = None
    visits: Visits | None = None

    def may_grant(self, scopes: Collection[Scope], *, lifetime: float | None) -> bool:
        """Return whether this client may get another one a token: never for more, or for longer, than its own."""
        lasts = self.lifetime is None or (lifetime is not None and lifetime <= self.lifetime)
        return lasts and all(covers(self.scopes, scope) for scope in scopes)

    @contextmanager
    def visit(self, leave: Callable[[], None]) -> Generator[None]:
        """Have `leave` called if the client's token ends during the block."""
        if self.token is None or self.visits is None:
            yield
            return
        with self.visits.during(self.token, leave):
            yield


OWNER: Final = Client(name="owner", scopes=EVERYTHING)
ANYONE: Final = Client(name="", scopes=frozenset())
