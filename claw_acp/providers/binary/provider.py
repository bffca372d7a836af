"""A provider that is a program of its own, speaking JSON-RPC on its stdin and stdout."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import anyio
from anyio import to_thread

from claw_acp.contracts.provider import (
    Capabilities,
    ChatRequest,
    Finished,
    ModelInfo,
    StreamEvent,
    TextChunk,
    ThoughtChunk,
)
from claw_acp.contracts.provider_setup import BackgroundTasks, ProviderSetup
from claw_acp.core.clock import Clock
from claw_acp.core.errors import ConfigError, ProviderUnavailable
from claw_acp.providers.binary.connection import open_connection
from claw_acp.providers.binary.deadline import CALL_TIMEOUT, Deadline
from claw_acp.providers.binary.detection import Finding, Memory, probe_of
from claw_acp.providers.binary.failures import Failures
from claw_acp.providers.binary.introduction import Offer, assumed
from claw_acp.providers.binary.oneshot import ask_once
from claw_acp.providers.binary.session import Session, introduced, must_introduce_itself
from claw_acp.providers.transport.streaming import StreamingProvider

DETECTION_SECONDS = 3.0  # for a program that may be a session plugin to introduce itself
INTRODUCTION_SECONDS = 30.0  # for one that is known to be one; a large runtime takes its time to start

FIRST_DELAY = 0.5  # seconds until a plugin that died is started again; doubled with each further death
LONGEST_DELAY = 30.0  # seconds

log = logging.getLogger(__name__)


class BinaryProvider(StreamingProvider):
    """Asks a program: a new process for each request, or one for many (`ProviderProgram.protocol`).

    With `auto`, a program that answers `initialize` is a session plugin, every other one is asked once per process. The
    finding is remembered: of a session plugin when it has introduced itself, of a one-shot one when it has answered a
    request. Silence alone is not trusted at once (`Finding.holds`), since a slow start looks the same.
    """

    def __init__(self, setup: ProviderSetup) -> None:
        """Store the setup; nothing is started yet.

        Raises:
            ConfigError: No program is named.
        """
        if setup.program is None:
            raise ConfigError(f'[providers.{setup.name}] runs a program; name it: command = "PATH"')
        self.name = setup.name
        self._program = setup.program
        self._timeout = setup.timeout or CALL_TIMEOUT
        known = [*setup.secrets, *(value.reveal() for _, value in setup.program.env)]
        self._failures = Failures(self.name, command=self._program.command, timeout=self._timeout, secrets=known)
        self._restarts = Restarts(clock=setup.clock)
        self._starting = anyio.Lock()
        self._session: Session | None = None
        protocol = setup.program.protocol
        self._clock = setup.clock
        self._finding = None if protocol == "auto" else Finding(protocol=protocol)
        self._kept: Finding | None = None  # what stands in the memory, as far as we know
        self._probe = probe_of(setup.program)
        self._tasks = setup.tasks or EventLoopTasks()

    # ------------------------------------------------------------------ asking

    async def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        """Answer piece by piece, if the program does.

        Raises:
            ProviderError: See `Failures`.
        """
        deadline = Deadline(self._timeout, failures=self._failures)
        session = await self._opened(deadline)
        if session is None:
            for event in await self._asked_once(request, deadline=deadline):
                yield event
            return
        async with aclosing(session.chat(request, deadline=deadline)) as events:
            async for event in events:
                if isinstance(event, Finished):
                    self._restarts.worked()
                yield event

    async def _asked_once(self, request: ChatRequest, *, deadline: Deadline) -> list[StreamEvent]:
        response, printed = await ask_once(self._program, request, failures=self._failures, deadline=deadline)
        if self._program.protocol == "auto":
            if printed.streams:
                log.warning("provider plugin streams when asked once: it is one that stays", extra=self._advice())
                self._finding = None
            await self._remember()
        said: list[StreamEvent] = [ThoughtChunk(text=block.text) for block in response.reasoning]
        if response.text:
            said.append(TextChunk(text=response.text))
        return [*said, Finished(response=response)]

    # ------------------------------------------------------------------ what it is

    def capabilities(self, model: str) -> Capabilities:
        """The capabilities that the program stated, now or at its last run; before that, see `assumed`."""
        finding = self._known()
        return finding.offer.capabilities(model) if finding is not None and finding.offer else assumed(model)

    async def models(self) -> Sequence[ModelInfo]:
        """The models the program offers; none for a one-shot program.

        Raises:
            ProviderError: See `Failures`.
        """
        deadline = Deadline(self._timeout, failures=self._failures)
        session = await self._opened(deadline)
        return () if session is None else await session.models(deadline=deadline)

    def _known(self) -> Finding | None:
        """The reliable finding; looked up until there is one, as another process may have stored it meanwhile."""
        now, protocol, finding = self._clock.now(), self._program.protocol, self._finding
        if protocol != "oneshot" and not _is_whole(finding, now=now):
            found = Memory.of_user().recall(self._program)
            if found is not None and protocol in {"auto", found.protocol} and (finding is None or found.holds(now)):
                self._finding = self._kept = finding = found
        return finding if finding is not None and finding.holds(now) else None

    async def _remember(self) -> None:
        if self._finding != self._kept:
            self._kept = self._finding
            await to_thread.run_sync(Memory.of_user().keep, self._program, self._finding)

    def _advice(self) -> dict[str, str]:
        mend = f'set protocol = "session" or "oneshot" in [providers.{self.name}]'
        return {"provider": self.name, "mend": mend, "remembered": str(Memory.of_user().path)}

    # ------------------------------------------------------------------ the program that stays

    async def _opened(self, deadline: Deadline) -> Session | None:
        """The running program, started if needed; None if it is a one-shot program."""
        with deadline.kept():
            async with self._starting:
                if self._session is not None and await self._session.connection.is_usable():
                    return self._session
                finding = self._known()
                if finding is None:
                    return await self._found_out()
                if finding.protocol == "session":
                    await self._start(expected=True)
                return self._session
        raise AssertionError("a deadline that has passed is an error")  # pragma: no cover

    async def _found_out(self) -> Session | None:
        """The same for a program with an unknown protocol."""
        async with self._probe.turn() as found:
            if found is None:
                await self._start(expected=False)
                self._probe.tell(self._finding)
                return self._session
            self._finding = found
        if found.protocol == "session":
            await self._start(expected=True)
        return self._session

    async def _start(self, *, expected: bool) -> None:
        """Start a process, unless it turns out to be one-shot; if a session is `expected` it has more time.

        Raises:
            ProviderError: It cannot be started, or was configured as a session plugin and is none.
        """
        old, self._session = self._session, None
        if old is not None:
            await old.connection.abandon()
            if old.connection.crashed:
                self._restarts.died()
        await anyio.sleep(self._restarts.delay)
        connection = await open_connection(self._program, tasks=self._tasks, failures=self._failures)
        within = INTRODUCTION_SECONDS if expected else DETECTION_SECONDS
        offer: Offer | None = None
        silent = False
        try:
            with anyio.move_on_after(within) as scope:
                greet = must_introduce_itself if self._program.protocol == "session" else introduced
                offer = await greet(connection, failures=self._failures)
            silent = scope.cancelled_caught
        except ProviderUnavailable:
            if expected:  # it may be better the next time
                self._restarts.died()
                raise
        finally:
            if offer is None:
                await connection.abandon()
        if offer is None:
            await self._not_introduced(silent_for=within if silent else 0.0)
            return
        self._session = Session(connection, offer, failures=self._failures)
        self._finding = Finding(protocol="session", offer=offer)
        await self._remember()

    async def _not_introduced(self, *, silent_for: float) -> None:
        if self._program.protocol == "session":
            raise self._failures.no_session(f"it did not answer `initialize` within {silent_for:g} s")
        earlier = self._finding
        if earlier is not None and earlier.protocol == "session":
            self._finding = earlier = None
            await self._remember()
        if not silent_for:
            log.info("provider plugin taken for a one-shot one", extra={"provider": self.name})
            self._finding = Finding(protocol="oneshot")
            return
        silences = 1 + (earlier.silences if earlier is not None else 0)
        self._finding = Finding(protocol="oneshot", silences=silences, at=self._clock.now())
        what = f"provider plugin did not answer for {silent_for:g} s, and is treated as a one-shot program"
        log.warning(what, extra=self._advice())

    async def aclose(self) -> None:
        """End the program, politely if possible; the provider may be used again."""
        session, self._session = self._session, None
        if session is not None:
            await session.connection.aclose()


def _is_whole(finding: Finding | None, *, now: float) -> bool:
    """Return whether the file of findings has nothing to add."""
    return finding is not None and finding.holds(now) and (finding.protocol == "oneshot" or finding.offer is not None)


class EventLoopTasks:
    """Tasks of the event loop itself, which cancels them at its end."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[None]] = set()  # the loop alone would let them be collected

    def start_soon(self, work: Callable[[], Coroutine[Any, Any, None]], /) -> None:
        """Run `work` in a task of its own."""
        task = asyncio.get_running_loop().create_task(work())  # anyio has no task without a parent
        self._running.add(task)
        task.add_done_callback(self._running.discard)


class Restarts:
    """Counts crashes without a success between them."""

    def __init__(self, *, clock: Clock) -> None:
        self._clock = clock
        self._deaths = 0
        self._not_before = 0.0

    @property
    def delay(self) -> float:
        """Seconds until a restart is allowed; 0 if it is now."""
        return max(0.0, self._not_before - self._clock.monotonic()) if self._deaths else 0.0

    def died(self) -> None:
        """Count a crash."""
        wait = min(LONGEST_DELAY, FIRST_DELAY * 2 ** min(self._deaths, 10))
        self._deaths += 1
        self._not_before = self._clock.monotonic() + wait

    def worked(self) -> None:
        """Reset the count after an answer."""
        self._deaths = 0


if TYPE_CHECKING:
    _conforms: type[BackgroundTasks] = EventLoopTasks
