"""The session extension that lets a model delegate."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from anyio.abc import TaskGroup

from claw_acp.config.secret_cache import SecretCache
from claw_acp.contracts.tool import Tool
from claw_acp.core.clock import Clock
from claw_acp.registry.lazy import Lazy
from claw_acp.registry.reference import Ref
from claw_acp.session.extension import SessionExtension
from claw_acp.session.session import Session

if TYPE_CHECKING:
    from claw_acp.subagents.delegate import Delegate

DELEGATE: "Ref[Callable[[], Delegate]]" = Ref("claw_acp.subagents.delegate:Delegate")


class SessionSubagents(SessionExtension):
    """Gives a session the tool to delegate; its subagents have it, too, down to the configured depth.

    Args:
        session: The session.
        tasks: Its background work.
        clock: Time.
        secrets: Reads keys that take time to get.
    """

    def __init__(self, session: Session, *, tasks: TaskGroup, clock: Clock, secrets: SecretCache) -> None:
        del session, tasks, clock, secrets  # for all extensions; this one needs none
        self._tool = Lazy(_made)

    def tools(self) -> Sequence[Tool]:
        """The tool, which is loaded with the first prompt."""
        return (self._tool(),)


def _made() -> "Delegate":
    return DELEGATE.load()()
