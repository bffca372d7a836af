"""The connection to a session plugin: concurrent requests over the one JSON-RPC peer.

A plugin gets no protocol errors for its faults, as other peers do: many are tolerated, others fail the request.
"""

import logging
import re
import sys
from collections.abc import Mapping, Sized
from typing import cast

import anyio
from anyio.abc import ByteReceiveStream

from claw_acp.contracts.provider import TextChunk, ThoughtChunk
from claw_acp.contracts.provider_setup import BackgroundTasks, ProviderProgram
from claw_acp.core.errors import ProviderError
from claw_acp.core.json_value import JsonObject, JsonValue
from claw_acp.process.child_process import ChildProcess
from claw_acp.process.output_tail import OutputTail
from claw_acp.process.pipes import CHUNK, PipeReader
from claw_acp.providers.binary.call import Call, Piece
from claw_acp.providers.binary.child import DRAIN_SECONDS, STDERR_KEPT, start_plugin
from claw_acp.providers.binary.failures import Failures, again
from claw_acp.providers.binary.replies import Reply, Unreadable, read_object, read_reply
from claw_acp.providers.binary.request import request_line
from claw_acp.rpc.dispatcher import Dispatcher
from claw_acp.rpc.errors import RpcError
from claw_acp.rpc.framing import Frame, Oversized
from claw_acp.rpc.message import INTERNAL_ERROR, METHOD_NOT_FOUND, Request, RequestId, Response
from claw_acp.rpc.peer import IncomingCall, NotificationHandler, RequestHandler
from claw_acp.rpc.streams import StreamTransport

ANSWER_LIMIT = 32 * 1024 * 1024  # bytes of one line, and of all pieces of one answer
REFUSALS_LIMIT = 1024 * 1024  # bytes of unread refusals to a plugin that asks us things; more are dropped
CANCEL_SECONDS = 1.0  # for a plugin to stop work that nobody wants any more
DYING_SECONDS = 0.5  # from the end of its output to its own end; past that it is ended
RAW_KEPT = 4096  # bytes of an answer, for messages about it
SHUTDOWN_SECONDS = 2.0  # for a plugin to say goodbye and go
TERMINATE_SECONDS = 0.5  # from SIGTERM to SIGKILL

_ANSWER = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,18})\s*,\s*"(?:result|error)"')

log = logging.getLogger(__name__)


class Connection:
    """A running plugin and the requests to it. Created by `open_connection`.

    Attributes:
        lost: The reason there will be no more answers; None while there may be.
        crashed: Whether the plugin itself caused that.
        introduced: Whether it is known to speak the protocol; before that, unexpected output is tolerated.
    """

    def __init__(self, child: ChildProcess, *, failures: Failures) -> None:
        assert child.stdin is not None
        assert child.stdout is not None
        self.lost: ProviderError | None = None
        self.crashed = False
        self.introduced = False
        self._child = child
        self._failures = failures
        self._complaints = OutputTail(limit=STDERR_KEPT)
        self._calls: dict[int, Call] = {}
        self._output = child.stdout
        self._listening = OutputWhileAsked(child.stdout, self._calls)
        self._transport = StreamTransport(self._listening, child.stdin, limit=ANSWER_LIMIT)
        self._peer = Dispatcher(self._transport, _NoMethods(), decode=self._decode, overloaded_at=sys.maxsize)
        self._leaving = False
        self._over = anyio.Event()
        self._stray: dict[str, int] = {}

    async def run(self) -> None:
        """Read its output until its end, then fail pending requests. Never raises."""
        try:
            try:
                await self._listen()
            except Exception:
                self._lose(self._failures.not_heard())
                raise
            finally:
                await self.abandon()
        except Exception:  # the plugin wall: whatever we do wrong costs this plugin, and not the process
            log.exception("provider plugin not heard any more", extra={"provider": self._failures.name})
        finally:
            self._over.set()

    async def _listen(self) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._transport.write_queued)
            tasks.start_soon(self._child.drain_stderr, self._complaints.add)
            tasks.start_soon(self._hang_up_after_its_end)
            await self._peer.run()
            with anyio.move_on_after(DYING_SECONDS):
                await self._child.wait_for_output(within=DRAIN_SECONDS)
            tasks.cancel_scope.cancel()
        if self.lost is None:
            self._lose_crashed()

    async def _hang_up_after_its_end(self) -> None:
        """Close the output after its end, as a process that it started may hold it open."""
        await self._child.wait_for_output(within=DRAIN_SECONDS)
        self._peer.hang_up()

    async def is_usable(self) -> bool:
        """Return whether it accepts requests; one that ended since the last request does not."""
        if self.lost is None and (self._output.hung_up or self._child.exit_code is not None):
            self._listening.look()
            await self._over.wait()
        return self.lost is None and not self._leaving

    # ------------------------------------------------------------------ requests

    def call(self, method: str, params: JsonObject) -> Call:
        """Send a request, which must be followed by `wait` or `give_up`.

        Raises:
            ProviderError: The plugin is lost, or the request cannot be written as JSON.
        """
        if self.lost is not None:
            raise again(self.lost)
        if self._leaving:
            raise self._failures.closed()
        return self._send(method, params)

    def _send(self, method: str, params: JsonObject) -> Call:
        call = Call(
            self._peer.call(lambda number: request_line(method, params, request_id=number, failures=self._failures))
        )
        self._calls[call.id] = call
        self._listening.look()
        return call

    async def wait(self, call: Call) -> None:
        """Wait until a call has news."""
        while not call.has_news:
            await call.news.wait()
            call.news = anyio.Event()

    def answer(self, call: Call) -> Reply:
        """The answer to a settled call.

        Raises:
            ProviderError: There is none, or it is invalid.
        """
        if call.failure is not None:
            raise call.failure
        response = call.sent.response
        assert response is not None, "it is settled"
        assert isinstance(response.result, Mapping)
        try:
            return read_reply(response.result)
        except Unreadable as error:
            raise self._failures.invalid(str(error), raw=_start_of(call.raw)) from error

    async def give_up(self, call: Call) -> None:
        """Have the plugin cancel a call whose answer is not needed any more. Takes `CANCEL_SECONDS` at most.

        A plugin that does not cancel it is ended, once nothing else runs on it.
        """
        if call.id in self._calls and not self._transport.withdraw(call.sent.line):
            call.unwanted = True
            call.failure = None  # it is still under way there, whatever was wrong with it
            self._peer.cancel(call.sent)
            with anyio.move_on_after(CANCEL_SECONDS, shield=True):
                while not call.settled:
                    await self.wait(call)
                    call.take()
            call.stubborn = not call.settled
        if not call.stubborn:
            self._calls.pop(call.id, None)
            self._peer.forget(call.sent)
        calls = self._calls.values()
        if calls and all(call.stubborn for call in calls):
            log.warning("provider plugin does not stop, and is ended", extra={"provider": self._failures.name})
            await self.abandon()

    # ------------------------------------------------------------------ reading

    def _lose_crashed(self) -> None:
        code, said = self._child.exit_code, self._complaints.text(ended=True)
        self.crashed = True
        self._lose(self._failures.hung_up(said=said) if code is None else self._failures.left(code, said=said))

    def _lose(self, error: ProviderError) -> None:
        self.lost = error
        self._child.close()
        self._listening.look()
        extra = {
            "provider": self._failures.name,
            "pid": self._child.pid,
            "reason": error.message,
            "stray": sum(self._stray.values()),
        }
        log.info("provider plugin ended", extra=extra)
        for call in [*self._calls.values()]:
            call.fail(again(error))
        self._calls.clear()

    def _decode(self, frame: Frame) -> Request | Response | None:
        """A request or response for the peer; everything else is handled here."""
        if isinstance(frame, Oversized):
            return self._take_oversized(frame)
        try:
            message = read_object(frame)
        except Unreadable as error:
            return self._take_unreadable(frame, why=str(error))
        if "method" not in message:
            return self._take_reply(message, frame)
        if message.get("id") is not None:
            number = cast("RequestId", message["id"])  # it gets back whatever it is
            return Request(number, str(message["method"]), {}) if self._transport.backlog < REFUSALS_LIMIT else None
        if message["method"] == "chat/delta":
            self._take_delta(message.get("params"), frame)
        return None

    def _take_unreadable(self, frame: bytes, *, why: str) -> None:
        """Handle an unreadable frame: a response that names its request fails that call; others are only logged."""
        found = _ANSWER.match(frame)
        call = self._calls.pop(int(found[1]), None) if found else None
        if call is None:
            self._note_stray(why, frame)
        else:
            self._peer.forget(call.sent)
            call.fail(self._failures.invalid(why, raw=_start_of(frame)))

    def _take_oversized(self, frame: Oversized) -> None:
        call_id = frame.id_json or b""
        call = self._calls.pop(int(call_id), None) if frame.is_response and call_id.isdigit() else None
        if call is None:
            self._note_stray("a line too long", b"")
        else:
            self._peer.forget(call.sent)
            call.fail(self._failures.too_long(ANSWER_LIMIT))

    def _take_reply(self, message: JsonObject, frame: bytes) -> Response | None:
        call_id = message.get("id")
        if call_id is None and message.get("error") is not None and len(self._calls) == 1:
            (call_id,) = self._calls  # it could not even read our id, and only one can be meant
        call = self._calls.pop(call_id, None) if type(call_id) is int else None
        if call is None:
            self._note_stray("an answer to nothing", frame)
            return None
        call.raw = frame[:RAW_KEPT]
        call.news.set()
        return Response(call.id, message, None)

    def _take_delta(self, params: JsonValue, frame: bytes) -> None:
        delta = params if isinstance(params, dict) else {}
        call_id, text = delta.get("requestId"), delta.get("text")
        call = self._calls.get(call_id) if type(call_id) is int else None
        if call is None:
            self._note_stray("a piece of no answer", frame)
            return
        kind = _PIECES.get(str(delta.get("type")))
        if kind is None or call.unwanted or not isinstance(text, str) or not text:
            return  # calls of tools are taken from the result, which is whole
        call.heard += len(frame)
        if call.heard > ANSWER_LIMIT:
            call.fail(self._failures.too_long(ANSWER_LIMIT))
            return
        call.add(kind(text=text))
        call.news.set()

    def _note_stray(self, what: str, frame: bytes) -> None:
        """Log the first unexpected line of each kind; a program that writes one often writes thousands."""
        self._stray[what] = self._stray.get(what, 0) + 1
        shown = self._failures.clean(frame[:400].decode("utf-8", "replace"), limit=200)
        if self._stray[what] == 1:
            log.log(
                logging.WARNING if self.introduced else logging.INFO,
                "provider plugin said something strange",
                extra={"provider": self._failures.name, "what": what, "line": shown},
            )
        for call in [call for call in self._calls.values() if call.strict]:
            call.fail(self._failures.no_session(f"it wrote a line that is no answer ({what}): {shown}"))

    # ------------------------------------------------------------------ the end

    async def abandon(self) -> None:
        """Kill it at once; pending requests fail."""
        if self.lost is None:
            self._lose(self._failures.closed())
        await self._child.end(terminate=0)

    async def aclose(self) -> None:
        """Shut it down, and end it; pending requests fail. A cancelled call kills it at once."""
        if self.lost is not None or self._leaving:
            await self._over.wait()  # it may be killed and not reaped yet
            return
        self._leaving = True
        for call in self._calls.values():
            call.fail(self._failures.closed())
        self._calls.clear()
        until = anyio.current_time() + SHUTDOWN_SECONDS
        try:
            with anyio.CancelScope(deadline=until):
                await self.wait(self._send("shutdown", {}))
            await self._child.end(leave=max(0.0, until - anyio.current_time()), terminate=TERMINATE_SECONDS)
        finally:
            self.lost = self.lost or self._failures.closed()
            self._child.close()


async def open_connection(program: ProviderProgram, *, tasks: BackgroundTasks, failures: Failures) -> Connection:
    """Start a plugin and read its output, in a task of `tasks`, until it ends or the connection is closed.

    Raises:
        PluginNotStarted: The system refuses.
    """
    connection = Connection(await start_plugin(program, failures=failures), failures=failures)
    tasks.start_soon(connection.run)
    return connection


class _NoMethods:
    """The routes of a host without methods."""

    def request_handler(self, method: str) -> RequestHandler | None:  # noqa: ARG002
        return _refuse

    def notification_handler(self, method: str) -> NotificationHandler | None:  # noqa: ARG002
        return None

    def to_wire(self, error: Exception, method: str) -> RpcError:
        if isinstance(error, RpcError):
            return error
        log.error("provider plugin not heard", exc_info=error, extra={"method": method})
        return RpcError(INTERNAL_ERROR, "internal error")


async def _refuse(_call: IncomingCall, _params: JsonObject) -> JsonValue:
    raise RpcError(METHOD_NOT_FOUND, "this host offers no methods")


def _start_of(frame: bytes) -> str:
    return frame[:RAW_KEPT].decode("utf-8", "replace")


_PIECES: dict[str, type[Piece]] = {"text": TextChunk, "thought": ThoughtChunk}


class OutputWhileAsked(ByteReceiveStream):
    """The output of a plugin, read only while a request is pending: anything else it prints waits in its pipe.

    Args:
        output: The pipe.
        calls: The pending requests.
    """

    def __init__(self, output: PipeReader, calls: Sized) -> None:
        self._output = output
        self._calls = calls
        self._asked = anyio.Event()

    def look(self) -> None:
        """Check again whether to read: a request may have begun, or the output may be over."""
        self._asked.set()

    async def receive(self, max_bytes: int = CHUNK) -> bytes:
        """The next bytes, once a request is pending; see `PipeReader.receive`."""
        while not (self._calls or self._output.hung_up):
            self._asked = anyio.Event()
            await self._asked.wait()
        return await self._output.receive(max_bytes)

    async def aclose(self) -> None:
        """Close the pipe."""
        await self._output.aclose()
