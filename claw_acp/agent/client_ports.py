"""The ports that a client supplies for a turn: the workspace, and answers to questions."""

from claw_acp.contracts.questions import Asker
from claw_acp.contracts.workspace import Workspace
from claw_acp.core.value import Value
from claw_acp.session.prompt_message import OnAccepted, ignore


class ClientPorts(Value):
    """The ports of one front end for one session.

    `on_accepted` is called once for a prompt that becomes part of the conversation, at that moment.
    """

    workspace: Workspace
    asker: Asker
    on_accepted: OnAccepted = ignore
