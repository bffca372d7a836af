"""A notice to people whose editor does without a hub because that is of another version."""

import logging
import os

from anyio import to_thread

from claw_acp.config.other_hubs import REPLACING, other_hubs
from claw_acp.core.events import Notice
from claw_acp.core.ids import new_id
from claw_acp.session.session import Session

log = logging.getLogger(__name__)


async def report_other_hubs(session: Session) -> None:
    """Show which are running, and how to replace them."""
    for version in (await to_thread.run_sync(other_hubs, os.environ)).values():
        log.warning("a hub of another version is running", extra={"version": version})
        title = f"A hub of version {version} is running"
        await session.broadcast(Notice(item=new_id("ntc"), severity="info", title=title, description=REPLACING))
