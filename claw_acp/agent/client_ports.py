"""The ports that a client supplies for a turn: the workspace, and answers to questions."""

from typing import TYPE_CHECKING, Literal, TypeAlias

from claw_acp.agent.turn_limits import TurnLimits, TurnMeter
from claw_acp.contracts.questions import Asker
from claw_acp.contracts.workspace import Workspace
from claw_acp.core.mode import MODES, Mode
from claw_acp.core.value import Value
from claw_acp.session.prompt_message import OnAccepted, ignore

if TYPE_CHECKING:
    from claw_acp.contracts.agent_program import ProgramLaunch

Ingress: TypeAlias = Literal["editor", "chat", "schedule"]


class ClientPorts(Value):
    """The ports of one front end for one turn, and what it allows besides the settings.

    Attributes:
        workspace: Files and programs.
        asker: Answers questions.
        client: The name of the one who prompts, for the record.
        ingress: The way by which the prompt came, for the record.
        sources: The sources of untrusted text in the prompt itself: a program that wrote it.
        on_accepted: Called once for a prompt that becomes part of the conversation, at that moment.
        only_tools: The only tools the model has; None: all.
        without_tools: Tools that it has not.
        ceiling: The widest mode that counts in this turn, in whichever the session may be.
        cost: The most the turn may cost, in picodollars; None: as configured.
        limits: The further limits of a turn that another one delegated; None: there are none.
        above: The meter of that other turn.
        program: The program that carries the turn out; None: a model of ours does.
        widest_mode: The widest mode in which the session may be then, and which its commands may choose.
    """

    workspace: Workspace
    asker: Asker
    client: str = ""
    ingress: Ingress = "editor"
    sources: tuple[str, ...] = ()
    on_accepted: OnAccepted = ignore
    only_tools: frozenset[str] | None = None
    without_tools: frozenset[str] = frozenset()
    ceiling: Mode = MODES[-1]
    cost: int | None = None
    limits: TurnLimits | None = None
    above: TurnMeter | None = None
    program: "ProgramLaunch | None" = None
    widest_mode: Mode = MODES[-1]
