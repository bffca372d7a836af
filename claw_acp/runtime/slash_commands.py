"""Slash commands in a session: found by name, run with their context, their answers stored outside the conversation."""

import re
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import anyio
from anyio import to_thread

from claw_acp.agent.client_ports import ClientPorts
from claw_acp.agent.steering import SteeringPrompt
from claw_acp.agent.turn_frame import framed_turn
from claw_acp.attempts.session_attempts import SessionAttempts
from claw_acp.config.diagnostic import did_you_mean
from claw_acp.config.locations import Locations
from claw_acp.config.model import SandboxSection
from claw_acp.contracts.command import STEER, Command, CommandContext, ContextUse, Said
from claw_acp.contracts.tool import WritesPath
from claw_acp.core.clock import Clock
from claw_acp.core.errors import AgentLost, ToolError
from claw_acp.core.events import CommandsChanged, MessageStarted, Notice, StopReason, TextDelta, ToolCallChanged
from claw_acp.core.ids import new_id
from claw_acp.core.markdown import code_span
from claw_acp.core.messages import ContentPart, TextPart
from claw_acp.registry.reference import Ref
from claw_acp.runtime.billing import bill_of
from claw_acp.runtime.live_session import LiveSession
from claw_acp.runtime.permissions import places_of
from claw_acp.runtime.session_options import choose, settings_in
from claw_acp.runtime.sessions import Sessions
from claw_acp.runtime.trust import TRUST
from claw_acp.security.policy import Policy
from claw_acp.session.checkpoints.log import CheckpointLog, turn_at
from claw_acp.session.checkpoints.session_checkpoints import SessionCheckpoints
from claw_acp.session.export import to_markdown
from claw_acp.session.prompt_message import OnAccepted, ignore, is_again, is_kept, publish_prompt
from claw_acp.session.session import Session
from claw_acp.session.setup import SessionSetup
from claw_acp.session.stores import Ledger

if TYPE_CHECKING:
    from claw_acp.contracts.delegation import BackgroundTasks

CONTEXT_USE: Final = Ref[Callable[[LiveSession], ContextUse]]("claw_acp.runtime.context_use:context_use")
ABOUT_SANDBOX: Final = Ref[Callable[[SandboxSection, Path], Awaitable[str]]](
    "claw_acp.agent.command_sandboxes:about_sandbox"
)
_ALONE: Final = re.compile(r"/([A-Za-z][\w:.-]*)")
_SHOWN: Final = "changes"
"""The tool name under which a command shows differences; there is no such tool."""
_NEW_SESSION: Final = "open a new session in your editor; this one is kept"
_EDITORS_OWN: Final[Mapping[str, str]] = {
    **dict.fromkeys(("new", "clear", "reset"), _NEW_SESSION),
    **dict.fromkeys(("quit", "exit"), "close the session in your editor"),
    **dict.fromkeys(("login", "logout"), "log in from your editor, or with `claw-acp login` in a terminal"),
}
"""Commands of other agents that an agent cannot run for the editor: it decides which session it shows."""


class Typed(NamedTuple):
    """A prompt that begins with a command: its argument, and the other parts of the prompt."""

    command: Command
    argument: str
    rest: tuple[ContentPart, ...]


CommandSource: TypeAlias = Callable[[], Sequence[Command]]
"""Returns the commands of a session."""


def find_command(commands: CommandSource, prompt: Sequence[ContentPart]) -> Typed | None:
    """The command a prompt names; None for an ordinary prompt, such as one with an unknown name.

    `commands` returns the commands of the session, which is work that only a prompt behind a slash is worth.
    """
    text = prompt[0].text.strip() if prompt and isinstance(prompt[0], TextPart) else ""
    if not text.startswith("/"):
        return None
    name, *argument = text.split(maxsplit=1)
    command = next((command for command in commands() if command.name == name[1:]), None)
    return None if command is None else Typed(command, "".join(argument), tuple(prompt[1:]))


def may_be_command(commands: CommandSource, prompt: Sequence[ContentPart]) -> bool:
    """Return whether a prompt names a command, known or misspelt."""
    return find_command(commands, prompt) is not None or _lone_name(prompt) is not None


def check_repetition(
    session: Session, commands: CommandSource, prompt: Sequence[ContentPart], on_accepted: OnAccepted
) -> None:
    """Check that a prompt which another process had before may be run. No other process must write to the session.

    Raises:
        AgentLost: It is part of the conversation already, or a command, which may have had its effect.
    """
    if is_kept(session, on_accepted) or (is_again(on_accepted) and may_be_command(commands, prompt)):
        raise AgentLost(f"session/prompt: {AgentLost.TEXT}")


def text_behind_steer(commands: CommandSource, prompt: Sequence[ContentPart]) -> tuple[ContentPart, ...] | None:
    """The prompt behind `/steer`; None for all others."""
    typed = find_command(commands, prompt)
    if typed is None or typed.command.name != STEER or not typed.argument:
        return None
    return TextPart(text=typed.argument), *typed.rest


async def report_unheard(session: Session, prompts: Sequence[SteeringPrompt]) -> None:
    """Notify the person of prompts behind `/steer` that a turn did not live to take: they were answered already."""
    for prompt in prompts:
        if prompt.model_parts is not None:
            text = " ".join(part.text for part in prompt.model_parts if isinstance(part, TextPart))
            title = "The turn ended before it could take what you sent with /steer; send it again"
            await session.broadcast(
                Notice(item=new_id("ntc"), severity="warning", title=title, description=code_span(text))
            )


async def misspelt(commands: CommandSource, prompt: Sequence[ContentPart]) -> Said | None:
    """The answer to a prompt that is only an unknown command; None for all others.

    It is a slash and a name with nothing else, unless a file has this name: anything more may be a sentence, which must
    not be lost.
    """
    name = _lone_name(prompt)
    if name is None or await anyio.Path(f"/{name}").exists():
        return None
    if name in _EDITORS_OWN:
        return Said(text=f"There is no command /{name} here: {_EDITORS_OWN[name]}.")
    hint = did_you_mean(f"/{name}", [f"/{command.name}" for command in commands()])
    return Said(text=f"There is no command /{name}{f'; {hint}' if hint else '.'} `/help` shows all commands.")


def _lone_name(prompt: Sequence[ContentPart]) -> str | None:
    text = prompt[0].text.strip() if len(prompt) == 1 and isinstance(prompt[0], TextPart) else ""
    found = _ALONE.fullmatch(text)
    return found[1] if found else None


async def look_for_commands(live: LiveSession) -> None:
    """Read the prompt files again, and notify the session's subscribers when the commands have changed."""
    known = live.commands.troubles
    if await live.commands.look():
        await live.session.broadcast(CommandsChanged())
    for trouble in live.commands.troubles:
        if trouble not in known:
            await live.session.broadcast(Notice(item=new_id("ntc"), severity="warning", title=trouble))


async def keep_answer(
    session: Session, *, typed: Sequence[ContentPart], answer: Said, clock: Clock, on_accepted: OnAccepted = ignore
) -> None:
    """Show and store a command and its answer, outside the conversation that models see."""

    async def work() -> StopReason:
        await publish_typed(session, typed, clock=clock, on_accepted=on_accepted)
        if answer.diffs:
            shown = ToolCallChanged(
                item=new_id("call", clock=clock), name=_SHOWN, title=answer.diffs_title, kind="other",
                status="completed", content=answer.diffs,
            )  # fmt: skip
            await session.publish(shown)
        await publish_answer(session, answer.text, clock=clock)
        return "end_turn"

    await framed_turn(session, work, usage=lambda: None, clock=clock)


async def publish_typed(
    session: Session, typed: Sequence[ContentPart], *, clock: Clock, on_accepted: OnAccepted
) -> None:
    """Show and store a command as it was typed."""
    message = MessageStarted(item=new_id("msg", clock=clock), role="user", parts=tuple(typed), local_only=True)
    await publish_prompt(session, message, on_accepted=on_accepted)


async def publish_answer(session: Session, text: str, *, clock: Clock) -> None:
    """Show and store the answer to a command."""
    message = MessageStarted(item=new_id("msg", clock=clock), role="assistant", local_only=True)
    await session.publish(message)
    await session.publish(TextDelta(item=message.item, text=text))


def command_context(
    live: LiveSession, *, sessions: Sessions, ledger: Ledger, locations: Locations, rules: Sequence[str],
    policy: Policy, checkpoints: SessionCheckpoints, ports: ClientPorts, hand_over: Callable[[str], str],
    tasks: "Callable[[], BackgroundTasks]",
) -> CommandContext:  # fmt: skip
    """The context of a command in a session."""
    session, record = live.session, live.session.record

    async def markdown() -> str:
        return to_markdown(session.record, await session.read())

    return CommandContext(
        session=record.id,
        cwd=record.cwd,
        title=record.title,
        mode=record.mode,
        model=record.model,
        settings=settings_in(live, switches=False),
        groups=live.commands.groups(),
        rules=rules,
        about_sandbox=partial(_about_sandbox, live, locations),
        bill=partial(bill_of, live, ledger=ledger),
        context_use=lambda: CONTEXT_USE.load()(live),
        events=session.conversation,
        markdown=markdown,
        save=partial(_save, live, policy, locations),
        choose=partial(choose, live, switches=False, by="a slash command", widest_mode=ports.widest_mode),
        checkpoints=checkpoints,
        trust=TRUST.load()(live, locations, asker=ports.asker),
        attempts=SessionAttempts(session, checkpoints=checkpoints),
        fork=partial(_fork, sessions, live),
        hand_over=hand_over,
        tasks=tasks,
        rename=partial(sessions.set_title, record.id),
    )


async def _about_sandbox(live: LiveSession, own: Locations) -> str:
    if sys.platform == "win32":
        return "Commands run like any program of yours."
    return await ABOUT_SANDBOX.load()(live.settings.sandbox, own.cache_dir)


async def _fork(sessions: Sessions, live: LiveSession, turn: int | None) -> str:
    session = live.session
    until = None if turn is None else turn_at(CheckpointLog(await session.read()).turns, turn).last
    setup = SessionSetup(cwd=live.setup.cwd, additional=session.record.additional_directories)
    copy = await sessions.fork(session.id, setup, until=until)
    await sessions.close(copy.session.id)  # kept; whoever opens it says how
    return copy.session.id


async def _save(live: LiveSession, policy: Policy, locations: Locations, name: str, text: str) -> Path:
    path = live.workspace.locate(name)
    decision = policy.decide(
        tool="write_file",
        accesses=(WritesPath(path=path),),
        mode=live.session.mode,
        context=places_of(live.session, locations),
    )
    if decision.verdict == "deny" or not live.workspace.contains(path):
        raise ToolError(decision.reason if decision.verdict == "deny" else f"{path} is outside the project")
    await to_thread.run_sync(_write_new, path, text)
    return path


def _write_new(path: Path, text: str) -> None:
    try:
        with path.open("x", encoding="utf-8", errors="replace") as file:
            file.write(text)
    except FileExistsError as error:
        raise ToolError(f"{path} already exists; name another file") from error
    except OSError as error:
        raise ToolError(f"{path} cannot be written: {error.strerror}") from error
