"""Tools and commands of other packages, validated once when they are loaded.

Their names, texts and schemas are read and checked once, since a single bad one would have every request of every
session refused; and an exception of a command becomes its answer. Calls of their tools are guarded by
`agent.tool_runner`.
"""

import json
import logging
import re
from typing import TYPE_CHECKING, Final

import anyio

from claw_acp.contracts.command import Asks, Command, CommandContext, CommandResult, Said, Summarizes
from claw_acp.contracts.hook import Hook, HookContext, HookEvent, HookFailed, HookResult
from claw_acp.contracts.provider import ToolSpec
from claw_acp.contracts.tool import Tool
from claw_acp.core.errors import ClawError
from claw_acp.core.json_value import JsonValue
from claw_acp.core.printable import full_sentence
from claw_acp.registry.foreign_code import described, is_cancellation, package_of

LONGEST_DESCRIPTION: Final = 1024  # characters (OpenAI refuses more)
LONGEST_NAME: Final = 100  # characters of a hook's name
LONGEST_COMMAND: Final = 300.0  # seconds; nobody waits longer for an answer that no model gives

_TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")  # what every vendor takes
_COMMAND_NAME = re.compile(r"[^\s/]\S{0,63}")

log = logging.getLogger(__name__)


class AdmittedTool:
    """See `Tool`.

    Raises:
        ValueError, TypeError, AttributeError: It is no tool, or its description cannot be sent to models.
    """

    def __init__(self, tool: Tool) -> None:
        spec, self.parallel = tool.spec, tool.parallel is True
        texts: list[object] = [spec.name, spec.description]
        if not all(isinstance(text, str) for text in texts) or not _TOOL_NAME.fullmatch(spec.name):
            raise ValueError(f"a tool needs a name of letters, digits, _ and - and a description, not {texts!r:.200}")
        parameters: JsonValue = json.loads(json.dumps(spec.parameters, allow_nan=False))
        if not isinstance(parameters, dict) or parameters.get("type") != "object":
            raise ValueError(f'the parameters of {spec.name} are no JSON Schema of "type": "object"')
        self.spec = ToolSpec(name=spec.name, description=spec.description[:LONGEST_DESCRIPTION], parameters=parameters)
        self.prepare = tool.prepare  # for the one pipeline to call


class AdmittedCommand:
    """See `Command`.

    Raises:
        ValueError: Its description cannot be shown.
    """

    def __init__(self, command: Command) -> None:
        name, description, hint = command.name, command.description, command.hint
        if not isinstance(name, str) or not _COMMAND_NAME.fullmatch(name):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ValueError(f"a command needs a name without blanks and slash, not {name!r:.200}")
        self.name = name
        self.description = str(description)
        self.hint = None if hint is None else str(hint)
        self._command = command

    async def run(self, argument: str, context: CommandContext) -> CommandResult:
        """Run the command. A failure is an answer too."""
        package = package_of(self._command)
        try:
            with anyio.fail_after(LONGEST_COMMAND):
                return _checked(await self._command.run(argument, context))
        except ClawError:
            raise
        except BaseException as error:  # a wall: a stranger's command may raise anything
            if is_cancellation(error):
                raise
            log.exception("command failed", extra={"command": self.name, "package": package})
            return Said(text=f"/{self.name} of the package {package} failed: {full_sentence(described(error))}")


class AdmittedHook:
    """See `Hook`.

    Raises:
        TypeError, ValueError, AttributeError: It is no hook.
    """

    def __init__(self, hook: Hook) -> None:
        self.name, self.priority = f"{hook.name} of the package {package_of(hook)}"[:LONGEST_NAME], int(hook.priority)
        self.events = frozenset(hook.events)
        self._hook = hook

    async def on(self, event: HookEvent, context: HookContext) -> HookResult:
        """See `Hook`; a result of another kind is a failure."""
        with anyio.move_on_after(context.timeout):
            result = await self._hook.on(event, context)
            if isinstance(result, HookResult):  # pyright: ignore[reportUnnecessaryIsInstance]
                return result
            raise HookFailed(f"it returned {type(result).__name__} instead of a HookResult")
        raise HookFailed(f"it took longer than {context.timeout:g} s and was stopped")


def _checked(result: CommandResult) -> CommandResult:
    match result:
        case Said(text=str()) | Asks(prompt=str(), attachments=tuple()) | Summarizes(focus=str()):
            return result
        case _:
            raise TypeError(f"a command returns Said, Asks or Summarizes, not {type(result).__name__}")


if TYPE_CHECKING:
    _tool: type[Tool] = AdmittedTool
    _command: type[Command] = AdmittedCommand
    _hook: type[Hook] = AdmittedHook
