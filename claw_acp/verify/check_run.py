"""One run of one check: connections, the steps that lead up to the trial, and access to the frames."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.verify.agent_connection import AgentConnection
from claw_acp.verify.agent_pool import AgentPool, Options
from claw_acp.verify.dialect import DIALECTS
from claw_acp.verify.facts import Facts
from claw_acp.verify.frames import Call, Frame, text_of
from claw_acp.verify.rule import Dead, Failed, NotTried

QUIET = 0.05  # seconds of silence after an agent showed by an answer that it has read everything
UNDER_WAY = 1.0  # seconds in which a long turn shows a first sign, or is taken to have begun without one
SETTLED = 0.3  # seconds after an answer in which nothing may follow that belongs before it
MARKER = "the word to remember is verify-7391"
STILL = 0.1  # seconds from there in which it must not end if it is to count as long


class CheckRun:
    """The context of a check.

    Args:
        pool: The shared state.
        reuse: Whether connections of earlier checks may be used.

    Attributes:
        reused: Whether one was.
        dialect: The version of the protocol.
    """

    def __init__(self, pool: AgentPool, *, reuse: bool) -> None:
        self.reused = False
        self._pool = pool
        self._reuse = reuse
        self.dialect = DIALECTS[pool.options.protocol]
        self._begun: list[tuple[AgentConnection, int]] = []

    @property
    def options(self) -> Options:
        """The options of the run."""
        return self._pool.options

    @property
    def facts(self) -> Facts:
        """The facts about the agent."""
        return self._pool.facts

    @property
    def scratch(self) -> Path:
        """A directory for files of the checker's own."""
        return self._pool.scratch

    def story(self) -> tuple[Frame, ...]:
        """All frames of this check."""
        return tuple(frame for agent, begin in self._begun for frame in agent.frames[begin:])

    # ------------------------------------------------------------------ connections

    @asynccontextmanager
    async def bare(self) -> AsyncGenerator[AgentConnection]:
        """A new connection without any message."""
        agent = await self._pool.spawn()
        self._begun.append((agent, 0))
        try:
            yield agent
        finally:
            self._pool.dismiss(agent)

    @asynccontextmanager
    async def fresh(self, *, capabilities: JsonObject | None = None) -> AsyncGenerator[AgentConnection]:
        """A new connection, initialized."""
        async with self.bare() as agent:
            await self.initialize(agent, capabilities=capabilities or {})
            yield agent

    @asynccontextmanager
    async def agent(self) -> AsyncGenerator[AgentConnection]:
        """An initialized connection of a client without capabilities, perhaps used before."""
        agent = self._pool.idle() if self._reuse else None
        if agent is None:
            agent = await self._pool.spawn()
            self._begun.append((agent, 0))
            await self.initialize(agent, capabilities={})
        else:
            self.reused = True
            self._begun.append((agent, len(agent.frames)))
        try:
            yield agent
        except BaseException:
            self._pool.dismiss(agent)
            raise
        self._pool.give_back(agent)

    @asynccontextmanager
    async def in_session(self) -> AsyncGenerator[tuple[AgentConnection, str]]:
        """A connection as by `agent`, and a session opened on it."""
        async with self.agent() as agent:
            yield agent, await self.session(agent)

    # ------------------------------------------------------------------ steps that lead up to something

    def hello(self, *, capabilities: JsonObject) -> dict[str, JsonValue]:
        """The parameters of an ordinary `initialize`."""
        return self.dialect.hello(capabilities)

    async def initialize(self, agent: AgentConnection, *, capabilities: JsonObject) -> Frame:
        """Initialize, and authenticate if sessions need it.

        Raises:
            NotTried: It failed.
        """
        answer = await self.lead_up(agent, "initialize", self.hello(capabilities=capabilities))
        if self.facts.must_authenticate:
            await self.authenticate(agent)
        return answer

    async def authenticate(self, agent: AgentConnection) -> None:
        """Log in as the options specify.

        Raises:
            NotTried: It failed.
        """
        await self.lead_up(agent, self.dialect.login, {"methodId": self.options.auth_method})

    def opening(self, **more: JsonValue) -> dict[str, JsonValue]:
        """The parameters of `session/new`."""
        return {"cwd": str(self.options.cwd), "mcpServers": [], **more}

    async def session(self, agent: AgentConnection, *, cwd: Path | None = None) -> str:
        """Open a session.

        Raises:
            NotTried: It failed.
        """
        answer = await self.lead_up(agent, "session/new", self.opening(cwd=str(cwd or self.options.cwd)))
        session = text_of(answer.result, "sessionId")
        if not session:
            raise NotTried("session/new gave no session id")
        return session

    def prompt(self, agent: AgentConnection, session: str, text: str | None = None) -> Call:
        """Send a prompt."""
        return agent.call("session/prompt", self.prompt_params(session, text))

    def prompt_params(self, session: str, text: str | None = None) -> JsonObject:
        """The parameters of a prompt of one text."""
        return {"sessionId": session, "prompt": [{"type": "text", "text": text or self.options.prompt}]}

    async def turn(self, agent: AgentConnection, session: str, text: str | None = None) -> Frame:
        """Run a whole turn; returns the frame that ended it.

        Raises:
            NotTried: It failed.
        """
        try:
            end = await self.ended(agent, self.prompt(agent, session, text))
        except Failed as failed:
            raise NotTried(f"a turn did not work: {failed.reason}") from failed
        return self.succeeded(end, "session/prompt")

    async def stored(self, text: str | None = None) -> tuple[str, list[Frame]]:
        """A session with one turn, created by an agent process that has ended, and its updates.

        Raises:
            NotTried: It failed.
        """
        async with self.fresh() as agent:
            session = await self.session(agent)
            begin = len(agent.frames)
            await self.turn(agent, session, text or f"{self.options.prompt} {MARKER}")
            shown = updates(agent, session, since=begin)
            await agent.end()
            return session, shown

    async def ended(self, agent: AgentConnection, call: Call, *, within: float | None = None) -> Frame:
        """The frame that ends the turn of a prompt.

        Raises:
            Failed: It does not come.
        """
        what = "the answer to session/prompt" if self.options.protocol == 1 else "the end of the turn"
        return await agent.until(lambda: self.dialect.end(agent, call), what, within=within, shown=[call.frame])

    async def slow_turn(self, agent: AgentConnection, session: str) -> Call:
        """A running turn that does not end by itself.

        Raises:
            NotTried: It ended.
        """
        begin = len(agent.frames)
        call = self.prompt(agent, session, self.options.slow_prompt)
        with anyio.move_on_after(UNDER_WAY):
            await agent.until(
                lambda: self.dialect.end(agent, call) or updates(agent, session, since=begin) or None,
                "a sign of the turn",
            )
            await anyio.sleep(STILL)
        end = self.dialect.end(agent, call)
        if end is not None:
            how = self.dialect.reason(end) or f"error {end.code}"
            raise NotTried(f"the turn of --slow-prompt ended ({how}) before anything could be done in it")
        return call

    async def question(self, agent: AgentConnection, session: str) -> tuple[Call, Frame]:
        """A turn that waits for permission, and the open question.

        Raises:
            NotTried: Nothing was asked.
        """
        agent.client.permission = "hold"
        call = self.prompt(agent, session, self.options.tool_prompt)
        try:
            asked = await agent.until(
                lambda: (
                    next((held for held in agent.questions if held.params.get("sessionId") == session), None)
                    or self.dialect.end(agent, call)
                ),
                "a request for permission",
            )
        except Failed as failed:
            raise NotTried(failed.reason) from failed
        if not asked.is_request:
            raise NotTried("the turn of --tool-prompt ended without a request for permission")
        return call, asked

    async def over(self, agent: AgentConnection, session: str, *calls: Call) -> None:
        """End turns that are no longer needed; a connection on which that fails is not reused."""
        agent.cancel(session)
        try:
            for call in calls:
                await self.ended(agent, call)
        except Failed:
            agent.spoiled = True

    async def lead_up(self, agent: AgentConnection, method: str, params: JsonObject) -> Frame:
        """Send a request that must succeed before the check can begin.

        Raises:
            NotTried: It failed.
        """
        return self.succeeded(await self.tried(agent, method, params), method)

    async def tried(self, agent: AgentConnection, method: str, params: JsonObject) -> Frame:
        """The answer to a preparatory request.

        Raises:
            NotTried: There is none.
        """
        try:
            return await agent.ask(method, params)
        except Failed as failed:
            raise NotTried(f"{method} did not work: {failed.reason}") from failed

    def succeeded(self, answer: Frame, method: str) -> Frame:
        """The same answer.

        Raises:
            NotTried: It is an error.
        """
        if answer.error is not None:
            raise NotTried(f"{method} was answered with error {answer.code}: {answer.error.get('message')}")
        return answer

    # ------------------------------------------------------------------ looking

    async def alive(self, agent: AgentConnection, *, shown: Sequence[Frame] = ()) -> None:
        """Check that the agent still reads and answers; afterwards everything sent before has been read.

        Raises:
            Dead: It does not.
        """
        method, params = self.facts.lifesign
        try:
            await agent.ask(method, params)
        except Failed as failed:
            raise Dead(f"the agent no longer answers: {failed.reason}", [*shown, *failed.frames]) from failed

    async def heard(self, agent: AgentConnection, *, begin: int, shown: Sequence[Frame] = ()) -> list[Frame]:
        """All frames since `begin`, after the agent has read everything and a quiet moment has passed.

        Raises:
            Dead: The agent no longer answers.
        """
        await self.alive(agent, shown=shown)
        sign = agent.calls[-1]
        await anyio.sleep(QUIET)
        return [frame for frame in agent.frames[begin:] if frame.way == "<-" and frame.call is not sign]


async def late(agent: AgentConnection, session: str, answer: Frame) -> list[Frame]:
    """The updates of a session that come after an answer."""
    await anyio.sleep(SETTLED)
    return updates(agent, session, since=agent.frames.index(answer))


def updates(agent: AgentConnection, session: str, *, since: int = 0, until: int | None = None) -> list[Frame]:
    """The updates of a session in a range of frames."""
    return [
        frame
        for frame in agent.frames[since:until]
        if frame.way == "<-" and frame.method == "session/update" and frame.params.get("sessionId") == session
    ]
