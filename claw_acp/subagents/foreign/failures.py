"""The failures of agents that are other programs, as sentences that say what to do."""

from collections.abc import Sequence
from typing import ClassVar, Final

from claw_acp.client.agent import AgentNotStarted
from claw_acp.contracts.agent_program import AgentProgram
from claw_acp.core.errors import ClawError
from claw_acp.core.printable import printable
from claw_acp.rpc.errors import RpcError

AUTH_REQUIRED: Final = -32000
LONGEST: Final = 2_000  # characters of what such a program says of its failure


class AgentProgramFailed(ClawError):
    """An agent that is another program cannot be used, or broke off; the text names it."""

    code: ClassVar[int] = -31210


def failure_of(error: Exception, program: AgentProgram, *, logins: Sequence[str] = ()) -> AgentProgramFailed:
    """The failure of a program, for people and for the model that gave it a task.

    Args:
        error: What was raised.
        program: The program.
        logins: The ways to log in that it names.
    """
    match error:
        case AgentProgramFailed():
            return error
        case RpcError(code=code) if code == AUTH_REQUIRED:
            return AgentProgramFailed(f"The agent {program.name} wants a login first. {_login(program, logins)}")
        case RpcError():
            said = f"The agent {program.name} answered with an error: {printable(error.message)[:LONGEST]}"
            detail = error.data
            return AgentProgramFailed(f"{said} ({printable(str(detail))[:LONGEST]})" if detail else said)
        case AgentNotStarted():
            return AgentProgramFailed(
                f"The agent {program.name} was not started: {printable(error.message)[:LONGEST]}. Install it, or "
                f"correct `command` in [agents.{program.name}]; `claw-acp doctor` checks that."
            )
        case TimeoutError():
            return AgentProgramFailed(
                f"The agent {program.name} did not answer in time. Is `{shown_command(program)}` an agent that speaks "
                f"the Agent Client Protocol? `claw-acp verify agent` tells what is wrong with it."
            )
        case _:
            words = error.message if isinstance(error, ClawError) else str(error)
            return AgentProgramFailed(f"The agent {program.name} cannot go on: {printable(words)[:LONGEST]}")


def silent(program: AgentProgram) -> AgentProgramFailed:
    """The failure of a program that hangs."""
    return AgentProgramFailed(
        f"The agent {program.name} was ended, because it had said nothing for {program.timeout:g} seconds. If it may "
        f"take longer, raise `timeout` in [agents.{program.name}]."
    )


def flooding(program: AgentProgram, what: str) -> AgentProgramFailed:
    """The failure of a program that sends more than can be handled."""
    return AgentProgramFailed(f"The agent {program.name} was ended, because it sent {what}.")


def wrong_version(program: AgentProgram, version: object) -> AgentProgramFailed:
    """The failure of a program that speaks another version of the protocol."""
    return AgentProgramFailed(
        f"The agent {program.name} speaks version {printable(str(version))[:40]} of the Agent Client Protocol; "
        "versions 1 and 2 are understood. Install another version of it."
    )


def shown_command(program: AgentProgram) -> str:
    """The command line, for people."""
    return printable(" ".join([program.command, *program.args]))[:LONGEST]


def _login(program: AgentProgram, logins: Sequence[str]) -> str:
    ways = f" It offers: {'; '.join(logins)}." if logins else ""
    return (
        f"Run `{shown_command(program)}` as its makers say and log in there, or give it its key in "
        f"[agents.{program.name}] `env`; the directory with its login belongs in `writable`.{ways}"
    )
