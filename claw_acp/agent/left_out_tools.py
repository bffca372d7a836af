"""Tools that models are not offered, because they take no more: the person is told which."""

import logging
from typing import Final, cast

from claw_acp.agent.toolbox import Toolbox
from claw_acp.contracts.tool import MOST_TOOLS
from claw_acp.core.clock import Clock
from claw_acp.core.events import Notice
from claw_acp.core.ids import new_id
from claw_acp.core.quantity import quantity
from claw_acp.session.session import Session

log = logging.getLogger(__name__)

NAMED: Final = 30  # that a notice names
STATE_KEY: Final = "left-out tools"


class LeftOutTools:
    """Tells about the tools that a turn leaves out.

    Args:
        session: Its session.
        toolbox: The tools of the turn.
        clock: Time.
    """

    def __init__(self, session: Session, toolbox: Toolbox, *, clock: Clock) -> None:
        self._session = session
        self._toolbox = toolbox
        self._clock = clock

    async def tell(self) -> None:
        """Show and log which tools are left out, if it is another one than before in this session."""
        names = self._toolbox.left_out()
        told = cast("set[str]", self._session.tool_state.get(STATE_KEY, set))
        if told.issuperset(names):
            return
        told.update(names)
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        shown = f"{', '.join(names[:NAMED])}{more}"
        log.warning("tools are left out", extra={"session": self._session.id, "count": len(names), "tools": shown})
        await self._session.broadcast(
            Notice(
                item=new_id("ntc", clock=self._clock),
                severity="warning",
                title=f"{quantity(len(names), 'tool')} left out: models take {MOST_TOOLS} at most",
                description=f"The model cannot call {shown}. Use fewer MCP servers and lending programs at a time.",
            )
        )
