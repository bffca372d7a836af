"""`[delegation]` and `[agents.NAME]`: the settings of subagents, and of other programs that are some."""

from typing import Annotated, Literal

from claw_acp.config.fields import (
    Arguments,
    Constraint,
    FilePath,
    FilePaths,
    Money,
    Name,
    Project,
    SecretTexts,
    Section,
    Texts,
)
from claw_acp.core.mode import Mode
from claw_acp.core.value import made_by

AgentNetwork = Literal["none", "asked", "open"]


class AgentSection(Section):
    """`[agents.NAME]`: another agent that tasks can be given to: a program that speaks the Agent Client Protocol.

    Attributes:
        command: The program to run: a name on the PATH, or a path with a slash, relative to the file.
        args: Arguments of the program.
        env: Variables of the program, besides the agent's own without its keys.
        cwd: The directory the program runs in; by default the session's, in which it works in any case.
        description: When to give it a task, for the model.
        mode: The widest mode in which it works; that of the session may be stricter.
        sandbox: Run it in the sandbox, in which it changes nothing but the project, and that only in the modes `edit`
            and `auto`. What it asks for is judged as anything else.
        network: What it reaches from the sandbox: nothing (`none`), hosts that a rule or you permit (`asked`), or all
            (`open`).
        writable: Directories of its own, such as the one with its login, which it may read and change.
        mcp: Names of the session's MCP servers that it gets, with their keys.
        start_timeout: Seconds until it must have opened a session.
        timeout: Seconds it may work without saying anything.
        enabled: Offer it.
    """

    command: Name
    args: Arguments = ()
    env: SecretTexts = made_by(default_factory=SecretTexts)
    cwd: FilePath | None = None
    description: str = ""
    mode: Mode = "auto"
    sandbox: bool = True
    network: AgentNetwork = "asked"
    writable: FilePaths = ()
    mcp: Texts = ()
    start_timeout: Annotated[float, Constraint(gt=0, le=600)] = 60
    timeout: Annotated[float, Constraint(gt=0, le=86_400)] = 900
    enabled: bool = True


class DelegationSection(Section):
    """`[delegation]`: subagents, to which a model gives tasks.

    Attributes:
        depth: Subagents above each other: with 1, subagents have none of their own; with 0 there are none.
        at_once: Subagents of a session that work at the same time, while it waits for them.
        background: Tasks of a session that go on in the background at the same time; with 0 there are none.
        max_requests: Model requests for one task.
        max_tokens: Tokens of all model requests for one task, sent and received.
        max_cost: Cost of one task in US dollars, where prices are known.
    """

    depth: Annotated[int, Constraint(ge=0, le=5), Project(narrows="lower")] = 2
    at_once: Annotated[int, Constraint(ge=1, le=32), Project(narrows="lower")] = 4
    background: Annotated[int, Constraint(ge=0, le=32), Project(narrows="lower")] = 4
    max_requests: Annotated[int, Constraint(ge=1, le=1000), Project(narrows="lower")] = 50
    max_tokens: Annotated[int | None, Constraint(ge=1), Project(narrows="lower")] = None
    max_cost: Annotated[Money | None, Project(narrows="lower")] = None
