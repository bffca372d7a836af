"""The process of a plugin: its environment, and its start."""

from claw_acp.audit.program_starts import record_start
from claw_acp.contracts.provider_setup import ProviderProgram
from claw_acp.core.child_environment import without_keys
from claw_acp.core.environment import current_environment
from claw_acp.process.child_process import ChildProcess, start_child
from claw_acp.providers.binary.failures import Failures

STDERR_KEPT = 64 * 1024  # bytes; the end of what it complained about
DRAIN_SECONDS = 0.3  # for its last output after its end, when something it started holds its pipes open


async def start_plugin(program: ProviderProgram, *, failures: Failures) -> ChildProcess:
    """Start a plugin, with the environment that `plugin_environment` makes; no shell.

    Raises:
        PluginNotStarted: The system refuses.
        AuditUnwritable: Its start cannot be put on record.
    """
    argv = [program.command, *program.args]
    await record_start("provider program", name=failures.name, program=program.command)
    try:
        return await start_child(argv, env=plugin_environment(program), cwd=program.cwd, stdin="pipe")
    except (OSError, ValueError) as error:  # ValueError: a NUL character
        raise failures.not_started(error, cwd=program.cwd) from error


def plugin_environment(program: ProviderProgram) -> dict[str, str]:
    """The variables of a plugin: our environment without our keys, with those of its settings added."""
    return {**without_keys(current_environment()), **{name: value.reveal() for name, value in program.env}}
