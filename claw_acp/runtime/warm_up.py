"""What is imported while the editor still digests the `initialize` answer, so that the first requests need not wait."""

import logging
from importlib import import_module

from anyio import to_thread

log = logging.getLogger(__name__)

FIRST = (
    "claw_acp.acp.sessions",
    "claw_acp.acp.prompt",
    "claw_acp.acp.workspace",
    "claw_acp.acp.permission",
)


async def warm_up() -> None:
    """Import in a worker thread what `session/new` and the first prompt need."""
    for module in FIRST:
        await to_thread.run_sync(import_module, module)
