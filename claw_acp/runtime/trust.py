"""Trust in the files of a live session's project; what it takes is loaded where there are such files."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from claw_acp.config.locations import Locations
from claw_acp.registry.reference import Ref

if TYPE_CHECKING:
    from claw_acp.contracts.questions import Asker
    from claw_acp.runtime.live_session import LiveSession
    from claw_acp.runtime.project_trust import SessionTrust

TRUST: "Ref[Callable[..., SessionTrust]]" = Ref("claw_acp.runtime.project_trust:SessionTrust")


async def offer_trust(live: "LiveSession", own: Locations, asker: "Asker") -> None:
    """Ask about the files of the project that extensions would use, if there are any that nobody was asked about.

    Never for an attempt: its session was asked before.

    Raises:
        ConfigError: The answer cannot be stored.
        AuditUnwritable: It cannot be recorded.
    """
    if live.parent is None and (files := live.extensions.project_files()):
        await TRUST.load()(live, own, asker=asker).offer(files)
