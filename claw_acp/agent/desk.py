"""What the one who prompts brings along: where files and programs are reached, and who answers questions."""

from claw_acp.contracts.asking import Asker
from claw_acp.contracts.workspace import Workspace
from claw_acp.core.value import Value


class Desk(Value):
    """The ports of one front end for one session. `forms`: whether its asker can have forms filled in."""

    workspace: Workspace
    asker: Asker
    forms: bool = False
