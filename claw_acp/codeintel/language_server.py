"""One running language server: started, asked for the diagnostics of texts, and ended.

Whatever it does (hang, die, print anything) ends in a `ServerFailed`, never later than the named bounds.
"""

import logging
import os
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Final, TypeAlias, TypeVar

import anyio

from claw_acp.audit.program_starts import record_start
from claw_acp.codeintel.problem import Problem, problems_of
from claw_acp.codeintel.published import Published
from claw_acp.codeintel.server_table import FoundServer
from claw_acp.codeintel.server_wire import initialization, settings_for, tsserver_items
from claw_acp.contracts.launch import CommandSandbox, Confinement
from claw_acp.core.child_environment import without_keys
from claw_acp.core.environment import current_environment
from claw_acp.core.errors import StoreError, ToolError
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.core.printable import printable
from claw_acp.process.child_process import ChildProcess, start_child
from claw_acp.process.outer_path import outer_path
from claw_acp.process.output_tail import OutputTail
from claw_acp.rpc.dispatcher import Dispatcher
from claw_acp.rpc.errors import ConnectionClosed, RpcError
from claw_acp.rpc.framing import Frame
from claw_acp.rpc.header_framing import HeaderTransport
from claw_acp.rpc.message import METHOD_NOT_FOUND, Incoming, Malformed, Notification, decode
from claw_acp.rpc.peer import IncomingCall, NotificationHandler, RequestHandler

log = logging.getLogger(__name__)

_T = TypeVar("_T")

START_SECONDS: Final = 30.0
"""Seconds until a server has answered `initialize`."""

IDLE_SECONDS: Final = 600.0
"""Seconds after its last use that a server is ended."""

POLITE_SECONDS: Final = 0.5
"""Seconds for a server to leave after `shutdown` and `exit`."""

TERMINATE_SECONDS: Final = 0.5
"""Seconds from SIGTERM to SIGKILL."""

MOST_NONSENSE: Final = 100
"""Messages that are none until a server is given up."""

_STDERR: Final = 2000  # bytes of its error output that are kept
_ASKED_AGAIN: Final = 3  # times, when a server says that the content changed under its feet
_CONTENT_MODIFIED: Final = (-32801, -32802)
_ACKNOWLEDGED: Final = frozenset({
    "client/registerCapability", "client/unregisterCapability", "window/workDoneProgress/create",
    "window/showMessageRequest",
})  # fmt: skip

Confine: TypeAlias = Callable[[], Awaitable[CommandSandbox | None]]
"""Returns the sandbox of a server; None: it runs like any program of its person."""


async def unconfined() -> CommandSandbox | None:
    """No sandbox."""
    return None


class ServerFailed(Exception):
    """The server cannot answer; the text says why, for people."""


class ServerRefused(ServerFailed):
    """The server answered that it cannot do this; it goes on."""


class LanguageServer:
    """A server in one root. `run` keeps it in a task of its own; the rest waits for it.

    Attributes:
        name: Its program.
        ended: Set when it is gone.
        lock: Held by whoever shows it texts.
        was_used: It was asked for diagnostics before, or is not needed any more.

    Args:
        found: The program.
        root: The directory it works in.
        roots: All directories of the session.
        confine: Returns its sandbox.
    """

    def __init__(self, found: FoundServer, *, root: Path, roots: Sequence[Path], confine: Confine = unconfined) -> None:
        self.name = found.kind.name
        self.ended = anyio.Event()
        self.lock = anyio.Lock()
        self.was_used = False
        self._found = found
        self._root = root
        self._roots = roots
        self._confine = confine
        self._ready = anyio.Event()
        self._starting = anyio.CancelScope()
        self._stopping = anyio.Event()
        self._failure = ""
        self._used = 0.0
        self._versions = count(1)  # never used twice, so that nothing old passes for new
        self._open: dict[Path, int] = {}
        self._errors = OutputTail(limit=_STDERR)
        self._published = Published()
        self._requests_work = True
        self._nonsense = 0
        self._peer: Dispatcher | None = None

    @property
    def is_over(self) -> bool:
        """True if it has ended or ends now."""
        return self.ended.is_set() or self._stopping.is_set()

    # ------------------------------------------------------------------ its life

    async def run(self) -> None:
        """Start it and keep it until it is stopped, idle or lost."""
        try:
            await self._live()
        except (OSError, ValueError, ToolError, StoreError) as error:
            self._failure = f"it cannot be started: {error}"
        except Exception:  # the hook wall: whatever a server brings about ends no more than itself
            log.exception("language server broke", extra={"server": self.name})
            self._failure = "it made the agent stumble; the log has it"
        finally:
            self._failure = self._failure or self._last_words()
            self._ready.set()
            self.ended.set()

    async def stop(self) -> None:
        """End it, and wait until it is gone; `run` sees to the bounds."""
        self._stopping.set()
        self._starting.cancel()
        await self.ended.wait()

    async def _live(self) -> None:
        sandbox = await self._confine()
        inside: Mapping[str, str] = {} if sandbox is None else sandbox.env
        confinement = None if sandbox is None else sandbox.confine("us")
        try:
            await self._run_program(inside, confinement)
        finally:
            if confinement is not None:
                confinement.release()

    async def _run_program(self, inside: Mapping[str, str], confinement: Confinement | None) -> None:
        program = [str(self._found.program), *self._found.kind.arguments]
        environment = {**without_keys(current_environment()), **inside, "PATH": outer_path(self._roots)}
        await record_start("language server", name=self.name, program=program[0])
        child = await start_child(program, env=environment, cwd=self._root, stdin="pipe", sandbox=confinement)
        try:
            assert child.stdin is not None
            assert child.stdout is not None
            transport = HeaderTransport(child.stdout, child.stdin)
            self._peer = Dispatcher(transport, self, decode=self._decoded)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(child.drain_stderr, self._errors.add)
                tasks.start_soon(transport.write_queued)
                tasks.start_soon(self._serve, self._peer, transport)
                await self._work(self._peer, child, watched=None if confinement else os.getpid())
                tasks.cancel_scope.cancel()
        finally:
            await child.end(terminate=TERMINATE_SECONDS)

    async def _serve(self, peer: Dispatcher, transport: HeaderTransport) -> None:
        await peer.run()
        self._failure = self._failure or transport.broken
        self._published.close()
        self._stopping.set()

    async def _work(self, peer: Dispatcher, child: ChildProcess, *, watched: int | None) -> None:
        is_started = False
        with self._starting:
            is_started = await self._initialized(peer, watched=watched)
        if not is_started:
            return
        self._used = anyio.current_time()
        self._ready.set()
        while not self._stopping.is_set() and (left := self._used + IDLE_SECONDS - anyio.current_time()) > 0:
            with anyio.move_on_after(left):
                await self._stopping.wait()
        self.was_used = True  # nobody has to learn that it was not needed any more
        with anyio.move_on_after(POLITE_SECONDS):
            try:
                await peer.request("shutdown", {})
                await peer.notify("exit", {})
                await child.wait()
            except (RpcError, ConnectionClosed):
                pass  # then the signal ends it

    async def _initialized(self, peer: Dispatcher, *, watched: int | None) -> bool:
        """Return whether it has started. `watched` is our process, with which it ends; in a sandbox it sees none."""
        try:
            await peer.request("initialize", initialization(self._root, process=watched), within=START_SECONDS)
            await peer.notify("initialized", {})
        except TimeoutError:
            self._failure = f"it did not start within {START_SECONDS:g} s"
        except RpcError as error:
            self._failure = f"it refused to start: {error.message}"
        except ConnectionClosed:
            pass  # how it ended is told
        else:
            return True
        return False

    def _last_words(self) -> str:
        lines = [line for line in self._errors.text(ended=True).splitlines() if line.strip()]
        return f"it ended: {printable(lines[-1].strip())[:200]}" if lines else "it ended"

    # ------------------------------------------------------------------ what it asks and tells

    def _decoded(self, frame: Frame) -> Incoming | None:
        message = decode(frame) if isinstance(frame, bytes) else None
        if isinstance(message, Notification) and self.notification_handler(message.method) is None:
            return None  # logs and progress, in any shape
        if not isinstance(message, Malformed):
            return message
        self._nonsense += 1
        if self._nonsense == 1:
            log.warning("language server sent nonsense", extra={"server": self.name, "reason": message.reason})
        elif self._nonsense == MOST_NONSENSE and self._peer is not None:
            self._failure = "it sends nonsense"
            self._peer.hang_up()
        return None

    def request_handler(self, method: str) -> RequestHandler | None:
        """See `Router`."""
        kind, root = self._found.kind, self._root

        async def configure(_call: IncomingCall, params: JsonObject) -> JsonValue:
            return settings_for(params, kind.settings(root))

        async def acknowledge(_call: IncomingCall, _params: JsonObject) -> JsonValue:
            return None

        return configure if method == "workspace/configuration" else acknowledge if method in _ACKNOWLEDGED else None

    def notification_handler(self, method: str) -> NotificationHandler | None:
        """See `Router`."""
        return self._published.take if method == "textDocument/publishDiagnostics" else None

    def to_wire(self, error: Exception, method: str) -> RpcError:
        """See `Router`."""
        log.warning("request of a language server failed", exc_info=error, extra={"method": method})
        return RpcError(-32603, "internal error")

    # ------------------------------------------------------------------ questions

    async def diagnostics(
        self, texts: Mapping[Path, str], *, changed: Mapping[Path, bool], within: float
    ) -> Sequence[Problem]:
        """The problems in files, if they held these texts. The files stay open until `close_files`.

        Args:
            texts: The text of each file.
            changed: The files that others may have read before they changed on the disk; false: they are gone.
            within: Seconds, from when the server has started.

        Raises:
            ServerFailed: It did not answer.
        """

        async def look(peer: Dispatcher) -> Sequence[Problem]:
            await self._show(peer, texts)
            return [problem for path in texts for problem in await self._ask(peer, path, text=texts[path])]

        found = await self._answered(look, changed=changed, within=within)
        least = self._found.kind.least
        return [problem for problem in found if problem.severity == "error" or least == "warning"]

    async def ask(
        self,
        method: str,
        params: JsonObject,
        *,
        texts: Mapping[Path, str],
        changed: Mapping[Path, bool],
        within: float,
    ) -> JsonValue:
        """The answer to a request, if files held these texts. They stay open until `close_files`.

        Raises:
            ServerRefused: It answered with an error.
            ServerFailed: It did not answer.
        """

        async def request(peer: Dispatcher) -> JsonValue:
            await self._show(peer, texts)
            if len(texts) > 1:
                await self._read_through(peer, texts)
            return await self._asked(peer, method, params)

        return await self._answered(request, changed=changed, within=within)

    async def _read_through(self, peer: Dispatcher, texts: Iterable[Path]) -> None:
        """Have it read files that it was shown: some servers know uses only in those, once they have read them."""
        for path in texts:
            if self._found.kind.tells_what_it_read:
                await self._published.diagnostics(path, version=self._open[path])
                continue
            with suppress(RpcError):  # a file that it cannot read has no uses that it knows
                await self._asked(peer, "textDocument/documentSymbol", {"textDocument": {"uri": path.as_uri()}})

    async def _answered(
        self, work: Callable[[Dispatcher], Awaitable[_T]], *, changed: Mapping[Path, bool], within: float
    ) -> _T:
        self.was_used = True
        await self._ready.wait()
        peer = self._peer
        if self.is_over or peer is None:
            raise ServerFailed(self._failure)
        self._used = anyio.current_time()
        try:
            with anyio.fail_after(within):
                await peer.notify("workspace/didChangeWatchedFiles", {"changes": _changes(changed)})
                return await work(peer)
        except TimeoutError as error:
            raise ServerFailed(f"it did not answer within {within:g} s") from error
        except RpcError as error:
            raise ServerRefused(f"it answered with an error: {error.message}") from error
        except ConnectionClosed as error:
            await self.ended.wait()
            raise ServerFailed(self._failure) from error

    def close_files(self) -> None:
        """Have the server read files from the disk again."""
        opened, self._open = self._open, {}
        if self._peer is not None and not self.ended.is_set():
            for path in opened:
                self._peer.notify_nowait("textDocument/didClose", {"textDocument": {"uri": path.as_uri()}})

    async def _show(self, peer: Dispatcher, texts: Mapping[Path, str]) -> None:
        for path, text in texts.items():
            version = next(self._versions)
            document: JsonObject = {"uri": path.as_uri(), "version": version}
            self._published.expect(path)
            if path in self._open:
                change: JsonObject = {"textDocument": document, "contentChanges": [{"text": text}]}
                await peer.notify("textDocument/didChange", change)
            else:
                language = self._found.kind.languages[path.suffix]
                opened: JsonObject = {"textDocument": {**document, "languageId": language, "text": text}}
                await peer.notify("textDocument/didOpen", opened)
            self._open[path] = version

    async def _ask(self, peer: Dispatcher, path: Path, *, text: str) -> Sequence[Problem]:
        items: JsonValue = None
        if self._requests_work:
            try:
                items = await self._answer(peer, path)
            except RpcError as error:
                if error.code != METHOD_NOT_FOUND and self._found.kind.request == "pull":
                    raise
                self._requests_work = False
        if not self._requests_work:
            items = await self._published.diagnostics(path, version=self._open[path])
        return problems_of(items, path=path, text=text)

    async def _answer(self, peer: Dispatcher, path: Path) -> JsonValue:
        if self._found.kind.request == "tsserver":
            return await tsserver_items(peer, path)
        report = await self._asked(peer, "textDocument/diagnostic", {"textDocument": {"uri": path.as_uri()}})
        return report.get("items") if isinstance(report, Mapping) else None

    async def _asked(self, peer: Dispatcher, method: str, params: JsonObject) -> JsonValue:
        """The answer to a request, which is sent again when the content changed under its feet."""
        for attempt in count(1):
            try:
                return await peer.request(method, params)
            except RpcError as error:
                if error.code not in _CONTENT_MODIFIED or attempt == _ASKED_AGAIN:
                    raise
        raise AssertionError("unreachable")


def _changes(changed: Mapping[Path, bool]) -> JsonValue:
    """The events of changed files: 2 is changed, 3 deleted; servers look up whether a changed one is new."""
    return [{"uri": path.as_uri(), "type": 2 if exists else 3} for path, exists in changed.items()]
