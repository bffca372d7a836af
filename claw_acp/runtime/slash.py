"""Slash commands in a session: found by name, run with what they may see, their answers kept as asides."""

from collections.abc import Sequence
from functools import partial

from claw_acp.contracts.command import Command, CommandContext, Said
from claw_acp.core.events import Event, MessageStarted, StateChanged, TextDelta
from claw_acp.core.ids import new_id
from claw_acp.core.messages import TextPart
from claw_acp.runtime.choices import MODES, choose_mode, choose_model, models
from claw_acp.runtime.engine import Engine, OpenSession
from claw_acp.session.export import to_markdown


def find_command(commands: Sequence[Command], text: str) -> tuple[Command | None, str]:
    """The command a prompt names, and what follows the name. A slash that names none is an ordinary prompt."""
    name, _, argument = text.strip().partition(" ")
    if not name.startswith("/"):
        return None, ""
    return next((command for command in commands if command.name == name[1:]), None), argument.strip()


async def answer_command(
    engine: Engine, opened: OpenSession, command: Command, argument: str, *, typed: str, rules: Sequence[str]
) -> str | None:
    """Run a command. Returns the prompt it stands for, or None when it answered by itself."""
    result = await command.run(argument, _context(engine, opened, rules))
    if not isinstance(result, Said):
        return result.prompt
    session, clock = opened.session, engine.clock
    turn_id, asked, said = (new_id("turn", clock=clock), new_id("msg", clock=clock), new_id("msg", clock=clock))
    await session.publish(MessageStarted(item=asked, role="user", parts=(TextPart(text=typed),), aside=True))
    await session.publish(MessageStarted(item=said, role="assistant", aside=True))
    await session.publish(TextDelta(item=said, text=result.text))
    await session.publish(StateChanged(item=turn_id, state="idle", stop="end_turn"))
    return None


def _context(engine: Engine, opened: OpenSession, rules: Sequence[str]) -> CommandContext:
    async def events() -> Sequence[Event]:
        return await engine.journal.read(opened.session.id)

    async def markdown() -> str:
        return to_markdown(opened.session.record, await events())

    record = opened.session.record
    return CommandContext(
        session=record.id,
        cwd=record.cwd,
        mode=record.mode,
        model=record.model,
        modes=MODES,
        models=models(opened),
        commands=engine.commands,
        rules=rules,
        events=events,
        markdown=markdown,
        set_mode=partial(choose_mode, opened),
        set_model=partial(choose_model, opened),
    )
