"""Slash commands in a session: found by name, run with what they may see, their answers kept as asides."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from anyio import to_thread

from claw_acp.contracts.command import Command, CommandContext
from claw_acp.contracts.tool import WritesPath
from claw_acp.core.clock import Clock
from claw_acp.core.errors import ToolError
from claw_acp.core.events import MessageStarted, StateChanged, TextDelta
from claw_acp.core.ids import new_id
from claw_acp.core.messages import TextPart
from claw_acp.runtime.choices import MODES, choose_mode, choose_model, models
from claw_acp.runtime.engine import Engine, OpenSession
from claw_acp.runtime.permissions import places_of
from claw_acp.security.policy import Policy
from claw_acp.session.export import to_markdown
from claw_acp.session.insertion import Inserted, insert, nobody
from claw_acp.session.session import Session


def find_command(commands: Sequence[Command], text: str) -> tuple[Command | None, str]:
    """The command a prompt names, and what follows the name. A slash that names none is an ordinary prompt."""
    name, _, argument = text.strip().partition(" ")
    if not name.startswith("/"):
        return None, ""
    return next((command for command in commands if command.name == name[1:]), None), argument.strip()


async def keep_answer(session: Session, *, typed: str, answer: str, clock: Clock, inserted: Inserted = nobody) -> None:
    """Show and keep a command and what it answered, beside the conversation that models see."""
    turn_id, asked, said = (new_id("turn", clock=clock), new_id("msg", clock=clock), new_id("msg", clock=clock))
    await session.publish(StateChanged(item=turn_id, state="running"))
    message = MessageStarted(item=asked, role="user", parts=(TextPart(text=typed),), aside=True)
    await insert(session, message, inserted=inserted)
    await session.publish(MessageStarted(item=said, role="assistant", aside=True))
    await session.publish(TextDelta(item=said, text=answer))
    await session.publish(StateChanged(item=turn_id, state="idle", stop="end_turn"))


def command_context(engine: Engine, opened: OpenSession, *, rules: Sequence[str], policy: Policy) -> CommandContext:
    """What a command may see and do in a session."""
    session = opened.session

    async def save(name: str, text: str) -> Path:
        path = opened.workspace.locate(name)
        decision = policy.decide(
            tool="write_file",
            accesses=(WritesPath(path=path),),
            mode=session.mode,
            context=places_of(session, engine.locations),
        )
        if decision.verdict == "deny" or not opened.workspace.contains(path):
            raise ToolError(decision.reason if decision.verdict == "deny" else f"{path} is outside the project")
        await to_thread.run_sync(_write_new, path, text)
        return path

    async def markdown() -> str:
        return to_markdown(session.record, await session.read())

    record = session.record
    return CommandContext(
        session=record.id,
        cwd=record.cwd,
        mode=record.mode,
        model=record.model,
        modes=MODES,
        models=models(opened),
        commands=opened.commands(),
        rules=rules,
        events=session.read,
        markdown=markdown,
        save=save,
        set_mode=partial(choose_mode, opened),
        set_model=partial(choose_model, opened),
    )


def _write_new(path: Path, text: str) -> None:
    try:
        with path.open("x", encoding="utf-8", errors="replace") as file:
            file.write(text)
    except FileExistsError as error:
        raise ToolError(f"{path} already exists; name another file") from error
    except OSError as error:
        raise ToolError(f"{path} cannot be written: {error.strerror}") from error
