"""What the one who prompts brings along: where files and programs are reached, and who answers questions."""

from dataclasses import dataclass

from claw_acp.contracts.asking import Asker
from claw_acp.contracts.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """The ports of one front end for one session."""

    workspace: Workspace
    asker: Asker
