"""One run of one check: connections, the steps that lead up to the trial, and access to the frames."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.verify.agent_connection import AgentConnection
from claw_acp.verify.agent_pool import AgentPool, Options
from claw_acp.verify.dialect import TALKS
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
        bench: The shared state.
        reuse: Whether connections of earlier checks may be used.

    Attributes:
        reused: Whether one was.
        talk: The version of the protocol.
    """

    def __init__(self, bench: AgentPool, *, reuse: bool) -> None:
        self.reused = False
        self._bench = bench
        self._reuse = reuse
        self.talk = TALKS[bench.options.protocol]
        self._begun: list[tuple[AgentConnection, int]] = []

    @property
    def options(self) -> Options:
        """The options of the run."""
        return self._bench.options

    @property
    def facts(self) -> Facts:
        """The facts about the agent."""
        return self._bench.facts

    @property
    def scratch(self) -> Path:
        """A directory for files of the checker's own."""
        return self._bench.scratch

    def story(self) -> tuple[Frame, ...]:
        """All frames of this check."""
        return tuple(frame for line, begin in self._begun for frame in line.frames[begin:])

    # ------------------------------------------------------------------ connections

    @asynccontextmanager
    async def bare(self) -> AsyncGenerator[AgentConnection]:
        """A new connection without any message."""
        line = await self._bench.spawn()
        self._begun.append((line, 0))
        try:
            yield line
        finally:
            self._bench.dismiss(line)

    @asynccontextmanager
    async def fresh(self, *, capabilities: JsonObject | None = None) -> AsyncGenerator[AgentConnection]:
        """A new connection, initialized."""
        async with self.bare() as line:
            await self.initialize(line, capabilities=capabilities or {})
            yield line

    @asynccontextmanager
    async def line(self) -> AsyncGenerator[AgentConnection]:
        """An initialized connection of a client without capabilities, perhaps used before."""
        line = self._bench.idle() if self._reuse else None
        if line is None:
            line = await self._bench.spawn()
            self._begun.append((line, 0))
            await self.initialize(line, capabilities={})
        else:
            self.reused = True
            self._begun.append((line, len(line.frames)))
        try:
            yield line
        except BaseException:
            self._bench.dismiss(line)
            raise
        self._bench.give_back(line)

    @asynccontextmanager
    async def in_session(self) -> AsyncGenerator[tuple[AgentConnection, str]]:
        """A connection as by `line`, and a session opened on it."""
        async with self.line() as line:
            yield line, await self.session(line)

    # ------------------------------------------------------------------ steps that lead up to something

    def hello(self, *, capabilities: JsonObject) -> dict[str, JsonValue]:
        """The parameters of an ordinary `initialize`."""
        return self.talk.hello(capabilities)

    async def initialize(self, line: AgentConnection, *, capabilities: JsonObject) -> Frame:
        """Initialize, and authenticate if sessions need it.

        Raises:
            NotTried: It failed.
        """
        answer = await self.lead_up(line, "initialize", self.hello(capabilities=capabilities))
        if self.facts.must_authenticate:
            await self.authenticate(line)
        return answer

    async def authenticate(self, line: AgentConnection) -> None:
        """Log in as the options specify.

        Raises:
            NotTried: It failed.
        """
        await self.lead_up(line, self.talk.login, {"methodId": self.options.auth_method})

    def opening(self, **more: JsonValue) -> dict[str, JsonValue]:
        """The parameters of `session/new`."""
        return {"cwd": str(self.options.cwd), "mcpServers": [], **more}

    async def session(self, line: AgentConnection, *, cwd: Path | None = None) -> str:
        """Open a session.

        Raises:
            NotTried: It failed.
        """
        answer = await self.lead_up(line, "session/new", self.opening(cwd=str(cwd or self.options.cwd)))
        session = text_of(answer.result, "sessionId")
        if not session:
            raise NotTried("session/new gave no session id")
        return session

    def prompt(self, line: AgentConnection, session: str, text: str | None = None) -> Call:
        """Send a prompt."""
        return line.call("session/prompt", self.prompt_params(session, text))

    def prompt_params(self, session: str, text: str | None = None) -> JsonObject:
        """The parameters of a prompt of one text."""
        return {"sessionId": session, "prompt": [{"type": "text", "text": text or self.options.prompt}]}

    async def turn(self, line: AgentConnection, session: str, text: str | None = None) -> Frame:
        """Run a whole turn; returns the frame that ended it.

        Raises:
            NotTried: It failed.
        """
        try:
            end = await self.ended(line, self.prompt(line, session, text))
        except Failed as failed:
            raise NotTried(f"a turn did not work: {failed.reason}") from failed
        return self.succeeded(end, "session/prompt")

    async def stored(self, text: str | None = None) -> tuple[str, list[Frame]]:
        """A session with one turn, created by an agent process that has ended, and its updates.

        Raises:
            NotTried: It failed.
        """
        async with self.fresh() as line:
            session = await self.session(line)
            begin = len(line.frames)
            await self.turn(line, session, text or f"{self.options.prompt} {MARKER}")
            shown = updates(line, session, since=begin)
            await line.end()
            return session, shown

    async def ended(self, line: AgentConnection, call: Call, *, within: float | None = None) -> Frame:
        """The frame that ends the turn of a prompt.

        Raises:
            Failed: It does not come.
        """
        what = "the answer to session/prompt" if self.options.protocol == 1 else "the end of the turn"
        return await line.until(lambda: self.talk.end(line, call), what, within=within, shown=[call.frame])

    async def slow_turn(self, line: AgentConnection, session: str) -> Call:
        """A running turn that does not end by itself.

        Raises:
            NotTried: It ended.
        """
        begin = len(line.frames)
        call = self.prompt(line, session, self.options.slow_prompt)
        with anyio.move_on_after(UNDER_WAY):
            await line.until(
                lambda: self.talk.end(line, call) or updates(line, session, since=begin) or None, "a sign of the turn"
            )
            await anyio.sleep(STILL)
        end = self.talk.end(line, call)
        if end is not None:
            how = self.talk.reason(end) or f"error {end.code}"
            raise NotTried(f"the turn of --slow-prompt ended ({how}) before anything could be done in it")
        return call

    async def question(self, line: AgentConnection, session: str) -> tuple[Call, Frame]:
        """A turn that waits for permission, and the open question.

        Raises:
            NotTried: Nothing was asked.
        """
        line.desk.permission = "hold"
        call = self.prompt(line, session, self.options.tool_prompt)
        try:
            asked = await line.until(
                lambda: (
                    next((held for held in line.questions if held.params.get("sessionId") == session), None)
                    or self.talk.end(line, call)
                ),
                "a request for permission",
            )
        except Failed as failed:
            raise NotTried(failed.reason) from failed
        if not asked.is_request:
            raise NotTried("the turn of --tool-prompt ended without a request for permission")
        return call, asked

    async def over(self, line: AgentConnection, session: str, *calls: Call) -> None:
        """End turns that are no longer needed; a connection on which that fails is not reused."""
        line.cancel(session)
        try:
            for call in calls:
                await self.ended(line, call)
        except Failed:
            line.spoiled = True

    async def lead_up(self, line: AgentConnection, method: str, params: JsonObject) -> Frame:
        """Send a request that must succeed before the check can begin.

        Raises:
            NotTried: It failed.
        """
        return self.succeeded(await self.tried(line, method, params), method)

    async def tried(self, line: AgentConnection, method: str, params: JsonObject) -> Frame:
        """The answer to a preparatory request.

        Raises:
            NotTried: There is none.
        """
        try:
            return await line.ask(method, params)
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

    async def alive(self, line: AgentConnection, *, shown: Sequence[Frame] = ()) -> None:
        """Check that the agent still reads and answers; afterwards everything sent before has been read.

        Raises:
            Dead: It does not.
        """
        method, params = self.facts.lifesign
        try:
            await line.ask(method, params)
        except Failed as failed:
            raise Dead(f"the agent no longer answers: {failed.reason}", [*shown, *failed.frames]) from failed

    async def heard(self, line: AgentConnection, *, begin: int, shown: Sequence[Frame] = ()) -> list[Frame]:
        """All frames since `begin`, after the agent has read everything and a quiet moment has passed.

        Raises:
            Dead: The agent no longer answers.
        """
        await self.alive(line, shown=shown)
        sign = line.calls[-1]
        await anyio.sleep(QUIET)
        return [frame for frame in line.frames[begin:] if frame.way == "<-" and frame.call is not sign]


async def late(line: AgentConnection, session: str, answer: Frame) -> list[Frame]:
    """The updates of a session that come after an answer."""
    await anyio.sleep(SETTLED)
    return updates(line, session, since=line.frames.index(answer))


def updates(line: AgentConnection, session: str, *, since: int = 0, until: int | None = None) -> list[Frame]:
    """The updates of a session in a range of frames."""
    return [
        frame
        for frame in line.frames[since:until]
        if frame.way == "<-" and frame.method == "session/update" and frame.params.get("sessionId") == session
    ]
