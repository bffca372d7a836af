"""From a prompt to its outcome: waits for the session's turn, runs a command or the loop, names the session."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from claw_acp.agent.desk import Desk
from claw_acp.agent.gate import Gate
from claw_acp.agent.loop import Outcome, Turn
from claw_acp.agent.model_request import ModelRequester
from claw_acp.agent.readable import obstacle
from claw_acp.agent.system_prompt import system_prompt
from claw_acp.agent.tool_runner import ToolRunner
from claw_acp.contracts.provider import Provider
from claw_acp.core.errors import InvalidRequest
from claw_acp.core.messages import ContentPart, TextPart
from claw_acp.core.redaction import Redactor
from claw_acp.providers.resolve import ModelChoice, resolve
from claw_acp.runtime.engine import Engine, OpenSession
from claw_acp.runtime.models import ProviderPool
from claw_acp.runtime.permissions import configured_rules, current_policy, describe_rules
from claw_acp.runtime.registries import make_toolbox
from claw_acp.runtime.slash import answer_command, find_command
from claw_acp.security.permission_store import PermissionStore
from claw_acp.security.policy import PolicyContext

TITLE_LIMIT = 60  # characters


class Turns:
    """Runs prompts; owns what only they need: tools, providers, permissions."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._toolbox = make_toolbox()
        self._providers = ProviderPool(clock=engine.clock)
        self._permissions = PermissionStore(engine.locations.permissions_file)
        self._system: dict[str, str] = {}

    async def run(self, opened: OpenSession, prompt: Sequence[ContentPart], *, desk: Desk) -> Outcome:
        """Run one prompt in a session, after those that wait before it.

        Raises:
            SessionBusy: Too many wait already, or another process runs a turn in this session.
            AuthRequired: The session's model cannot be used without a key.
            InvalidRequest: The prompt holds something that the model cannot take in.
            ProviderError: A model request failed for good; the session stays usable.
        """
        session = opened.session
        work = partial(self._run, opened, prompt, desk=desk)
        outcome = await session.in_turn(work, lock=self._engine.locks.hold(session.id))
        return outcome or Outcome(stop="cancelled", usage=None)

    async def _run(self, opened: OpenSession, prompt: Sequence[ContentPart], *, desk: Desk) -> Outcome:
        session = opened.session
        asked = await self._run_command(opened, prompt)
        if asked is None:
            return Outcome(stop="end_turn", usage=None)
        turn = self._turn(opened, asked, desk=desk)
        await session.change(title=None if session.record.title else title_of(asked))
        return await turn.run(asked)

    async def aclose(self) -> None:
        """Close the providers."""
        await self._providers.aclose()

    async def _run_command(self, opened: OpenSession, prompt: Sequence[ContentPart]) -> Sequence[ContentPart] | None:
        """The prompt to run, after a command that stands for another one; None when a command has answered."""
        text = prompt[0].text if len(prompt) == 1 and isinstance(prompt[0], TextPart) else ""
        command, argument = find_command(self._engine.commands, text)
        if command is None:
            return prompt
        rules = describe_rules(configured_rules(opened.settings), self._permissions, Path(opened.session.record.cwd))
        answer = await answer_command(self._engine, opened, command, argument, typed=text, rules=rules)
        return None if answer is None else (TextPart(text=answer),)

    def _turn(self, opened: OpenSession, prompt: Sequence[ContentPart], *, desk: Desk) -> Turn:
        session, clock = opened.session, self._engine.clock
        choice = resolve(opened.settings, model=session.record.model)
        provider = self._providers.get(choice)
        _check_attachments(provider, choice, prompt)
        runner = ToolRunner(
            session,
            toolbox=self._toolbox,
            gate=self._gate(opened, desk),
            desk=desk,
            clock=clock,
            redactor=Redactor([choice.setup.api_key.reveal()] if choice.setup.api_key else []),
        )
        requester = ModelRequester(session, provider=provider, model=choice.model, options=choice.options, clock=clock)
        return Turn(
            session,
            requester=requester,
            runner=runner,
            system=self._system.setdefault(session.id, system_prompt(session.roots)),
            tools=self._toolbox.tool_specs(),
            limit=opened.settings.limits.max_turn_requests,
            clock=clock,
        )

    def _gate(self, opened: OpenSession, desk: Desk) -> Gate:
        session, store = opened.session, self._permissions
        project = Path(session.record.cwd)
        return Gate(
            session,
            policy=partial(current_policy, configured_rules(opened.settings), store, project),
            remember=lambda rules, answer: store.remember(project, rules, answer=answer),
            asker=desk.asker,
            context=PolicyContext(roots=session.roots, home=Path.home(), protected=self._engine.protected),
        )


def _check_attachments(provider: Provider, choice: ModelChoice, prompt: Sequence[ContentPart]) -> None:
    capabilities = provider.capabilities(choice.model)
    for part in prompt:
        if reason := obstacle(part, capabilities=capabilities):
            raise InvalidRequest(f"{choice.name} {reason}; leave it out, attach it as text, or choose another model")


def title_of(prompt: Sequence[ContentPart]) -> str | None:
    """The first line of what was asked, cut at a word."""
    text = " ".join(part.text for part in prompt if isinstance(part, TextPart)).strip()
    line = text.splitlines()[0].strip() if text else ""
    if len(line) <= TITLE_LIMIT:
        return line or None
    return line[: TITLE_LIMIT - 1].rsplit(" ", 1)[0].rstrip() + "…"
