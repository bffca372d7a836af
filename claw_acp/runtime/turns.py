"""From a prompt to its outcome: waits for the session's turn, runs a command or the loop, names the session."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from claw_acp.agent.desk import Desk
from claw_acp.agent.gate import Gate
from claw_acp.agent.loop import Outcome, Turn
from claw_acp.agent.model_request import ModelRequester
from claw_acp.agent.tool_runner import ToolRunner
from claw_acp.contracts.provider import Provider
from claw_acp.core.errors import InvalidRequest
from claw_acp.core.messages import ContentPart, ImagePart, TextPart
from claw_acp.core.redaction import Redactor
from claw_acp.providers.resolve import ModelChoice, resolve
from claw_acp.runtime.engine import Engine, OpenSession
from claw_acp.runtime.permissions import current_policy
from claw_acp.runtime.slash import answer_command, find_command
from claw_acp.security.policy import PolicyContext

TITLE_LIMIT = 60  # characters


async def run_prompt(engine: Engine, opened: OpenSession, prompt: Sequence[ContentPart], *, desk: Desk) -> Outcome:
    """Run one prompt in a session, after those that wait before it.

    Raises:
        SessionBusy: Too many wait already, or another process runs a turn in this session.
        AuthRequired: The session's model cannot be used without a key.
        InvalidRequest: The prompt holds images and the model reads none.
        ProviderError: A model request failed for good; the session stays usable.
    """
    session = opened.session
    async with session.turn(engine.locks.hold(session.id)):
        text = prompt[0].text if len(prompt) == 1 and isinstance(prompt[0], TextPart) else ""
        command, argument = find_command(opened.commands, text)
        asked = prompt
        if command is not None:
            answer = await answer_command(engine, opened, command, argument, typed=text)
            if answer is None:
                return Outcome(stop="end_turn", usage=None)
            asked = (TextPart(text=answer),)
        turn = _turn(engine, opened, asked, desk=desk)
        await session.change(title=None if session.record.title else title_of(asked))
        return await turn.run(asked)
    return Outcome(stop="cancelled", usage=None)


def _turn(engine: Engine, opened: OpenSession, prompt: Sequence[ContentPart], *, desk: Desk) -> Turn:
    session, settings, clock = opened.session, opened.settings, engine.clock
    choice = resolve(settings, model=session.record.model)
    provider = engine.providers.get(choice)
    _check_images(provider, choice, prompt)
    project = Path(session.record.cwd)
    gate = Gate(
        session,
        policy=partial(current_policy, opened.rules, engine.permissions, project),
        remember=lambda rules, answer: engine.permissions.remember(project, rules, answer=answer),
        asker=desk.asker,
        context=PolicyContext(roots=session.roots, home=Path.home(), protected=engine.protected),
    )
    runner = ToolRunner(
        session,
        toolbox=engine.toolbox,
        gate=gate,
        desk=desk,
        clock=clock,
        redactor=Redactor(secret.reveal() for secret in (choice.setup.api_key,) if secret is not None),
    )
    requester = ModelRequester(session, provider=provider, model=choice.model, options=choice.options, clock=clock)
    return Turn(
        session,
        requester=requester,
        runner=runner,
        system=opened.system,
        tools=engine.toolbox.tool_specs(),
        limit=settings.limits.max_turn_requests,
        clock=clock,
    )


def _check_images(provider: Provider, choice: ModelChoice, prompt: Sequence[ContentPart]) -> None:
    if any(isinstance(part, ImagePart) for part in prompt) and not provider.capabilities(choice.model).images:
        raise InvalidRequest(f"{choice.name} does not read images; choose another model or leave the image out")


def title_of(prompt: Sequence[ContentPart]) -> str | None:
    """The first line of what was asked, cut at a word."""
    text = " ".join(part.text for part in prompt if isinstance(part, TextPart)).strip()
    line = text.splitlines()[0].strip() if text else ""
    if len(line) <= TITLE_LIMIT:
        return line or None
    return line[: TITLE_LIMIT - 1].rsplit(" ", 1)[0].rstrip() + "…"
